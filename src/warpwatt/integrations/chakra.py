"""Kernel times for cluster simulators: a Chakra execution trace, which ASTRA-sim reads.

::

    python -m warpwatt.integrations.chakra kernels.cu --gpu h200 -o workload.0.et

One computation node per launch that the source describes, each behind the one before. Written as
``schema/protobuf/et_def.proto`` of github.com/mlcommons/chakra (commit 21585d8) says: messages behind their
lengths, the first one ``GlobalMetadata``.
"""

from __future__ import annotations

import argparse
import struct
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from warpwatt.api import predict_all
from warpwatt.core.prediction import Prediction
from warpwatt.core.version import __version__

SCHEMA = "0.0.4"
"""What Chakra's own converters write as the version."""
MICRO = 1e6
VARINT, DOUBLE, BYTES = 0, 1, 2
"""Wire types of Protocol Buffers."""
COMP_NODE = 4
ID, NAME, TYPE, DATA_DEPS, DURATION, ATTRIBUTE = 1, 2, 3, 5, 7, 10
"""Field numbers of ``Node``."""
DOUBLE_VALUE, UINT64_VALUE, BOOL_VALUE, STRING_VALUE = 3, 13, 27, 29
"""Field numbers of ``AttributeProto``'s value."""


def main(words: Sequence[str] = ()) -> None:
    """Predict every launch that a source describes and write the trace of one device."""
    parser = argparse.ArgumentParser(description="predict kernels as a Chakra execution trace")
    parser.add_argument("source", type=Path)
    parser.add_argument("--gpu", default="h200")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="NAME.RANK.et, as ASTRA-sim looks for it"
    )
    options = parser.parse_args(list(words))
    options.output.write_bytes(trace(predict_all(options.source, gpu=options.gpu)))


def trace(predictions: Iterable[Prediction]) -> bytes:
    """Return the predictions as an execution trace, in their order; durations in whole microseconds, upwards.

    The exact time stands beside as ``duration_s``, the energy as ``energy_j``.
    """
    head = _field(1, SCHEMA) + _field(2, _attribute("generator", STRING_VALUE, f"warpwatt {__version__}"))
    nodes = [_node(number, prediction) for number, prediction in enumerate(predictions)]
    return b"".join(_varint(len(message)) + message for message in (head, *nodes))


def _node(number: int, p: Prediction) -> bytes:
    attributes = (
        _attribute("is_cpu_op", BOOL_VALUE, value=False),
        _attribute("num_ops", UINT64_VALUE, round(p.case.workload.execution.flops)),
        _attribute("tensor_size", UINT64_VALUE, round(p.case.workload.dram.total)),
        _attribute("duration_s", DOUBLE_VALUE, p.time.value),
        _attribute("energy_j", DOUBLE_VALUE, p.energy.value),
    )
    return b"".join((
        _field(ID, number),
        _field(NAME, p.kernel_name),
        _field(TYPE, COMP_NODE),
        _field(DATA_DEPS, _varint(number - 1)) if number else b"",
        _field(DURATION, -int(-p.time.value * MICRO // 1)),
        *(_field(ATTRIBUTE, attribute) for attribute in attributes),
    ))  # fmt: skip


def _attribute(name: str, kind: int, value: float | str | bool) -> bytes:
    return _field(1, name) + _field(kind, value)


def _field(number: int, value: float | str | bytes | bool) -> bytes:
    """Return one field: whole numbers and truth values as varints, floats as doubles, else with a length."""
    if isinstance(value, float):
        return _varint(number << 3 | DOUBLE) + struct.pack("<d", value)
    if isinstance(value, int):
        return _varint(number << 3 | VARINT) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | BYTES) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first.

    >>> _varint(300).hex()
    'ac02'
    """
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


if __name__ == "__main__":
    main(sys.argv[1:])
