"""``warpwatt serve``: the web page and the JSON API, for this machine alone unless told otherwise."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from warpwatt.commands.options import group
from warpwatt.core.errors import ToolchainError, UsageError

if TYPE_CHECKING:
    from warpwatt.server.web.settings import Settings

NEEDED = ("starlette", "uvicorn", "h11", "jsonschema")


@dataclass(frozen=True, slots=True)
class ListenOptions:
    """Where to listen, and to whom."""

    host: str
    port: int
    allow_remote: bool
    walls: bool | None
    allowed_host: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkOptions:
    """What requests may cost; ``timeout`` in seconds, ``memory`` as text such as ``3G``."""

    workers: int | None
    queue: int
    timeout: float
    memory: str


listen_options = group(
    "listening",
    ListenOptions,
    click.option(
        "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen."
    ),
    click.option(
        "--port", default=8642, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free one."
    ),
    click.option("--allow-remote", is_flag=True, help="Listen on an address that other machines reach."),
    click.option(
        "--require-walls/--without-walls",
        "walls",
        default=None,
        help="Whether to refuse to start where a wall around workers lacks.  [default: off this machine]",
    ),
    click.option(
        "--allowed-host", multiple=True, metavar="NAME[:PORT]", help="Answer to this Host too (a proxy's)."
    ),
)
work_options = group(
    "work",
    WorkOptions,
    click.option(
        "--workers",
        type=click.IntRange(1, 64),
        help="Requests that run at a time.  [default: processors, at most 4]",
    ),
    click.option(
        "--queue",
        default=16,
        show_default=True,
        type=click.IntRange(0, 10_000),
        help="Requests that wait; the next is refused.",
    ),
    click.option(
        "--timeout",
        default=30.0,
        show_default=True,
        type=click.FloatRange(1, 3600),
        metavar="SECONDS",
        help="Time of a request.",
    ),
    click.option(
        "--memory",
        default="3G",
        show_default=True,
        metavar="SIZE",
        help="Memory of a request and its compilers.",
    ),
)


@click.command(epilog="The API describes itself at /api/v1/openapi.json.")
@listen_options
@work_options
@click.option("--open", "browse", is_flag=True, help="Open the page in the browser.")
def serve(listening: ListenOptions, work: WorkOptions, browse: bool) -> None:
    """Serve a page to predict kernels in the browser, and a JSON API.

    Sources reach no file of this machine, nothing of them runs natively, and each request has a process of
    its own that is ended when it takes too long or too much.
    """
    _check_installed()
    from warpwatt.server.web.run import serve as run

    _check_reach(listening)
    _check_walls(listening)
    run(_settings(listening, work), lambda url: _announce(url, browse=browse))


def _check_installed() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing or sys.platform == "win32":
        what = f"{missing[0]} is not installed" if missing else "serve needs Linux or macOS"
        hint = f"{sys.executable} -m pip install 'warpwatt[server]'" if missing else "run it in WSL"
        raise ToolchainError(what, hint=hint)


def _check_reach(listening: ListenOptions) -> None:
    """Refuse an address that other machines reach, or warn of it where it is wanted."""
    from warpwatt.server.web.settings import is_loopback

    if is_loopback(listening.host):
        return
    if not listening.allow_remote:
        hint = "add --allow-remote if you mean it: there is no password and no encryption"
        raise UsageError(f"{listening.host} is reached from other machines", hint=hint)
    click.secho(
        f"warning: whoever reaches {listening.host} can use this server: no password, no encryption",
        fg="yellow",
        err=True,
    )


def _check_walls(listening: ListenOptions) -> None:
    """Refuse to start where this system cannot keep workers in, or warn: as asked, or as who can reach it."""
    from warpwatt.server.web.settings import is_loopback
    from warpwatt.server.web.walls import lacking
    from warpwatt.workers.confinement import missing_walls

    missing = missing_walls()
    if not missing:
        return
    required = not is_loopback(listening.host) if listening.walls is None else listening.walls
    if required:
        hint = "serve on Linux 5.13 or later, or add --without-walls if all who reach it are trusted"
        raise ToolchainError(lacking(missing), hint=hint)
    click.secho(f"warning: {lacking(missing)}", fg="yellow", err=True)


def _settings(listening: ListenOptions, work: WorkOptions) -> Settings:
    from warpwatt.server.web.settings import Settings, usual_workers
    from warpwatt.storage.cache import parse_size
    from warpwatt.workers.limits import Limits

    return Settings(
        listening.host,
        listening.port,
        listening.allowed_host,
        work.workers or usual_workers(),
        work.queue,
        Limits(seconds=work.timeout, memory=parse_size(work.memory)),
    )


def _announce(url: str, *, browse: bool) -> None:
    click.echo(f"WarpWatt at {url}  (Ctrl+C ends it)")
    sys.stdout.flush()
    if browse:
        import webbrowser

        webbrowser.open(url)
