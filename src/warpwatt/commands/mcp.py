"""``warpwatt mcp``: tools for agents that speak the Model Context Protocol."""

from __future__ import annotations

import click

from warpwatt.core.errors import ToolchainError


@click.command()
def mcp() -> None:
    """Offer agents the tools predict, rank and gpus, through stdin and stdout (Model Context Protocol)."""
    from warpwatt.server.mcp.serve import make_server

    try:
        server = make_server()
    except ModuleNotFoundError as error:
        hint = "pip install 'warpwatt[mcp]'"
        raise ToolchainError(f"the protocol server needs {error.name}", hint=hint) from None
    server.run("stdio")
