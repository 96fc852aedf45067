"""Constant bank 0 of machine code ahead of the kernel's parameters: launch dimensions, stack, windows.

Public name: ``launch_constants(target, launch, stack, sms) -> bytearray``. Offsets: ``constants.toml``.
"""

from __future__ import annotations

import struct
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.launch import Launch
from warpwatt.emulate.layout import GRID_WORKSPACE_SLOT, LOCAL_SLOT, PARAMETER_SLOT, SHARED_SLOT, SLOT_BITS

_WINDOWS = {"shared": SHARED_SLOT, "local": LOCAL_SLOT, "parameters": PARAMETER_SLOT}


@dataclass(frozen=True, slots=True)
class Layout:
    """Byte offsets of what the driver writes, by name: words, 64-bit windows, floats 1/n."""

    words: Mapping[str, int]
    windows: Mapping[str, int]
    reciprocals: Mapping[str, int]
    first_parameter: int = 0


@cache
def _layouts() -> dict[int, Layout]:
    """Return the layout of each architecture by number."""
    text = (files("warpwatt.emulate.lift.sass") / "constants.toml").read_text("utf-8")
    return {
        target: Layout(row["words"], row["windows"], row["reciprocals"], row.get("first_parameter", 0))
        for row in tomllib.loads(text).values()
        for target in row["targets"]
    }


def launch_constants(target: str, launch: Launch, stack: int, sms: int = 132) -> bytearray:
    """Return the start of bank 0 for a launch on ``target``; parameters are the caller's to write behind it.

    ``stack`` is where the stack begins, its size, since it grows downwards; ``sms`` the number of SMs shown.

    Raises
    ------
    UnsupportedGpuError
        If the target's layout is not known.

    >>> from warpwatt.core.launch import Dim3, Launch
    >>> launch_constants("sm_90", Launch(Dim3(7), Dim3(32, 4)), 0)[:16].hex()
    '20000000040000000100000007000000'
    """
    layout = _layouts().get(int("".join(c for c in target if c.isdigit()) or 0))
    if layout is None:
        raise UnsupportedGpuError(
            f"the constant bank of {target} is not known", hint="emulate at --level ptx, or another target"
        )
    values = {**_dimensions(launch), **environment(launch), "stack": stack, "nsmid": sms, "gridid": 1}
    bank = bytearray(max((*layout.words.values(), *layout.windows.values())) + 8)
    for name, offset in layout.words.items():
        struct.pack_into("<I", bank, offset, values[name])
    for name, offset in layout.windows.items():
        within = layout.first_parameter if name == "parameters" else 0
        struct.pack_into("<Q", bank, offset, (_WINDOWS[name] << SLOT_BITS) + within)
    for name, offset in layout.reciprocals.items():
        struct.pack_into("<f", bank, offset, 1 / values[name])
    return bank


def parameter_window(target: str) -> int | None:
    """Return where bank 0 holds the generic address of the parameters; None if a target has no such word."""
    layout = _layouts().get(int("".join(c for c in target if c.isdigit()) or 0))
    return None if layout is None else layout.windows.get("parameters")


def stack_word(target: str) -> int | None:
    """Return where bank 0 holds the start of a thread's stack.

    >>> hex(stack_word("sm_90") or 0)
    '0x28'
    """
    layout = _layouts().get(int("".join(c for c in target if c.isdigit()) or 0))
    return None if layout is None else layout.words["stack"]


def window_words(target: str) -> dict[int, str]:
    """Return the 32-bit words of bank 0 that hold the windows of shared and of local memory.

    >>> window_words("sm_86")
    {24: 'shared', 28: 'shared', 32: 'local', 36: 'local'}
    """
    layout = _layouts().get(int("".join(c for c in target if c.isdigit()) or 0))
    windows = {} if layout is None else layout.windows
    return {at + half: name for name, at in windows.items() if name != "parameters" for half in (0, 4)}


def environment(launch: Launch) -> dict[str, int]:
    """Return the environment registers: the upper and lower word of the address of the grid's workspace.

    Only cooperative launches have one (``get_grid_workspace`` in CUDA's
    ``cooperative_groups/details/driver_abi.h``).
    """
    address = GRID_WORKSPACE_SLOT << SLOT_BITS if launch.cooperative else 0
    return {"envreg1": address >> 32, "envreg2": address & 0xFFFFFFFF}


def _dimensions(launch: Launch) -> dict[str, int]:
    """Return the launch's dimensions by the names of the special registers."""
    values = {"dynamic_smem_size": launch.dynamic_shared, "cluster_nctarank": launch.cluster.count}
    for axis in "xyz":
        grid, cluster = getattr(launch.grid, axis), getattr(launch.cluster, axis)
        values[f"ntid.{axis}"] = getattr(launch.block, axis)
        values[f"nctaid.{axis}"] = grid
        values[f"cluster_nctaid.{axis}"] = cluster
        values[f"nclusterid.{axis}"] = grid // cluster
    return values
