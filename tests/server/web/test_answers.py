"""The same request again is answered from memory, a refused one is not."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from warpwatt.server.web.app import create_app
from warpwatt.server.web.settings import Settings
from warpwatt.workers.pool import Early, Pool, RefusedError

REFUSED = {"kind": "InputError", "message": "no", "hint": "", "file": None, "line": None, "details": []}


class Counting(Pool):
    """Stands in for workers: counts what they are asked, answers with the source, refuses ``bad``."""

    asked: list[Any] = []  # noqa: RUF012 - emptied by each test

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass

    async def run(self, task: str, request: dict[str, Any], _: Early | None = None) -> dict[str, Any]:
        self.asked.append(task)
        if request["source"] == "bad":
            raise RefusedError(REFUSED | {"exit_code": 1})
        return {"document": f'"{request["source"]}"', "report": f"<p>{request['source']}"}


@pytest.fixture
def ask():
    """Return a function that posts bodies to one server, one after the other."""
    Counting.asked.clear()
    settings = Settings()
    app = create_app(settings, Counting("", "json"))

    def ask(*bodies: dict[str, Any]) -> list[httpx.Response]:
        async def posted() -> list[httpx.Response]:
            url = f"http://localhost:{settings.port}"
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=url) as client:
                return [await client.post("/api/v1/predict", json=body) for body in bodies]

        return asyncio.run(posted())

    return ask


def test_the_same_request_is_worked_on_once(ask):
    first, again = ask({"source": "a"}, {"source": "a"})
    assert first.json() == again.json() == "a"
    assert again.links["alternate"]["url"]
    assert Counting.asked == ["predict"]


def test_any_other_request_is_worked_on(ask):
    answers = ask({"source": "a"}, {"source": "b"}, {"source": "a", "gpus": ["t4"]})
    assert [answer.json() for answer in answers] == ["a", "b", "a"]
    assert len(Counting.asked) == 3


def test_a_refusal_is_not_kept(ask):
    assert [answer.status_code for answer in ask({"source": "bad"}, {"source": "bad"})] == [422, 422]
    assert len(Counting.asked) == 2
