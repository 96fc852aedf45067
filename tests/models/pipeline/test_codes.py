"""The simulator's codes are those of the native core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warpwatt.models.pipeline import codes
from warpwatt.models.pipeline.simulator import Counters, record_type
from warpwatt.native.records import codes as native_codes

if TYPE_CHECKING:
    from enum import IntEnum

NAMES: dict[str, type[IntEnum]] = {
    "Stall": codes.Reason,
    "Operation": codes.Operation,
    "Traffic": codes.Traffic,
    "Pipe": codes.Pipe,
    "SmPipe": codes.SmPipe,
    "IssueOrder": codes.IssueOrder,
}


@pytest.mark.parametrize("native", NAMES)
def test_names_and_values_are_those_of_the_native_core(native: str) -> None:
    assert {c.name.lower(): c.value for c in NAMES[native]} == native_codes("sm_codes")[native]


def test_counters_are_those_of_the_native_core() -> None:
    assert record_type("Counters").names == Counters._fields
