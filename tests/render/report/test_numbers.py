"""Numbers on the page are those of the text and JSON outputs."""

from __future__ import annotations

import math
import re

import pytest

from warpwatt.gpus.occupancy import occupancy
from warpwatt.render import text
from warpwatt.render.context import Context
from warpwatt.render.document import prediction_document
from warpwatt.render.report.report import report
from warpwatt.render.sections import BUSY_LEGEND

WIDE = Context(width=300, verbosity=1)


@pytest.fixture(scope="module")
def pairs(tree, predictions):
    return list(zip(tree.all("details", class_="account"), predictions, strict=True))


def section(account, name):
    return next(n for n in account.all("section") if n.attributes.get("id", "").endswith(f"-{name}"))


def bars(account, name):
    """Return label, share and note of every bar of a section."""
    found = {}
    for row in section(account, name).one("ul", class_="bars").all("li"):
        label, _, amount = row.children
        hint = "".join(n.text for n in label.all("span", class_="hint"))
        share, _, note = amount.text.partition(" % ")
        found[label.text.removesuffix(hint).strip()] = (share.removesuffix(" %"), note)
    return found


def text_rows(prediction, title):
    """Return the lines of a section of the text output."""
    rendered = text.render([prediction], WIDE)
    body = re.split(rf"^{title}$", rendered, flags=re.MULTILINE)[1]
    return [line.strip() for line in body.split("\n\n")[0].splitlines() if line.strip()]


def test_headline_is_that_of_the_text(pairs):
    for account, prediction in pairs:
        rendered = text.render([prediction], WIDE)
        tiles = account.all("section", class_="tile")
        assert len(tiles) == 3
        for tile in tiles:
            value = tile.one("div", class_="value").text
            around = tile.one("div", class_="interval").text.split(" · ")[0]
            assert (value if around == "exact" else f"{value} ({around})") in rendered


@pytest.mark.parametrize(("name", "title"), [("speed-of-light", "Speed of Light"), ("energy", "Energy")])
def test_bars_are_those_of_the_text(pairs, name, title):
    for account, prediction in pairs:
        shown = bars(account, name)
        for line in text_rows(prediction, title):
            if line == BUSY_LEGEND:
                continue
            found = re.match(r"(\S.*?)\s+[█▏▎▍▌▋▊▉]*\s+(<?\d+) %(?:\s+(.*))?$", line)
            assert found, line
            assert shown[found[1]] == (found[2], found[3] or "")


def test_stalls_are_those_of_the_text(pairs):
    for account, prediction in pairs:
        shown = {label: share for label, (share, _) in bars(account, "stalls").items()}
        rows = "\n".join(text_rows(prediction, "Scheduler and Warp State"))
        for stall, share in shown.items():
            if stall != "Selected":
                assert re.search(rf"{stall}\s+[█▏▎▍▌▋▊▉]*\s+{share} %", rows), stall


def test_memory_table_is_that_of_the_text(pairs):
    for account, prediction in pairs:
        rows = [re.split(r"\s{2,}", line) for line in text_rows(prediction, "Memory")[1:-1]]
        shown = [
            [cell.text for cell in row.children] for row in section(account, "memory").one("tbody").all("tr")
        ]
        assert [[*row[:4], *filter(None, row[5:6])] for row in shown] == rows


def test_lines_are_those_of_the_text(pairs):
    for account, prediction in pairs:
        pattern = r"^(\d+)\s+[█▏▎▍▌▋▊▉]*\s+(<?\d+ %)\s+(<?\d+ %)"
        found = [re.match(pattern, line) for line in text_rows(prediction, "Source")]
        printed = {row[1]: [row[2], row[3]] for row in found if row}
        for row in section(account, "source").one("table", class_="lines-table").one("tbody").all("tr"):
            place, time, energy = (cell.text for cell in row.children[:3])
            number = place.split(" ")[0].rpartition(":")[2]
            assert printed[number] == [time, energy]


def test_embedded_tables_hold_the_numbers_of_the_json(predictions, data):
    for number, prediction in enumerate(predictions, start=1):
        document = prediction_document(prediction)
        tables = {
            name: data["plots"][f"prediction-{number}-{name}"]["rows"]
            for name in ("stalls", "energy", "source")
        }
        assert {row[0]: row[2] for row in tables["stalls"]} == {
            k: v for k, v in document["stalls"].items() if v
        }
        assert sorted(row[1] for row in tables["energy"]) == sorted(document["breakdown"]["energy"].values())
        for row, line in zip(tables["source"], document["lines"], strict=True):
            assert row[1:5] == [line["line"], line["text"], line["time_share"], line["energy_share"]]


def test_heat_of_source_rows_is_that_of_the_lines(predictions, data):
    for number, prediction in enumerate(predictions, start=1):
        column = data["columns"][f"prediction-{number}"][0]
        numbers = data["texts"][column["text"]]["numbers"]
        rows, shares = column["heats"]["Time"]
        shown = {int(numbers[row]): share for row, share in zip(rows, shares, strict=True)}
        wanted = {line.line: line.time_share for line in prediction.lines if line.time_share}
        assert shown.keys() == wanted.keys()
        assert all(math.isclose(shown[line], wanted[line], rel_tol=1e-5) for line in wanted)


def test_heat_of_instructions_adds_up(predictions, data):
    for number, prediction in enumerate(predictions, start=1):
        program = prediction.case.workload.execution.program
        for column in data["columns"][f"prediction-{number}"][1:]:
            analysed = (
                data["texts"][column["text"]]["title"] == f"{program.level.upper()} for {program.target}"
            )
            assert bool(column["heats"]) == analysed
            if analysed:
                assert math.isclose(
                    sum(column["heats"]["Time"][1]), sum(prediction.timing.shares), rel_tol=1e-4
                )
                stalls = [
                    sum(heat[1]) for name, heat in column["heats"].items() if name not in ("Time", "Energy")
                ]
                assert not stalls or math.isclose(sum(stalls), 1.0, rel_tol=1e-4)


def test_roofline_points_lie_at_their_intensities(predictions, data):
    for number, prediction in enumerate(predictions, start=1):
        workload = prediction.case.workload
        rows = data["plots"][f"prediction-{number}-roofline"]["rows"]
        points = {row[2]: row for row in rows if row[0] == "point"}
        for name, traffic in (("DRAM", workload.dram), ("L2", workload.l2), ("L1", workload.l1)):
            assert math.isclose(points[name][4], workload.execution.flops / traffic.total)
            assert math.isclose(points[name][5], workload.execution.flops / prediction.time.value)


def test_occupancy_curves_are_the_occupancy_code(predictions):
    """The whole curve, not only its edges: between two points of a step nothing changes."""
    for prediction in predictions:
        case = prediction.case
        registers, _, _ = report(prediction).occupancy
        assert registers.own.warps == occupancy(case.gpu, case.kernel.resources, case.launch).warps_per_sm
        values = [point.value for point in registers.points]
        for low, high in zip(registers.points, registers.points[1:], strict=False):
            middle = (low.value + high.value) // 2
            resources = type(case.kernel.resources)(**{**_fields(case.kernel.resources), "registers": middle})
            held = occupancy(case.gpu, resources, case.launch).warps_per_sm
            assert held in (low.warps, high.warps)
        assert values == sorted(set(values))


def _fields(resources):
    return {name: getattr(resources, name) for name in type(resources).__dataclass_fields__}
