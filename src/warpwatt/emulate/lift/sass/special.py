"""Special registers: what a thread may ask about itself, the block, the SM and the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type, Value
from warpwatt.emulate.lift.sass.operands import Unsupported

if TYPE_CHECKING:
    from warpwatt.emulate.lift.sass.operands import Step

_PLAIN = {
    "SR_TID.X": "tid.x", "SR_TID.Y": "tid.y", "SR_TID.Z": "tid.z",
    "SR_CTAID.X": "ctaid.x", "SR_CTAID.Y": "ctaid.y", "SR_CTAID.Z": "ctaid.z",
    "SR_NTID.X": "ntid.x", "SR_NTID.Y": "ntid.y", "SR_NTID.Z": "ntid.z",
    "SR_NCTAID.X": "nctaid.x", "SR_NCTAID.Y": "nctaid.y", "SR_NCTAID.Z": "nctaid.z",
    "SR_CgaCtaId": "cluster_ctarank", "SR_VIRTUALSMID": "smid", "SR_CLOCKLO": "clock",
    "SR_SMEMSZ": "total_smem_size",
}  # fmt: skip
"""Special register -> name in :data:`~warpwatt.emulate.ir.SPECIALS`."""
_WINDOWS = {"SR_SWINHI": 0xF000, "SR_LWINHI": 0xF100}
_SHIFTED = {"SR_VIRTID": "warpid", "SR_VIRTCFG": "nwarpid"}
"""Registers of several fields; the one from bit 8 on is all that compiled code was seen to use."""
_WIDE = {"SR_CLOCKLO": "clock64", "SR_GLOBALTIMERLO": "globaltimer"}


def special_value(step: Step, name: str, *, wide: bool = False) -> Value:
    """Return a special register's value, 64 bits where ``wide``.

    Raises
    ------
    Unsupported
        If the register is not known here.
    """
    b = step.b
    if name in _WIDE and wide:
        return b.special(_WIDE[name])
    if wide:
        return b.zext(special_value(step, name), Type.I64)
    if name == "SR_LANEID":
        return b.lane()
    if name in ("SRZ", "SR_CgaSize"):  # the latter picks a set of constants in bank 0: we write but one
        return b.i32(0)
    if name in _SHIFTED:
        return b.shl(b.special(_SHIFTED[name]), 8)
    if name in _PLAIN:
        return b.special(_PLAIN[name])
    if name in _WINDOWS:
        return b.i32(_WINDOWS[name])
    if name in ("SR_CLOCKHI", "SR_GLOBALTIMERHI"):
        return b.halves(b.special(_WIDE[name[:-2] + "LO"]))[1]
    if name == "SR_GLOBALTIMERLO":
        return b.halves(b.special("globaltimer"))[0]
    return _lane_mask(step, name)


def _lane_mask(step: Step, name: str) -> Value:
    """Return the mask of lanes that are equal to, less or greater than the own."""
    b = step.b
    own = b.shl(b.i32(1), b.lane())
    below = b.sub(own, b.i32(1))
    masks = {
        "SR_EQMASK": own,
        "SR_LTMASK": below,
        "SR_LEMASK": b.or_(own, below),
        "SR_GEMASK": b.not_(below),
        "SR_GTMASK": b.op(Op.XOR, b.not_(below), own),
    }
    if name not in masks:
        raise Unsupported(f"special register {name}")
    return masks[name]
