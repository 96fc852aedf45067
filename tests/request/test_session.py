"""One process answers the same question once: what is compiled, executed and simulated is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import warpwatt

if TYPE_CHECKING:
    from pathlib import Path

    from warpwatt.core.prediction import Prediction

COUNT = """__global__ void count(const int *trips, float *out) {
    float sum = out[threadIdx.x];
    for (int i = 0; i < trips[blockIdx.x]; ++i) sum = sum * 1.5f + 1.0f;
    out[threadIdx.x] = sum;
}
"""


def _predicted(source: Path, trips: Path) -> Prediction:
    arguments = {"trips": f"i32[64]:{trips}", "out": "f32[64]"}
    return warpwatt.predict(str(source), grid=64, block=64, args=arguments, gpu="t4")


def test_a_question_is_answered_once_until_a_file_changes(tmp_path: Path) -> None:
    source, trips = tmp_path / "count.cu", tmp_path / "trips.npy"
    source.write_text(COUNT)
    np.save(trips, np.full(64, 10, np.int32))
    first = _predicted(source, trips)
    again = _predicted(source, trips)
    assert again.case.workload is first.case.workload
    assert again.timing is first.timing

    np.save(trips, np.full(64, 1000, np.int32))
    longer = _predicted(source, trips)
    assert (
        longer.case.workload.execution.warp_instructions
        > 10 * first.case.workload.execution.warp_instructions
    )

    source.write_text(COUNT.replace("1.5f", "2.5f * sum"))
    other = _predicted(source, trips)
    assert other.case.workload is not longer.case.workload
    assert other.case.workload.execution.warp_instructions > longer.case.workload.execution.warp_instructions
