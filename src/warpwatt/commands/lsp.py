"""``warpwatt lsp``: the language server, for editors."""

from __future__ import annotations

import sys

import click

from warpwatt.core.errors import ToolchainError

LOOPBACK = "127.0.0.1"


@click.command()
@click.option("--tcp", type=click.IntRange(1, 65535), metavar="PORT", help="Listen there on 127.0.0.1.")
@click.option(
    "--trust",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    metavar="DIR",
    help="Compile what lies in this folder, beside those that the user's settings trust.",
)
@click.option("--log", "verbose", is_flag=True, help="Say on stderr what is going on.")
def lsp(tcp: int | None, trust: tuple[str, ...], verbose: bool) -> None:
    """Serve editors: what each kernel costs, above it, as you type.

    An editor starts this and speaks the Language Server Protocol through stdin and stdout;
    --tcp is for debugging. Nothing is compiled in a folder that is not trusted.
    """
    import logging

    try:
        from warpwatt.server.lsp.features import make_server
    except ModuleNotFoundError as error:
        hint = "pip install 'warpwatt[server]'"
        raise ToolchainError(f"the language server needs {error.name}", hint=hint) from None
    logging.basicConfig(stream=sys.stderr, level=logging.INFO if verbose else logging.ERROR)
    server = make_server(trust)
    try:
        if tcp is None:
            server.start_io()
        else:
            server.start_tcp(LOOPBACK, tcp)
    finally:
        server.end()
    sys.exit(0 if server.protocol.shut_down else 1)
