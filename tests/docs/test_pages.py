"""Generated pages hold all there is: verbs and options, errors, GPUs, quantities, schema fields."""

from __future__ import annotations

import json
import re
from importlib import resources

import click
import pytest
from docs._pages import cli, errors, gpus, quantities, schemas
from docs._pages.docstrings import markdown
from docs._pages.text import cell

from warpwatt.budget.quantities import QUANTITIES
from warpwatt.commands.main import VERBS, app
from warpwatt.core.errors import WarpWattError
from warpwatt.gpus import names

PAGES = cli.pages()


@pytest.mark.parametrize("verb", VERBS)
def test_a_verbs_page_names_every_option(verb):
    page = PAGES[f"reference/cli/{verb}.md"]
    command = app.get_command(click.Context(app), verb)
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert f"`{parameter.opts[0]}`" in page
    assert f"({verb}.md)" in PAGES["reference/cli/index.md"]


def test_errors_gpus_and_quantities_are_whole():
    page = errors.pages()["reference/errors.md"]
    for kind in WarpWattError.__subclasses__():
        assert f"| `{kind.__name__}` | {kind.exit_code} |" in page
    page = gpus.pages()["reference/gpus.md"]
    assert all(f"| {name} |" in page for name in names())
    page = quantities.pages()["reference/quantities.md"]
    assert all(f"| `{name}` |" in page for name in QUANTITIES)


def test_the_newest_schema_of_every_kind_is_shown():
    pages = schemas.pages()
    shipped = [
        f.name
        for f in resources.files("warpwatt.render").joinpath("schema").iterdir()
        if f.name.endswith(".json")
    ]
    for name in shipped:
        assert json.loads(pages[f"reference/schemas/{name}"])["$id"].endswith(name)
    kinds = {re.sub(r"-[\d.]+json$", "", name) for name in shipped}
    assert pages["reference/schemas.md"].count("\n## ") == len(kinds)


def test_docstrings_become_markdown():
    text = markdown("See :func:`~a.b`::\n\n    x\n\nRaises\n------\nE\n    If so.\n\n>>> 1 + 1\n2")
    assert text.startswith("See `b`:\n\n    x")
    assert text.endswith("Examples\n--------\n>>> 1 + 1\n2")
    moved = markdown("One.\n\nRaises\n------\nE\n    If so.\n\nAnd this.")
    assert moved == "One.\n\nAnd this.\n\nRaises\n------\nE\n    If so."
    assert markdown("One.\n\n>>> 1\n1") == "One.\n\n```pycon\n>>> 1\n1\n```"


def test_bars_do_not_end_a_cell():
    assert "|" not in cell("`a|b` and c|d")
