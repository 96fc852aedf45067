"""What must be written out by hand agrees with the table of fields."""

from __future__ import annotations

import json
from dataclasses import fields
from importlib import import_module, resources
from typing import get_type_hints

import click
import pytest

from warpwatt import api
from warpwatt.commands.axes import Axes
from warpwatt.request.fields import FIELDS, Group, Kind, fields_of, keys
from warpwatt.request.launch_text import LaunchText, launch_of
from warpwatt.request.options import CompilationOptions, ModelOptions
from warpwatt.server.lsp.settings import KEYS

VALUES = {Group.LAUNCH: LaunchText, Group.COMPILATION: CompilationOptions, Group.MODELS: ModelOptions}


@pytest.mark.parametrize("group", Group)
def test_a_value_of_a_group_holds_its_fields(group):
    assert {field.name for field in fields_of(group)} == {field.name for field in fields(VALUES[group])}


def test_python_takes_a_keyword_for_every_key():
    beside = {"gpu", "advice", "machine_code", "notify", "configurations"}
    also = {"unknown", "profile"}
    assert set(api.Options.__annotations__) - beside == {*keys(*Group), *also}
    assert get_type_hints(api.Options)["toolkit"] is str


def test_settings_of_the_editor_are_those_of_compilation_and_models():
    assert set(KEYS) == {"gpu", "advice", "beside", *keys(Group.COMPILATION, Group.MODELS)}


def test_the_page_takes_every_key_of_a_launch():
    text = resources.files("warpwatt.server.web").joinpath("schema/requests.json").read_text()
    launch = json.loads(text)["Launch"]["properties"]
    assert set(launch) == set(keys(Group.LAUNCH))


@pytest.mark.parametrize("verb", ["predict", "explain", "compare"])
def test_every_field_is_an_option(verb):
    command = getattr(import_module(f"warpwatt.commands.{verb}"), verb)
    options = {parameter.name: parameter for parameter in command.params}
    for field in FIELDS:
        assert field.name in options
        assert options[field.name].metavar == field.metavar
        if isinstance(options[field.name], click.Option):
            assert options[field.name].help == field.help
            assert options[field.name].multiple == field.repeated


def test_a_sweep_takes_what_it_varies_and_what_stays():
    assert {field.name for field in FIELDS} == {
        field.name for field in fields(Axes) if field.name not in ("sources", "define_file")
    }


def test_a_launch_reads_the_same_from_every_place():
    written = LaunchText(
        kernel="f",
        grid="8,2",
        block="64",
        shared=16,
        l2="warm",
        arg=("n=5", "on=true", "x=f32[n]"),
        loop=("14=100",),
    )
    values = {
        "kernel": "f", "grid": [8, 2], "block": 64, "shared": 16, "l2": "warm",
        "args": {"n": 5, "on": True, "x": "f32[n]"}, "loops": {14: 100},
    }  # fmt: skip
    assert launch_of(values) == written
    assert launch_of({}) == LaunchText()


def test_only_texts_are_paired():
    assert all(f.kind in (Kind.TEXT, Kind.DIMENSIONS) or f.repeated for f in FIELDS if f.paired)
