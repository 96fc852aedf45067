"""The protocol server: :mod:`.tools` under the official SDK."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import WarpWattError
from warpwatt.core.version import __version__
from warpwatt.server.mcp import tools

if TYPE_CHECKING:
    from mcp.server import MCPServer


def make_server() -> MCPServer:
    """Return the server with its tools; :class:`ModuleNotFoundError` without the extra ``[mcp]``."""
    from mcp.server import MCPServer

    server = MCPServer("warpwatt", version=__version__)
    for tool in (tools.predict, tools.rank, tools.gpus):
        server.add_tool(_told(tool))
    return server


def _told(tool: Callable[..., str]) -> Callable[..., str]:
    """Return the tool with expected failures as messages for the agent: what is wrong, and what helps."""
    from mcp.server.mcpserver.exceptions import ToolError

    @functools.wraps(tool)
    def call(*words: Any, **named: Any) -> str:
        try:
            return tool(*words, **named)
        except WarpWattError as error:
            parts = (str(error), error.details, f"fix: {error.hint}" if error.hint else "")
            raise ToolError("\n".join(filter(None, parts))) from None

    return call
