"""What messages tell users to write: options that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import warpwatt
from warpwatt.commands.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = sorted(Path(warpwatt.__file__).parent.rglob("*.py"))
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
OTHERS = {
    "--csv": "ncu", "--follow": "git", "--keep": "nvcc", "--nthreads": "dask", "--oneline": "git",
    "--include-path": "nvcc", "--print-gpu-trace": "nvprof", "--report": "nsys", "--section": "ncu",
    "--help": "click", "--quiet": "pip", "--disable-pip-version-check": "pip", "--only-binary": "pip",
    "--use": "nvcc",
}  # fmt: skip
"""Options of other programs that messages name."""


def options(command: click.Command) -> set[str]:
    found = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            verb = command.get_command(context, name)
            assert verb is not None
            found |= options(verb)
    return found


def sentences(file: Path) -> Iterator[str]:
    """Yield the texts of a module that have a space in them, docstrings and scripts apart."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in documentation:
            continue
        if " " in node.value.strip() and not node.value.startswith("#!"):
            yield node.value


@pytest.fixture(scope="module")
def known() -> set[str]:
    return options(app)


def test_messages_name_options_that_exist(known: set[str]):
    named = {
        (option, text) for file in SOURCES for text in sentences(file) for option in OPTION.findall(text)
    }
    assert len(named) > 50
    assert not sorted(pair for pair in named if pair[0] not in known | OTHERS.keys())
