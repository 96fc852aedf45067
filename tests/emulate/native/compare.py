"""The engines on one routine, as steps and as machine code: everything they return must be equal."""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulate import reference
from warpwatt.emulate import native
from warpwatt.emulate.native import engine
from warpwatt.emulate.run import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Context, Run


NATIVE_ONLY = frozenset({"access_barrier", "access_change", "hazards"})
"""What the reference lacks: barrier objects, and a look at races."""


def differences(ours: Any, theirs: Any, path: str = "") -> list[str]:
    """Return where two values of the same type differ, field by field."""
    if dataclasses.is_dataclass(ours) and not isinstance(ours, type) and type(ours) is type(theirs):
        return [
            text
            for field in dataclasses.fields(ours)
            if field.name not in NATIVE_ONLY
            for text in differences(
                getattr(ours, field.name), getattr(theirs, field.name), f"{path}.{field.name}"
            )
        ]
    if isinstance(ours, np.ndarray):
        if ours.shape == theirs.shape and (ours == theirs).all():
            return []
        return [f"{path}: native {ours.tolist()} reference {theirs.tolist()}"]
    return [] if ours == theirs else [f"{path}: native {ours} reference {theirs}"]


def memory_differences(ours: DeviceMemory, theirs: DeviceMemory) -> list[str]:
    """Return the slots whose bytes differ."""
    return [
        f"slot {slot}: {np.flatnonzero(ours.bytes_of(slot) != theirs.bytes_of(slot))[:8].tolist()}"
        for slot in np.flatnonzero(ours.sizes).tolist()
        if (ours.bytes_of(slot) != theirs.bytes_of(slot)).any()
    ]


@contextmanager
def machine_code() -> Iterator[None]:
    """Have the native engine compile every routine in the body."""
    written, engine.written = engine.written, lambda _, **__: None  # type: ignore[assignment]
    try:
        yield
    finally:
        engine.written = written


def compare(
    routine: Routine, make: Callable[[], tuple[Context, DeviceMemory]], blocks: Sequence[int],
    limits: Limits | None = None, *, record: bool = True,
) -> Run:  # fmt: skip
    """Run on all engines, assert that all they return is equal, and return it."""
    context, theirs = make()
    reference_run = reference.run(routine, context, theirs, blocks, limits or Limits(), record=record)
    runs = []
    for how in (nullcontext(), machine_code()):
        context, ours = make()
        with how:
            native_run = native.run(routine, context, ours, blocks, limits or Limits(), record=record)
        found = differences(native_run, reference_run)
        if native_run.fault is not None:  # guards behind the fault, in its basic block, have counted or not
            found = [text for text in found if not text.startswith(".lanes")]
        assert not found, "\n".join(found)
        different = memory_differences(ours, theirs)
        assert not different, "\n".join(different)
        runs.append(native_run)
    return runs[0]
