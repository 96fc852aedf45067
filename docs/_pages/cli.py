"""One page per verb of the command line, from click's own commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from docs._pages.text import table

from warpwatt.commands.main import VERBS, app

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER = "reference/cli"


def pages() -> Mapping[str, str]:
    """Return page name to text."""
    context = click.Context(app, info_name="warpwatt")
    found = {f"{FOLDER}/index.md": _index(context)}
    for name in VERBS:
        command = app.get_command(context, name)
        assert command is not None
        found[f"{FOLDER}/{name}.md"] = "\n".join(
            _page(command, click.Context(command, context, info_name=name), 1)
        )
    return found


def _index(context: click.Context) -> str:
    rows = []
    for name in VERBS:
        command = app.get_command(context, name)
        assert command is not None
        rows.append((f"[`{name}`]({name}.md)", command.get_short_help_str(200)))
    return (
        "# Command line\n\n`warpwatt VERB ...`. Results go to stdout, diagnostics to stderr; `-` is standard "
        "input; `NO_COLOR` is honoured; files are overwritten with `--force` only.\n\n"
        f"{table(('verb', 'what it does'), rows)}\n"
        "Exit codes stand in [errors](../errors.md), the grammar of launches and arguments in "
        "[arguments](../arguments.md).\n"
    )


def _page(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    path = context.command_path
    yield f"{'#' * level} `{path}`\n"
    yield from _help(command.help or "")
    yield f"```text\n{' '.join((path, *command.collect_usage_pieces(context)))}\n```\n"
    options = [_option(parameter, context) for parameter in command.get_params(context)]
    rows = [row for row in options if row is not None]
    if rows:
        yield table(("option", "meaning"), rows)
    if command.epilog:
        yield f"{command.epilog}\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _page(inner, click.Context(inner, context, info_name=name), level + 1)


def _help(text: str) -> Iterator[str]:
    """Yield paragraphs; those that click keeps as they are become code."""
    for paragraph in text.split("\n\n"):
        kept = paragraph.lstrip().startswith("\b")
        lines = [line.strip() for line in paragraph.split("\n") if line.strip("\b ")]
        if kept:
            language = "console" if lines[0].startswith("warpwatt") else "text"
            prompt = "$ " if language == "console" else ""
            yield "```" + language + "\n" + "\n".join(prompt + line for line in lines) + "\n```\n"
        else:
            yield " ".join(lines) + "\n"


def _option(parameter: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    record = parameter.get_help_record(context)
    if record is None or not isinstance(parameter, click.Option) or parameter.hidden:
        return None
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    value = "" if parameter.is_flag else f" `{parameter.make_metavar(context)}`"
    return f"{names}{value}", record[1].replace("[", "\\[")
