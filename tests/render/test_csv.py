import csv
import dataclasses
import io

from warpwatt.render import csv as csv_renderer
from warpwatt.render.context import Context


def test_one_row_per_prediction_with_units_in_the_names(saxpy, matmul):
    text = csv_renderer.render([*saxpy, *matmul], Context())
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [r["gpu"] for r in rows] == ["NVIDIA H200", "NVIDIA A100-SXM4-40GB"] * 2
    assert float(rows[0]["time_s"]) == saxpy[0].time.value
    assert float(rows[0]["energy_low_j"]) == saxpy[0].energy.low
    assert rows[3]["limited_by_power"] == "1"


def test_columns_are_those_of_every_row_in_order(matmul):
    assert tuple(csv_renderer.row(matmul[0], Context())) == csv_renderer.COLUMNS


def test_rfc_4180_quotes_commas_and_quotes(saxpy):
    kernel = dataclasses.replace(saxpy[0].case.kernel, demangled='f("a", 1)\nint')
    prediction = dataclasses.replace(saxpy[0], case=dataclasses.replace(saxpy[0].case, kernel=kernel))
    text = csv_renderer.render([prediction], Context())
    assert '"f(""a"", 1)\nint",NVIDIA H200' in text
    assert text.count("\r\n") == 2


def test_text_is_never_a_formula(saxpy):
    kernel = dataclasses.replace(saxpy[0].case.kernel, demangled="=HYPERLINK(1)")
    prediction = dataclasses.replace(saxpy[0], case=dataclasses.replace(saxpy[0].case, kernel=kernel))
    rows = list(csv.DictReader(io.StringIO(csv_renderer.render([prediction], Context()))))
    assert rows[0]["kernel"] == "'=HYPERLINK(1)"


def test_what_emulation_found_stands_behind_the_totals(saxpy):
    (row,) = csv.DictReader(io.StringIO(csv_renderer.render(saxpy[:1], Context())))
    assert (row["level"], row["method"], row["blocks_run"]) == ("ptx", "emulated", "24")
    first = row["accesses"].partition(";")[0]
    assert first == "6 x read: requests=524288 lanes=32 sectors=4/4 stride=4 l1=0 l2=0 dram=6.71089e+07"
