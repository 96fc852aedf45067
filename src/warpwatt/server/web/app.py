"""The application: pages, the JSON API, and what is said when something goes wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from warpwatt.core.version import __version__
from warpwatt.server.tasks import PRELOAD, TASKS
from warpwatt.server.web import listings
from warpwatt.server.web.answers import Answers
from warpwatt.server.web.guard import Guard
from warpwatt.server.web.openapi import API, document
from warpwatt.server.web.pieces import PIECES, in_pieces, preferred
from warpwatt.server.web.problems import Problem, of_error, of_status
from warpwatt.server.web.reports import Reports
from warpwatt.server.web.walls import with_banner
from warpwatt.server.web.wire import read
from warpwatt.workers.child import described
from warpwatt.workers.confinement import missing_walls
from warpwatt.workers.pool import BusyError, CrashError, LimitError, Pool, RefusedError

if TYPE_CHECKING:
    from starlette.requests import Request

    from warpwatt.server.web.settings import Settings
    from warpwatt.workers.pool import Early

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-modals; connect-src 'none'; frame-ancestors 'self'"
)
"""A report is untrusted by this server's own pages: an origin of its own, and no requests."""
STATIC = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/editor.js": ("editor.js", "text/javascript"),
    "/colours.js": ("colours.js", "text/javascript"),
    "/permalink.js": ("permalink.js", "text/javascript"),
    "/pieces.js": ("pieces.js", "text/javascript"),
    "/api": ("api.html", "text/html"),
    "/launch.js": ("launch.js", "text/javascript"),
    "/results.js": ("results.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
"""Every file that is served, by its path: nothing else can be asked for."""
RETRY_SECONDS = 2


def create_app(settings: Settings, pool: Pool | None = None) -> Starlette:
    """Return the application; ``pool`` is started and stopped with it."""
    workers = pool or Pool(TASKS, PRELOAD, settings.limits, settings.workers, settings.queue)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await workers.start()
        yield
        await workers.stop()

    app = Starlette(routes=_routes(), lifespan=lifespan)
    app.state.settings, app.state.pool, app.state.reports = settings, workers, Reports()
    app.state.answers = Answers()
    app.state.missing_walls = missing_walls()
    app.add_middleware(Guard, settings=settings)
    app.add_exception_handler(Problem, _say_problem)
    app.add_exception_handler(HTTPException, _say_status)
    app.add_exception_handler(Exception, _say_fault)
    return app


def _routes() -> list[Route]:
    return [
        *(Route(path, _static(file, kind)) for path, (file, kind) in STATIC.items()),
        Route(f"{API}/kernels", _kernels, methods=["POST"]),
        Route(f"{API}/predict", _answering("predict"), methods=["POST"]),
        Route(f"{API}/compare", _answering("compare"), methods=["POST"]),
        Route(f"{API}/reports/{{name}}", _report),
        Route(f"{API}/gpus", _listed(listings.gpus)),
        Route(f"{API}/models", _listed(listings.models)),
        Route(f"{API}/examples", _listed(listings.examples)),
        Route(f"{API}/openapi.json", _listed(document)),
        Route("/healthz", _health),
    ]


# -- work ---------------------------------------------------------------------------------------------


async def _kernels(request: Request) -> Response:
    body = await read(request, "KernelsRequest", request.app.state.settings)
    return _json(await _done(request, "kernels", body))


def _answering(task: str) -> Callable[[Request], Any]:
    """Return the endpoint of a task whose answer is a document and a report."""
    schema = f"{task.capitalize()}Request"

    async def answer(request: Request) -> Response:
        body = await read(request, schema, request.app.state.settings)
        kind = preferred(request.headers.get("accept", ""))
        if kind == PIECES:
            return await in_pieces(partial(_done, request, task, body), partial(_kept_report, request))
        made = await _done(request, task, body)
        if kind == "text/html":
            return _page(request, made["report"].encode())
        link = f'<{_kept_report(request, made["report"])}>; rel="alternate"; type="text/html"'
        return Response(made["document"], media_type="application/json", headers={"link": link})

    return answer


def _kept_report(request: Request, report: str) -> str:
    """Keep a report; return its address."""
    return f"{API}/reports/{request.app.state.reports.put(report.encode())}"


async def _done(
    request: Request, task: str, body: dict[str, Any], early: Early | None = None
) -> dict[str, Any]:
    """Return a worker's answer, or the one that was given before; its work ends when the client goes away.

    ``early`` hears what the worker knows before.
    """
    answers: Answers = request.app.state.answers
    if (known := answers.get(task, body)) is not None:
        return known
    work = asyncio.ensure_future(request.app.state.pool.run(task, body, early))
    work.add_done_callback(
        lambda ended: ended.cancelled() or ended.exception()
    )  # heard, even if nobody waits
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise Problem(499, "client-gone", "the client has gone")
        found: dict[str, Any] = work.result()
    except asyncio.CancelledError:
        raise Problem(503, "ending", "the server is ending", "start it again") from None
    except BusyError:
        raise Problem(
            503,
            "busy",
            "every worker is busy",
            "try again in a moment",
            headers={"retry-after": str(RETRY_SECONDS)},
        ) from None
    except LimitError as error:
        raise of_error(described(error)) from None
    except RefusedError as error:
        raise of_error(error.fields) from None
    except CrashError:
        raise Problem(500, "fault", "the work on this request failed", "the server's log says how") from None
    finally:
        work.cancel()
        gone.cancel()
    answers.put(task, body, found)
    return found


async def _gone(request: Request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# -- pages --------------------------------------------------------------------------------------------


async def _report(request: Request) -> Response:
    page = request.app.state.reports.get(request.path_params["name"])
    if page is None:
        raise Problem(404, "not-found", "no such report, or no longer", "predict again")
    return _page(request, page)


def _page(request: Request, page: bytes) -> Response:
    page = with_banner(page, request.app.state.missing_walls)
    return Response(page, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})


def _static(file: str, kind: str) -> Callable[[Request], Any]:
    content = resources.files("warpwatt.server.web").joinpath("static", file).read_bytes()
    headers = {"content-security-policy": PAGE_POLICY} if kind == "text/html" else {}

    async def serve(request: Request) -> Response:
        shown = with_banner(content, request.app.state.missing_walls) if kind == "text/html" else content
        return Response(shown, media_type=kind, headers=headers)

    return serve


# -- lists --------------------------------------------------------------------------------------------


def _listed(value: Callable[[], dict[str, Any]]) -> Callable[[Request], Any]:
    """Return an endpoint for a value that stays the same."""
    text = cache(lambda: json.dumps(value(), ensure_ascii=False, allow_nan=False))

    async def serve(_: Request) -> Response:
        return Response(await asyncio.to_thread(text), media_type="application/json")

    return serve


async def _health(request: Request) -> Response:
    pool = request.app.state.pool
    numbers = {"workers": pool.workers, "running": pool.running, "waiting": pool.waiting}
    walls = {"confined": pool.confined, "missing_walls": request.app.state.missing_walls}
    return _json({"status": "ok", "version": __version__, **numbers, **walls})


def _json(value: Any) -> Response:
    return Response(json.dumps(value, ensure_ascii=False, allow_nan=False), media_type="application/json")


# -- trouble ------------------------------------------------------------------------------------------


async def _say_problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response()


async def _say_status(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problem = of_status(error.status_code)
    problem.headers.update(error.headers or {})
    return problem.response()


async def _say_fault(_: Request, __: Exception) -> Response:
    return Problem(500, "fault", "the server failed", "its log says how").response()
