"""``warpwatt serve``: the web page and the JSON API, for this machine alone unless told otherwise."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from warpwatt.core.errors import ToolchainError, UsageError

NEEDED = ("starlette", "uvicorn", "h11", "jsonschema")


@click.command(epilog="The API is described at /api/v1/openapi.json.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option(
    "--port", default=8642, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free one."
)
@click.option("--allow-remote", is_flag=True, help="Listen on an address that other machines reach.")
@click.option(
    "--allowed-host", multiple=True, metavar="NAME[:PORT]", help="Answer to this name too, as of a proxy in front."
)
@click.option("--workers", type=click.IntRange(1, 64), help="Requests that run at a time.  [default: processors, at most 4]")
@click.option("--queue", default=16, show_default=True, type=click.IntRange(0, 10_000), help="Requests that wait.")
@click.option(
    "--timeout", default=30.0, show_default=True, type=click.FloatRange(1, 3600), metavar="SECONDS", help="Of a request."
)
@click.option(
    "--memory", default="3G", show_default=True, metavar="SIZE", help="Of a request and its compilers together."
)
@click.option("--open", "browse", is_flag=True, help="Open the page in the browser.")
def serve(
    host: str,
    port: int,
    allow_remote: bool,
    allowed_host: tuple[str, ...],
    workers: int | None,
    queue: int,
    timeout: float,
    memory: str,
    browse: bool,
) -> None:
    """Serve a page to predict kernels in the browser, and a JSON API.

    Sources reach no file of this machine, nothing of them runs natively, and each request has a process of
    its own that is ended when it takes too long or too much.
    """
    _check_installed()
    from dataclasses import replace  # noqa: PLC0415 - verbs load lazily

    from warpwatt.frontend.cache import parse_size  # noqa: PLC0415
    from warpwatt.server.web.run import serve as run  # noqa: PLC0415
    from warpwatt.server.web.settings import Settings, is_loopback  # noqa: PLC0415
    from warpwatt.server.worker.limits import Limits  # noqa: PLC0415

    if not is_loopback(host):
        if not allow_remote:
            hint = "add --allow-remote if you mean it: there is no password and no encryption"
            raise UsageError(f"{host} is reached from other machines", hint=hint)
        click.secho(
            f"warning: everyone who reaches {host} can use this server; there is no password and no encryption",
            fg="yellow",
            err=True,
        )
    settings = Settings(
        host, port, allowed_host, queue=queue, limits=Limits(seconds=timeout, memory=parse_size(memory))
    )
    run(settings if workers is None else replace(settings, workers=workers), lambda url: _announce(url, browse=browse))


def _check_installed() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing or sys.platform == "win32":
        what = f"{missing[0]} is not installed" if missing else "serve needs Linux or macOS"
        hint = f"{sys.executable} -m pip install 'warpwatt[server]'" if missing else "run it in WSL"
        raise ToolchainError(what, hint=hint)


def _announce(url: str, *, browse: bool) -> None:
    click.echo(f"WarpWatt at {url}  (Ctrl+C ends it)")
    sys.stdout.flush()
    if browse:
        import webbrowser  # noqa: PLC0415 - seldom asked for

        webbrowser.open(url)
