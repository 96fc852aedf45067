"""Predictions come before their advice and report, to who asks for them in pieces."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import warpwatt.server.web
from tests.server.web.test_api import STRIDED, post
from warpwatt.server.web.openapi import document
from warpwatt.server.web.pieces import PIECES, in_pieces, preferred
from warpwatt.server.web.problems import Problem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx
    from starlette.responses import Response

BODY = {"source": STRIDED, "gpus": ["h200"], "launch": {"block": "128"}}
"""A kernel to which there is advice, a launch that no other test asks for."""


def asked(client: httpx.Client, body: dict[str, Any], path: str = "predict") -> httpx.Response:
    return client.post(f"/api/v1/{path}", json=body, headers={"accept": PIECES})


def read(text: str) -> list[dict[str, Any]]:
    return [json.loads(piece) for piece in text.split("\x1e") if piece.strip()]


@pytest.mark.toolchain
def test_predictions_come_first_and_again_with_advice_and_a_report(client: httpx.Client) -> None:
    answer = asked(client, BODY)
    assert answer.headers["content-type"] == PIECES
    assert PIECES in document()["paths"]["/api/v1/predict"]["post"]["responses"]["200"]["content"]
    first, last = read(answer.text)
    assert set(first) == {"document"}
    (before,), (after,) = (piece["document"]["predictions"] for piece in (first, last))
    assert after["advice"]
    assert not before["advice"]
    later = ("advice", "explanation")  # which names the advice
    assert before | {name: after[name] for name in later} == after
    assert "NVIDIA H200" in client.get(last["report"]).text
    assert post(client, "predict", BODY).json() == last["document"]


@pytest.mark.toolchain
def test_what_is_known_or_compared_comes_in_one_piece(client: httpx.Client) -> None:
    (known,) = read(asked(client, BODY).text)[-1:]
    assert [piece["document"] for piece in read(asked(client, BODY).text)] == [known["document"]]
    sides = {side: {"source": STRIDED} for side in ("before", "after")}
    (compared,) = read(asked(client, {**sides, "gpus": ["h200"], "advice": False}, "compare").text)
    assert compared["document"]["changes"][0]["time"]["ratio"] == 1.0


@pytest.mark.toolchain
def test_a_refusal_before_anything_is_known_is_one_of_the_request(client: httpx.Client) -> None:
    answer = asked(client, BODY | {"source": STRIDED + "?"})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


def body_of(response: Response) -> AsyncIterator[Any]:
    made: AsyncIterator[Any] = response.body_iterator  # type: ignore[attr-defined]  # of a streaming one
    return made


def test_trouble_behind_the_first_piece_is_the_last_one() -> None:
    async def work() -> list[dict[str, Any]]:
        async def done(tell: Any) -> dict[str, Any]:
            tell({"document": '{"predictions": []}'})
            await asyncio.sleep(0)
            raise Problem(422, "limit", "too long", "send less")

        response = await in_pieces(done, str)
        return read(b"".join([piece async for piece in body_of(response)]).decode())

    first, last = asyncio.run(work())
    assert first == {"document": {"predictions": []}}
    assert last["problem"]["detail"] == "too long"


@pytest.mark.parametrize("told", [True, False])
def test_who_goes_away_ends_the_work(told: bool) -> None:
    async def work() -> bool:
        ended = asyncio.Event()

        async def done(tell: Any) -> dict[str, Any]:
            if told:
                tell({"document": "{}"})
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()
            return {}

        async def reading() -> None:
            async for _ in body_of(await in_pieces(done, str)):
                pass

        reader = asyncio.ensure_future(reading())
        await asyncio.sleep(0.05)
        reader.cancel()
        await asyncio.wait_for(ended.wait(), 5)
        return reader.cancelled() or bool(await asyncio.wait({reader}))

    assert asyncio.run(work())


def test_the_first_known_kind_is_preferred() -> None:
    assert preferred(f"image/png, {PIECES};q=0.9, text/html") == PIECES
    assert preferred("") == "application/json"


SCRIPT = """
import { pieces } from "./pieces.mjs";
let more;
const bytes = new TextEncoder();
const sent = new ReadableStream({ start(control) { more = control; } });
const seen = [];
const reading = (async () => { for await (const piece of pieces(sent)) seen.push(piece); })();
const pause = () => new Promise((go) => setTimeout(go, 20));
for (const text of ["\\u001e{\\"a\\":", " 1}\\n\\u001e", "\\u001e{\\"b\\": \\"µ", "\\"}\\n\\u001e"]) {
  const parts = bytes.encode(text);
  for (const part of text.includes("µ") ? [parts.slice(0, -1), parts.slice(-1)] : [parts]) more.enqueue(part);
  await pause();
  console.log(JSON.stringify(seen));
}
more.close();
await reading;
console.log(JSON.stringify(seen));
"""


def test_the_page_reads_each_piece_as_soon_as_it_is_there(tmp_path: Path) -> None:
    """Whatever the network cuts, a character in two."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("NO NODE: how the page reads answers in pieces is not tested")
    static = Path(warpwatt.server.web.__file__).parent / "static"
    shutil.copy(static / "pieces.js", tmp_path / "pieces.mjs")
    (tmp_path / "test.mjs").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [node, "test.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    one, both = [{"a": 1}], [{"a": 1}, {"b": "µ"}]
    assert [json.loads(line) for line in done.stdout.splitlines()] == [[], one, one, both, both]
