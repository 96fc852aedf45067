"""One server for all tests of its protocol, and documents that nobody else opens."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from .editor import Editor

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="package")
def server() -> Iterator[Editor]:
    """Return an editor with a server that lives as long as the tests of this folder."""
    editor = Editor(settings={"advice": False, "debounce": 100})
    yield editor
    assert editor.quit() == 0
    noise = [line for line in editor.stderr if "Traceback" in line]
    assert not noise, "".join(editor.stderr)


@pytest.fixture
def editor(server: Editor) -> Iterator[Editor]:
    """Return that editor with its usual settings."""
    usual = dict(server.settings)
    yield server
    if server.settings != usual:
        server.configure(usual)


@pytest.fixture
def uri(tmp_path) -> str:
    """Return the address of a document in a folder of its own; there is no such file."""
    return (tmp_path / f"k{next(_NUMBERS)}.cu").as_uri()
