"""The page's structure: one file, valid, offline, accessible, sections in Nsight Compute's order."""

from __future__ import annotations

import dataclasses
import itertools
import re

from tests.render.report.conftest import CONTEXT, SOURCES
from tests.render.report.parsed import parse
from warpwatt.core.estimate import Estimate
from warpwatt.core.launch import L2State
from warpwatt.core.program import SourceLine
from warpwatt.render import html
from warpwatt.render.assets import asset, environment
from warpwatt.render.code import listings
from warpwatt.render.context import Context
from warpwatt.render.report.page import page as build_page
from warpwatt.render.report.report import reports

ORDER = [
    "What would help",
    "Speed of Light", "Roofline", "Memory", "Scheduler and Warp State", "Energy by component", "Occupancy",
    "Clock sweep", "Source", "Where the numbers come from",
]  # fmt: skip


def test_a_process_compiles_each_template_once() -> None:
    """Workers of the page are forked from a process that has rendered one."""
    assert environment().get_template("page.html") is environment().get_template("page.html")


def test_ids_are_unique_and_what_refers_to_them_finds_them(tree):
    ids = [n.attributes["id"] for n in tree.all() if "id" in n.attributes]
    assert len(ids) == len(set(ids))
    labels = [n.attributes["aria-labelledby"] for n in tree.all() if "aria-labelledby" in n.attributes]
    assert set(labels) <= set(ids)
    targets = {n.attributes["href"] for n in tree.all("a")}
    assert {target[0] for target in targets} == {"#"}
    assert {target[1:] for target in targets} <= set(ids)


def test_sections_stand_in_order_in_every_account(tree, predictions):
    accounts = tree.all("details", class_="account")
    assert len(accounts) == len(predictions)
    for account in accounts:
        titles = [heading.text for heading in account.all("h3")]
        assert [title for title in titles if title in ORDER] == ORDER


def test_launches_that_find_another_l2_say_so_and_none_is_best(saxpy):
    cold = saxpy[0]
    launch = dataclasses.replace(cold.case.launch, l2=L2State.PREVIOUS, in_l2={"x": 0.5})
    held = dataclasses.replace(cold, case=dataclasses.replace(cold.case, launch=launch))
    for group, marks in (([cold, held], 0), (saxpy[:2], 2)):
        (comparison,) = build_page(reports(group), CONTEXT).comparisons
        figures = [figure for row in comparison.rows for figure in (row.time, row.energy)]
        assert sum(figure.best for figure in figures) == marks
    names = [row.gpu for row in build_page(reports([cold, held]), CONTEXT).comparisons[0].rows]
    gpu = cold.case.gpu.name
    assert names == [f"{gpu}, L2 {cold.case.launch.l2}", f"{gpu}, L2 previous, holds 50 % of x"]


def test_nothing_refers_to_the_network(page, tree):
    shown = page.replace("xmlns: SVG", "").replace('"http://www.w3.org/2000/svg"', "")
    assert re.findall(r"(?:https?:)//", shown) == []
    assert "@import" not in page
    assert "url(" not in page
    for word in ("fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "EventSource", "import("):
        assert word not in page
    assert not [n for n in tree.all() if {"src", "srcset", "action", "data", "poster"} & set(n.attributes)]


def test_policy_allows_only_the_page_script_and_no_handlers(page, tree):
    scripts = tree.all("script")
    assert [script.attributes for script in scripts] == [{"type": "application/json", "id": "data"}, {}]
    policy = next(n for n in tree.all("meta") if "http-equiv" in n.attributes).attributes["content"]
    assert policy == html.content_policy("".join(scripts[1].parts))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    assert rules["img-src"] == "data:"
    assert not [n for n in tree.all() if any(name.startswith("on") for name in n.attributes)]


def test_landmarks_headings_and_tables(tree, predictions):
    for landmark in ("header", "main", "footer"):
        assert len(tree.all(landmark)) == 1
    assert len(tree.all("h1")) == 1
    assert tree.one("html").attributes["lang"] == "en"
    levels = [int(n.tag[1]) for n in tree.all() if re.fullmatch("h[1-6]", n.tag)]
    assert all(deeper - level <= 1 for level, deeper in itertools.pairwise(levels))
    assert all("scope" in n.attributes for n in tree.all("th"))
    assert all(table.all("caption") for table in tree.all("table"))
    regions = [n.attributes["aria-label"] for n in tree.all("nav")]
    assert len(regions) == len(predictions)


def test_everything_that_acts_or_shows_has_a_name(tree):
    for picture in tree.all("svg"):
        assert picture.attributes["role"] == "img"
        assert len(picture.attributes["aria-label"]) > 10
    for button in tree.all("button"):
        assert button.text or button.attributes["aria-label"]
        assert button.attributes["type"] == "button"
    for select in tree.all("select"):
        assert "label" in [ancestor.tag for ancestor in select.ancestors]
    for node in tree.all():
        if node.attributes.get("tabindex") == "0":
            assert node.attributes.get("role")
            assert node.attributes.get("aria-label")


def test_every_picture_has_data_to_save_and_a_table_or_cursor(tree, data):
    for button in tree.all("button"):
        if "data-save" in button.attributes:
            assert button.attributes["data-plot"] in data["plots"]
    for plot in tree.all("div", class_="plot"):
        name = plot.attributes.get("data-cursor")
        if name is not None:
            assert name in data["cursors"]
            assert len(tree.all("p", data_readout=name)) == 1
    for table in data["plots"].values():
        assert all(len(row) == len(table["columns"]) for row in table["rows"])


def test_styles_balance():
    """Browsers drop everything after a brace that is missing."""
    for name in html.STYLES:
        depth = 0
        for character in re.sub(r"/\*.*?\*/", "", asset(name), flags=re.DOTALL):
            depth += {"{": 1, "}": -1}.get(character, 0)
            assert depth >= 0, name
        assert depth == 0, name


def test_page_is_small(page):
    assert len(page) < 530_000


def test_same_input_same_bytes(page, full):
    assert html.render_reports(full, CONTEXT) == page


def test_colours_have_contrast_in_both_schemes(page):
    """WCAG 2.1, success criterion 1.4.3: at least 4.5 to 1; 1.4.11: 3 to 1 for lines."""
    pairs = dict(re.findall(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}, #[0-9a-f]{6})\);", page))
    on_card = [(ink, paper) for ink in ("ink", "soft", "accent", "good") for paper in ("card", "paper")]
    on_heat = [("ink", heat) for heat in ("hot-time", "hot-energy", "hot-stall", "mark", "fill")]
    for scheme in (0, 1):
        colours = {name: both.split(", ")[scheme] for name, both in pairs.items()}
        for ink, paper in [*on_card, *on_heat, ("warn", "warn-paper"), ("soft", "mark")]:
            least = 4.5 if (ink, paper) != ("soft", "mark") else 3.0
            assert contrast(colours[ink], colours[paper]) >= least, (scheme, ink, paper)
        for number in range(8):
            assert contrast(colours[f"s{number}"], colours["card"]) >= 4.5


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_every_listing_row_of_a_line_carries_its_key(matmul):
    source, ptx, sass = listings(matmul[0], Context(sources=SOURCES))
    key = next(row.keys for row in source.rows if row.number == "15")
    assert [row.number for row in ptx.rows if row.keys == key] == ["7", "8", "9"]
    assert sum(row.keys == key for row in sass.rows) == 32
    assert source.rows[14].text == "            sum += as[threadIdx.y][k] * bs[threadIdx.x][k];"


def test_source_without_text_shows_costly_lines_and_gaps(matmul):
    source = listings(matmul[0], Context())[0]
    assert [row.number or row.kind for row in source.rows][:4] == ["gap", "7", "8", "gap"]


def test_inlined_instruction_lights_up_at_its_call_site_too(saxpy):
    case = saxpy[0].case
    inlined = SourceLine("math.h", 3, SourceLine("saxpy.cu", 6))
    first = dataclasses.replace(case.kernel.ptx.instructions[0], line=inlined)
    program = dataclasses.replace(case.kernel.ptx, instructions=(first, *case.kernel.ptx.instructions[1:]))
    execution = dataclasses.replace(case.workload.execution, program=program)
    workload = dataclasses.replace(case.workload, execution=execution)
    prediction = dataclasses.replace(saxpy[0], case=dataclasses.replace(case, workload=workload))
    columns = listings(prediction, Context())
    assert columns[1].rows[0].keys.split()[1] == next(r.keys for r in columns[0].rows if r.number == "6")


def test_kernel_without_flops_is_drawn_under_the_issue_roof(saxpy):
    case = saxpy[0].case
    kernel = dataclasses.replace(case.kernel, sass=None)
    program = case.workload.execution.program
    bare = dataclasses.replace(
        program, instructions=tuple(dataclasses.replace(i, flops=0.0) for i in program.instructions)
    )
    execution = dataclasses.replace(case.workload.execution, program=bare)
    workload = dataclasses.replace(case.workload, execution=execution)
    case = dataclasses.replace(case, kernel=kernel, workload=workload)
    tree = parse(html.render([dataclasses.replace(saxpy[0], case=case)], Context()))
    picture, _ = tree.all("svg", class_="roofline")
    assert "the DRAM roof lies above it" in picture.attributes["aria-label"]
    assert "Issue 1.05 Tinst/s" in picture.text


def test_prediction_without_time_lines_or_energy_has_a_page(saxpy):
    exact = Estimate.exact(0.0, "s")
    empty = {"lines": (), "energy_components": {}, "time": exact, "transfer": exact}
    tree = parse(html.render([dataclasses.replace(saxpy[0], **empty)], Context()))
    assert tree.all("svg", class_="roofline") == []
    assert "No clock sweep was asked for." in tree.text


def test_no_predictions():
    assert "no predictions" in parse(html.render([], Context())).text
