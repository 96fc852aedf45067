"""Where pycparser is not installed."""

import sys

import pytest

from warpwatt.core.errors import ToolchainError


def test_a_missing_parser_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("warpwatt.published.resios.c_loops")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pycparser", None)
    with pytest.raises(ToolchainError, match="pycparser") as caught:
        __import__("warpwatt.published.resios.c_loops")
    assert caught.value.hint == "pip install 'warpwatt[port]'"
