"""What the skill and the table of features say: their commands parse, their fields are in the schemas."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from warpwatt.commands.main import app
from warpwatt.render import brief
from warpwatt.render.rank import json as rank

SKILL = Path(__file__).parents[2] / "skills" / "predicting-gpu-kernels"
TEXT = (SKILL / "SKILL.md").read_text(encoding="utf-8")
FEATURES = (SKILL.parents[1] / "docs" / "explanation" / "features.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"(?:`|\$ )(warpwatt [^`\n]+)", TEXT + FEATURES)))


def test_its_head_is_what_agents_look_for():
    head = dict(line.split(": ", 1) for line in TEXT.split("---")[1].strip().splitlines())
    assert head["name"] == SKILL.name
    assert len(head["description"]) <= 1024


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_parses(command):
    context = click.Context(app, info_name="warpwatt")
    _, verb, *words = shlex.split(command)
    found = app.get_command(context, verb)
    assert found is not None
    found.make_context(verb, words, parent=context)


def test_a_command_that_does_not_exist_is_seen():
    assert len(COMMANDS) > 8
    with pytest.raises(click.UsageError):
        test_every_command_parses("warpwatt rank a.cu --no-such-option")


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        (brief.SCHEMA, ("limited_by", "stalls", "hot_lines", "advice", "saves", "assumed", "low", "high")),
        (rank.SCHEMA, ("decision", "take", "measure", "failed", "fix")),
    ],
    ids=["brief", "rank"],
)
def test_the_fields_it_names_are_in_the_schemas(schema, fields):
    text = json.dumps(schema.load())
    for field in fields:
        assert f"`{field}`" in TEXT or f'"{field}"' in TEXT
        assert f'"{field}": ' in text


@pytest.mark.parametrize("file", sorted(SKILL.glob("example/*.cu")), ids=lambda file: file.stem)
def test_candidates_say_their_launch(file):
    from warpwatt.frontend.source import read_source
    from warpwatt.request.launch_text import LaunchText
    from warpwatt.request.launches import requests

    if file.stem != "check":
        (found,) = requests(read_source(file), LaunchText(), None)
        rows = found.launch.arguments["rows"].value
        assert found.launch.grid.count * found.launch.block.count >= rows
