"""Predictions as Nsight Compute prints them, read back by our reader of profiles, by scripts' formulas."""

from __future__ import annotations

import csv
import io
import json
import math

import jsonschema
import pytest

from warpwatt.core.estimate import Source
from warpwatt.core.program import Unit
from warpwatt.frontend.profiles.reading import read_profiles
from warpwatt.models.bounds import unit_flops
from warpwatt.render.context import Context
from warpwatt.render.ncu import csv as tables
from warpwatt.render.ncu import json as document
from warpwatt.render.ncu.metrics import metrics

RENDERERS = {"raw": tables.render, "details": tables.render_details}


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("page", RENDERERS)
def test_the_reader_of_profiles_reads_what_was_predicted(page, saxpy, tmp_path):
    file = tmp_path / "ncu.csv"
    for prediction in saxpy:
        file.write_text(RENDERERS[page]([prediction], Context()))
        (read,) = read_profiles(file, prediction.case.gpu)
        assert read.time == pytest.approx(prediction.time.value, rel=1e-4)
        assert read.clocks.sm == pytest.approx(prediction.case.clocks.sm)
        assert (read.launch.grid, read.launch.block) == (
            prediction.case.launch.grid,
            prediction.case.launch.block,
        )
        assert read.counters["dram__bytes.sum"] == pytest.approx(prediction.case.workload.dram.total, abs=1)
        assert read.kernel == prediction.kernel_name
        assert read.source is Source.MODELLED
        file.write_text(RENDERERS[page]([prediction], Context()).replace('"warpwatt"', '"app"'))
        assert read_profiles(file, prediction.case.gpu)[0].source is Source.MEASURED


def test_units_stand_in_the_second_line_of_the_raw_page(matmul):
    units, *launches = rows(tables.render(matmul, Context()))
    assert units["ID"] == units["Kernel Name"] == ""
    assert units["gpu__time_duration.sum"] == "ns"
    assert [row["ID"] for row in launches] == ["0", "1"]
    assert launches[0]["device__attribute_display_name"] == matmul[0].case.gpu.name


def test_nsights_formula_gives_the_operations(saxpy, matmul):
    """Additions + multiplications + 2 fused multiply-adds, as scripts that draw rooflines count."""
    letters = {Unit.FP16: "h", Unit.FP32: "f", Unit.FP64: "d"}
    for prediction in (*saxpy, *matmul):
        named = {m.name: m.value for m in metrics(prediction) if not isinstance(m.value, str)}
        for unit, letter in letters.items():
            add, mul, fma = (
                named[f"sm__sass_thread_inst_executed_op_{letter}{kind}_pred_on.sum"]
                for kind in ("add", "mul", "fma")
            )
            execution = prediction.case.workload.execution
            assert add + mul + 2 * fma == pytest.approx(unit_flops(execution).get(unit, 0.0), abs=2)


def test_every_row_of_the_details_page_is_a_number_under_one_name(saxpy):
    """Scripts pivot by metric name: a name that came twice, or a text, would spoil their sums."""
    found = [row for row in rows(tables.render_details(saxpy, Context())) if row["ID"] == "0"]
    names = [row["Metric Name"] for row in found]
    assert len(set(names)) == len(names)
    assert all(math.isfinite(float(row["Metric Value"])) for row in found)
    assert {"Duration", "gpu__time_duration.sum", "Achieved Occupancy"} - set(names) <= {"Achieved Occupancy"}


def test_json_follows_its_schema_and_says_what_the_raw_page_says(saxpy):
    found = json.loads(document.render(saxpy, Context()))
    jsonschema.Draft202012Validator.check_schema(document.SCHEMA.load())
    jsonschema.validate(found, document.SCHEMA.load())
    raw = rows(tables.render(saxpy, Context()))[1]
    first = found["launches"][0]
    assert first["Grid Size"] == raw["Grid Size"]
    assert first["metrics"]["dram__bytes.sum"]["value"] == int(raw["dram__bytes.sum"])
