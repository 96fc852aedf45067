"""Cards and tables of notebooks: balanced, escaped, without anything a notebook would strip or run."""

from __future__ import annotations

import dataclasses
import re

import pytest

from tests.render import samples
from tests.render.report.parsed import parse
from tests.render.report.test_hostile import hostile
from warpwatt.core.estimate import Estimate
from warpwatt.render.card import card, line, table

SOURCES = {"matmul.cu": samples.MATMUL_SOURCE, "saxpy.cu": samples.SAXPY_SOURCE}
STRIPPED = {"script", "style", "link", "iframe", "object", "img"}
"""What notebooks remove or refuse."""


@pytest.fixture(params=["card", "table"])
def fragment(request, saxpy, matmul):
    return card(matmul[0], SOURCES) if request.param == "card" else table([*saxpy, *matmul])


def test_notebooks_keep_everything(fragment):
    elements = parse(fragment).all()
    assert not {element.tag for element in elements} & STRIPPED
    assert not any(name.startswith("on") for element in elements for name in element.attributes)
    assert "url(" not in fragment
    assert "http" not in fragment


def test_colours_are_the_notebooks_own(fragment):
    """Nothing but grey lines has a colour of its own: text stays readable on any background."""
    colours = re.findall(r"(?<!-)\b(?:color|background):\s*([^;\"]+)", fragment)
    assert set(colours) <= {"none", "inherit", "currentColor"}
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b", fragment)


def test_a_card_says_what_the_prediction_says(matmul):
    text = parse(card(matmul[0], SOURCES)).text
    for said in ("Time", "Power", "Energy", "Limited by", "Speed of light", "Warps wait for", "Occupancy"):
        assert said in text
    assert matmul[0].timing.bottleneck in text
    assert matmul[0].case.gpu.name in text
    hottest = max(matmul[0].lines, key=lambda cost: cost.time_share)
    assert samples.MATMUL_SOURCE.splitlines()[hottest.line - 1].strip() in text


def test_a_table_marks_the_best_of_each_kernel(saxpy, matmul):
    tree = parse(table([*saxpy, *matmul]))
    assert sum(cell.text.startswith("★") for cell in tree.all("td")) == 4  # time and energy, two kernels
    assert len(tree.all("table")) == 2


def test_nothing_of_the_users_is_html(saxpy):
    for fragment in (card(hostile(saxpy[0])), table([hostile(p) for p in saxpy])):
        assert "alert(1)" in fragment
        assert not {element.tag for element in parse(fragment).all()} & STRIPPED
        assert not [c for c in fragment if c != "\n" and not c.isprintable()]
    assert line(hostile(saxpy[0])).isprintable()


def test_odd_numbers_are_shown(saxpy):
    nothing = Estimate.exact(float("nan"), "s")
    odd = dataclasses.replace(saxpy[0], time=nothing, energy_components={}, lines=())
    assert "nan" in card(odd)
    assert "nan" in line(odd)
    assert "no predictions" in table([])


def test_one_line(saxpy):
    assert "\n" not in line(saxpy[0])
    assert line(saxpy[0]).startswith("saxpy")
