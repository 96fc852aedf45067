"""Foreign pages, foreign names, slow and large requests; paths that lead out."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request
from validation.server.attack_traffic import exchange, requests, status

from tests.workers.test_pool import awaited
from warpwatt.commands.main import main
from warpwatt.server.web.problems import Problem
from warpwatt.server.web.settings import Settings
from warpwatt.server.web.wire import read

SKIPPED = ("100 MB body in chunks, length not said", "gzip bomb of 200 MB")
"""Left to ``python -m validation.server.attacks``: they take seconds."""


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


@pytest.mark.parametrize("attack", [a for a in requests() if a.name not in SKIPPED], ids=lambda a: a.name)
def test_hostile_requests(url, attack):
    outcome, held = attack.run("127.0.0.1", port_of(url))
    assert held, outcome


def test_a_body_by_drops_is_not_waited_for():
    async def drops() -> dict[str, object]:
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b" ", "more_body": True}

    request = Request({"type": "http", "headers": [(b"content-type", b"application/json")]}, drops)
    with pytest.raises(Problem) as problem:
        awaited(read(request, "PredictRequest", Settings(body_seconds=0.2)))
    assert problem.value.status == 408


def test_answers_carry_what_browsers_need_to_be_safe(client):
    for path, policy in (("/", "script-src 'self'"), ("/healthz", "default-src 'none'")):
        headers = client.get(path).headers
        assert policy in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_own_pages_and_programs_pass(client, url):
    for headers in (
        {},
        {"origin": url},
        {"sec-fetch-site": "same-origin"},
        {"origin": url.replace("127.0.0.1", "localhost")},
    ):
        assert client.post("/api/v1/kernels", json={}, headers=headers).status_code == 422, headers


def test_pages_refer_to_nothing_outside(client):
    for path in ("/", "/page.css", "/page.js", "/pieces.js", "/editor.js", "/launch.js", "/results.js"):
        text = client.get(path).text
        assert "http" not in text.replace("http://www.w3.org/", ""), path
        assert "innerHTML" not in text, path


def test_hosts_of_an_open_server_are_named():
    settings = Settings("0.0.0.0", 80, ("warp.example",))
    assert settings.hosts == {"0.0.0.0", "0.0.0.0:80", "warp.example"}
    proxied = Settings("127.0.0.1", 8000, ("warp.example:8443",))
    assert "warp.example:8443" in proxied.hosts
    assert "https://warp.example:8443" in proxied.origins


def test_the_verb_refuses_other_machines(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["warpwatt", "serve", "--host", "0.0.0.0"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "--allow-remote" in capsys.readouterr().err


def test_a_taken_port_is_an_error_with_a_fix(url, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["warpwatt", "serve", "--port", str(port_of(url))])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "--port" in capsys.readouterr().err


def test_a_pipelined_request_is_answered(url):
    request = b"GET /healthz HTTP/1.1\r\nhost: localhost:%d\r\n\r\n" % port_of(url)
    assert status(exchange("127.0.0.1", port_of(url), request * 3)) == 200
