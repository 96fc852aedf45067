"""Hostile traffic for ``warpwatt serve``: bytes on sockets that no browser or client would send."""

from __future__ import annotations

import gzip
import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

GOOD = json.dumps(
    {
        "source": "// warpwatt: --grid 64 --block 64 --arg p=i32[64]\n__global__ void f(int *p) { p[threadIdx.x] = 1; }\n"
    }
)


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is sent and what came of it: ``run`` returns the outcome in words, and whether it is as wanted."""

    group: str
    name: str
    run: Callable[[str, int], tuple[str, bool]]


def exchange(host: str, port: int, data: bytes | Iterable[bytes], *, wait: float = 20.0) -> bytes:
    """Send bytes on a connection of their own and return all that comes back."""
    with socket.create_connection((host, port), timeout=wait) as connection:
        with suppress(OSError):
            for part in [data] if isinstance(data, bytes) else data:
                connection.sendall(part)
        received = b""
        with suppress(OSError):
            while chunk := connection.recv(65536):
                received += chunk
                if complete(received):
                    break
    return received


def complete(received: bytes) -> bool:
    """Whether an answer has arrived whole."""
    head, gap, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    return bool(gap and length and len(body) >= int(length[1]))


def status(received: bytes) -> int:
    """Return the status of an answer, 0 where there is none."""
    found = re.match(rb"HTTP/1\.[01] (\d{3})", received)
    return int(found[1]) if found else 0


def post(port: int, body: bytes, *headers: str, path: str = "/api/v1/predict", host: str = "") -> bytes:
    """Return the bytes of a POST; headers given replace the usual ones."""
    usual = {
        "host": host or f"localhost:{port}",
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
    }
    for header in headers:
        name, _, value = header.partition(":")
        usual.pop(name.lower(), None)
        if value:
            usual[name] = value.strip()
    head = "".join(f"{name}: {value}\r\n" for name, value in usual.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def get(port: int, path: str, *, host: str = "", more: str = "") -> bytes:
    """Return the bytes of a GET."""
    return f"GET {path} HTTP/1.1\r\nhost: {host or f'localhost:{port}'}\r\nconnection: close\r\n{more}\r\n".encode(
        "latin-1"
    )


def _answered(name: str, group: str, make: Callable[[int], bytes | Iterable[bytes]], *wanted: int) -> Traffic:
    def run(host: str, port: int) -> tuple[str, bool]:
        answer = exchange(host, port, make(port))
        code = status(answer)
        kind = re.search(rb'"type":\s*"urn:warpwatt:problem:([a-z-]+)"', answer)
        return f"{code or 'connection closed'}{f' {kind[1].decode()}' if kind else ''}", code in wanted

    return Traffic(group, name, run)


def _bomb(_: int) -> bytes:
    return gzip.compress(b"[" + b" " * 200_000_000 + b"]", 9)


def _head(port: int, length: int) -> bytes:
    return post(port, b"", f"content-length: {length}")


def requests() -> list[Traffic]:
    """Return single requests, each with the statuses that are right for it."""
    deep = b"[" * 500_000 + b"]" * 500_000
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    hundred = 100 * 2**20
    items: list[tuple[str, str, Callable[[int], bytes | Iterable[bytes]], tuple[int, ...]]] = [
        ("size", "100 MB body", lambda p: (_head(p, hundred), *(b"x" * 2**20 for _ in range(100))), (413, 0)),
        (
            "size",
            "100 MB body in chunks, length not said",
            lambda p: (
                post(p, b"", "content-length", "transfer-encoding: chunked"),
                *(chunk for _ in range(1600)),
                b"0\r\n\r\n",
            ),
            (413, 0),
        ),
        ("size", "length of 10^30", lambda p: _head(p, 10**30), (400, 413, 0)),
        ("size", "negative length", lambda p: _head(p, -1), (400,)),
        ("size", "gzip bomb of 200 MB", lambda p: post(p, _bomb(p), "content-encoding: gzip"), (415,)),
        ("size", "deflate", lambda p: post(p, b"x", "content-encoding: deflate"), (415,)),
        (
            "size",
            "header of 1 MB",
            lambda p: get(p, "/healthz", more=f"x-a: {'a' * 2**20}\r\n"),
            (400, 431, 0),
        ),
        (
            "size",
            "20,000 headers",
            lambda p: get(p, "/healthz", more="a: b\r\n" * 10_000),
            (200, 400, 431, 0),
        ),
        ("size", "path of 1 MB", lambda p: get(p, "/" + "a" * 2**20), (400, 414, 0)),
        ("JSON", "not JSON", lambda p: post(p, b"{'source': 1}"), (400,)),
        ("JSON", "not UTF-8", lambda p: post(p, b'{"source": "\xff\xfe"}'), (400,)),
        ("JSON", "half a character", lambda p: post(p, b'{"source": "\\ud800"}'), (400,)),
        ("JSON", "500,000 levels", lambda p: post(p, deep), (400,)),
        (
            "JSON",
            "number of 900,000 digits",
            lambda p: post(p, b'{"source": ' + b"9" * 900_000 + b"}"),
            (400, 422),
        ),
        ("JSON", "NaN", lambda p: post(p, b'{"source": NaN}'), (400,)),
        (
            "JSON",
            "70,000 unknown fields",
            lambda p: post(p, json.dumps({str(i): 0 for i in range(70_000)}).encode()),
            (422,),
        ),
        (
            "JSON",
            "a control character in the source",
            lambda p: post(
                p,
                json.dumps(
                    {"source": "__global__ void f() {}\0", "launch": {"grid": 1, "block": 1}}
                ).encode(),
            ),
            (422,),
        ),
        ("JSON", "empty body", lambda p: post(p, b""), (400,)),
        (
            "forgery",
            "form of another page",
            lambda p: post(p, GOOD.encode(), "content-type: text/plain", "origin: http://evil.example"),
            (403,),
        ),
        (
            "forgery",
            "form without an origin",
            lambda p: post(p, GOOD.encode(), "content-type: application/x-www-form-urlencoded"),
            (415,),
        ),
        (
            "forgery",
            "script of another page",
            lambda p: post(p, GOOD.encode(), "origin: http://evil.example"),
            (403,),
        ),
        (
            "forgery",
            "page without an origin (`null`)",
            lambda p: post(p, GOOD.encode(), "origin: null"),
            (403,),
        ),
        (
            "forgery",
            "page on another port",
            lambda p: post(p, GOOD.encode(), f"origin: http://localhost:{p + 1}"),
            (403,),
        ),
        (
            "forgery",
            "cross-site by the browser's word",
            lambda p: post(p, GOOD.encode(), "sec-fetch-site: cross-site"),
            (403,),
        ),
        (
            "forgery",
            "question before a foreign request (CORS)",
            lambda p: post(p, b"", "origin: http://evil.example").replace(b"POST", b"OPTIONS", 1),
            (405,),
        ),
        (
            "rebinding",
            "another name points here",
            lambda p: get(p, "/healthz", host=f"evil.example:{p}"),
            (421,),
        ),
        (
            "rebinding",
            "another name, POST",
            lambda p: post(p, GOOD.encode(), host=f"evil.example:{p}"),
            (421,),
        ),
        (
            "rebinding",
            "right name, wrong port",
            lambda p: get(p, "/healthz", host=f"localhost:{p + 1}"),
            (421,),
        ),
        (
            "rebinding",
            "two Host headers",
            lambda p: get(p, "/healthz", more="host: evil.example\r\n"),
            (400, 421),
        ),
        (
            "rebinding",
            "no Host header",
            lambda _: b"GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n",
            (400,),
        ),
        ("rebinding", "HTTP/1.0 without Host", lambda _: b"GET /healthz HTTP/1.0\r\n\r\n", (421,)),
        (
            "rebinding",
            "X-Forwarded-Host",
            lambda p: get(
                p, "/healthz", host=f"evil.example:{p}", more=f"x-forwarded-host: localhost:{p}\r\n"
            ),
            (421,),
        ),
        ("injection", "line break in the path", lambda p: get(p, "/%0d%0aset-cookie:%20a=b"), (404,)),
        (
            "injection",
            "bare line feed in a header",
            lambda p: get(p, "/healthz", more="x-a: b\nset-cookie: a=b\r\n"),
            (200, 400),
        ),
        (
            "injection",
            "line break in a report's name",
            lambda p: get(p, "/api/v1/reports/a%0d%0ax:%20y"),
            (404,),
        ),
        (
            "injection",
            "length and chunks (smuggling)",
            lambda p: post(
                p,
                b"0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
                "transfer-encoding: chunked",
                "content-length: 4",
            ),
            (400,),
        ),
        ("injection", "two lengths", lambda p: post(p, GOOD.encode(), "Content-length: 1"), (400, 0)),
        ("injection", "not HTTP", lambda _: b"\x16\x03\x01\x02\x00\x01\x00\x01" * 100, (400, 0)),
        (
            "injection",
            "method of 5,000 letters",
            lambda p: get(p, "/healthz").replace(b"GET", b"A" * 5000, 1),
            (400, 405),
        ),
        (
            "injection",
            "WebSocket",
            lambda p: get(p, "/healthz", more="upgrade: websocket\r\nconnection: upgrade\r\n"),
            (200, 400),
        ),
        (
            "injection",
            "HTTP/2 at once",
            lambda _: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9),
            (400, 404, 405, 421, 0),
        ),
        ("injection", "TRACE", lambda p: get(p, "/healthz").replace(b"GET", b"TRACE", 1), (404, 405)),
        (
            "injection",
            "CONNECT",
            lambda p: get(p, "localhost:22").replace(b"GET", b"CONNECT", 1),
            (400, 404, 405, 421, 0),
        ),
        (
            "injection",
            "another host by the request line",
            lambda p: get(p, "http://example.org/healthz"),
            (400, 404, 421),
        ),
        (
            "injection",
            "a chunk of negative length",
            lambda p: post(p, b"-5\r\nxxxxx\r\n0\r\n\r\n", "content-length:", "transfer-encoding: chunked"),
            (400, 0),
        ),
        (
            "injection",
            "a chunk of 2^64",
            lambda p: post(p, b"ffffffffffffffff\r\nx", "content-length:", "transfer-encoding: chunked"),
            (400, 408, 413, 0),
        ),
        (
            "size",
            "20,000 headers",
            lambda p: get(p, "/healthz", more="x: y\r\n" * 20_000),
            (200, 400, 413, 431, 0),
        ),
        (
            "size",
            "ranges of a page",
            lambda p: get(p, "/page.css", more="range: bytes=" + ",".join(["0-"] * 2000) + "\r\n"),
            (200, 206, 400, 404, 416),
        ),
        (
            "JSON",
            "a million fields",
            lambda p: post(p, b"{" + b",".join(b'"k%d":1' % k for k in range(60_000)) + b"}"),
            (400, 413, 422),
        ),
        ("JSON", "one field twice", lambda p: post(p, b'{"source": "x", "source": 1}'), (400, 422)),
    ]
    found = [_answered(name, group, make, *wanted) for group, name, make, wanted in items]
    return found + [_answered(f"`{path}`", "traversal", partial(get, path=path), 404, 400) for path in PATHS]


PATHS = (
    "/../../../../etc/passwd",
    "/page.css/../../../../../etc/passwd",
    "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/%252e%252e%252fetc%252fpasswd",
    "//etc/passwd",
    "/..\\..\\windows\\win.ini",
    "/page.html%00.js",
    "/api/v1/reports/../../../etc/passwd",
    "/api/v1/reports/%2e%2e%2f%2e%2e%2fpage.py",
    "/static/../app.py",
    "/.git/config",
)


# -- many and slow ------------------------------------------------------------------------------------


def crowd(host: str, port: int, clients: int = 200) -> tuple[str, bool]:
    """Let many clients ask for different predictions at once; all must be answered, with a result or a 503."""

    def ask(number: int) -> int:
        body = json.dumps({**json.loads(GOOD), "clock": str(1000 + number), "advice": False}).encode()
        return status(exchange(host, port, post(port, body), wait=120))

    with ThreadPoolExecutor(clients) as pool:
        codes = list(pool.map(ask, range(clients)))
    counts = {code: codes.count(code) for code in sorted(set(codes))}
    said = ", ".join(f"{number} × {code or 'no answer'}" for code, number in counts.items())
    return said, set(counts) <= {200, 503} and counts.get(200, 0) > 0


def slow_heads(host: str, port: int, clients: int = 100, seconds: float = 40.0) -> tuple[str, bool]:
    """Open connections that send a header's letter now and then; all must be closed by the server."""
    return _dripped(host, port, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-a: ", clients, seconds)


def slow_bodies(host: str, port: int, clients: int = 100, seconds: float = 40.0) -> tuple[str, bool]:
    """Open connections that send a body's letter now and then; all must be closed by the server."""
    return _dripped(host, port, post(port, b"", "content-length: 1000"), clients, seconds)


def silent(host: str, port: int, clients: int = 100, seconds: float = 40.0) -> tuple[str, bool]:
    """Open connections that send nothing."""
    return _dripped(host, port, b"", clients, seconds)


def _dripped(host: str, port: int, start: bytes, clients: int, seconds: float) -> tuple[str, bool]:
    began = time.monotonic()
    open_ = []
    for _ in range(clients):
        connection = socket.create_connection((host, port), timeout=5)
        connection.sendall(start)
        connection.settimeout(0.01)
        open_.append(connection)
    last = 0.0
    while open_ and time.monotonic() - began < seconds:
        for connection in list(open_):
            if _closed(connection, drip=bool(start)):
                connection.close()
                open_.remove(connection)
                last = time.monotonic() - began
        time.sleep(0.5)
    left = len(open_)
    for connection in open_:
        connection.close()
    return f"{clients - left} of {clients} closed by the server, the last after {last:.0f} s", left == 0


def _closed(connection: socket.socket, *, drip: bool) -> bool:
    try:
        if drip:
            connection.sendall(b"a")
        while chunk := connection.recv(4096):
            if status(chunk):
                return True
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def unread(host: str, port: int, clients: int = 50) -> tuple[str, bool]:
    """Ask for pages and never read them; the server must go on."""
    open_ = []
    for _ in range(clients):
        connection = socket.create_connection((host, port), timeout=5)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.sendall(
            get(port, "/api/v1/gpus").replace(b"connection: close", b"connection: keep-alive") * 20
        )
        open_.append(connection)
    time.sleep(5)
    answer = status(exchange(host, port, get(port, "/healthz")))
    for connection in open_:
        connection.close()
    return f"others are answered with {answer}", answer == 200


def leavers(host: str, port: int, clients: int = 20) -> tuple[str, bool]:
    """Ask for long work and leave; the workers must be free again soon."""
    loop = "__global__ void f(int *p) { int s = p[0]; for (long i = 0; i < 1000000000000l; ++i) s = s * 3 + p[i & 63]; p[0] = s; }"
    body = json.dumps({"source": loop, "launch": {"grid": 1, "block": 32, "args": {"p": "i32[64]"}}}).encode()
    for _ in range(clients):
        with socket.create_connection((host, port), timeout=5) as connection:
            connection.sendall(post(port, body))
    time.sleep(3)
    found = json.loads(exchange(host, port, get(port, "/healthz")).partition(b"\r\n\r\n")[2])
    return f"{found['running']} running and {found['waiting']} waiting three seconds later", found[
        "running"
    ] + found["waiting"] == 0


def crowds() -> list[Traffic]:
    """Return what many clients do at once."""
    return [
        Traffic("crowd", "200 clients at once", crowd),
        Traffic("crowd", "20 clients that leave before the answer", leavers),
        Traffic("slow", "100 clients send a head by drops", slow_heads),
        Traffic("slow", "100 clients send a body by drops", slow_bodies),
        Traffic("slow", "100 clients send nothing", silent),
        Traffic("slow", "50 clients do not read", unread),
    ]
