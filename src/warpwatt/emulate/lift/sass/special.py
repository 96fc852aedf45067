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
_FIXED = {"SRZ": 0, "SR_CgaSize": 0, "SR_SWINHI": 0xF000, "SR_LWINHI": 0xF100}
"""Upper words of the windows; SR_CgaSize picks a set of constants in bank 0, of which we write but one."""
_HALVES = {
    "SR_CLOCKHI": ("clock64", 1),
    "SR_GLOBALTIMERLO": ("globaltimer", 0),
    "SR_GLOBALTIMERHI": ("globaltimer", 1),
}
"""Special register -> 64-bit special value, and which of its words."""
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
    if wide:
        return b.special(_WIDE[name]) if name in _WIDE else b.zext(special_value(step, name), Type.I64)
    if name in _FIXED:
        return b.i32(_FIXED[name])
    if name in _PLAIN:
        return b.special(_PLAIN[name])
    if name in _SHIFTED:
        return b.shl(b.special(_SHIFTED[name]), 8)
    if name in _HALVES:
        return b.halves(b.special(_HALVES[name][0]))[_HALVES[name][1]]
    return _lane_mask(step, name)


def _lane_mask(step: Step, name: str) -> Value:
    """Return the lane's number, or the mask of lanes equal to, less or greater than it."""
    b = step.b
    own = b.shl(b.i32(1), b.lane())
    below = b.sub(own, b.i32(1))
    masks = {
        "SR_LANEID": b.lane(),
        "SR_EQMASK": own,
        "SR_LTMASK": below,
        "SR_LEMASK": b.or_(own, below),
        "SR_GEMASK": b.not_(below),
        "SR_GTMASK": b.op(Op.XOR, b.not_(below), own),
    }
    if name not in masks:
        raise Unsupported(f"special register {name}")
    return masks[name]
