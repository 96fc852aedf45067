"""The three modules of pycparser that are used, or the command that installs them."""

from __future__ import annotations

from warpwatt.core.errors import ToolchainError

try:
    from pycparser import c_ast, c_generator, c_parser
except ModuleNotFoundError as error:
    raise ToolchainError("reading C needs pycparser", hint="pip install 'warpwatt[port]'") from error

__all__ = ["c_ast", "c_generator", "c_parser"]
