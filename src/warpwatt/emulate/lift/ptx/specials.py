"""Special registers (PTX ISA, chapter 10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import SPECIALS, Type
from warpwatt.emulate.layout import ENVIRONMENT_BANK

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value

_KNOWN = frozenset(SPECIALS)


def read(builder: Builder, name: str) -> Value | None:
    """Return the value of a special register; None if the name is none.

    ``%clock_hi`` and the like are halves of the 64-bit ones. ``%envreg``s are what the driver says to the
    runtime's own device code: cooperative groups find the grid's workspace by them.
    """
    if name[0] != "%":
        return builder.i32(32) if name == "WARP_SZ" else None
    plain = name[1:]
    if plain in _KNOWN:
        return builder.special(plain)
    make = _COMPUTED.get(plain)
    if make is not None:
        return make(builder)
    if plain.startswith("envreg"):
        return builder.constant(ENVIRONMENT_BANK, 4 * int(plain[6:]), Type.I32)
    if plain in _ZERO:
        return builder.i32(0)
    return None


def _bit(builder: Builder) -> Value:
    return builder.shl(builder.i32(1), builder.lane())


def _below(builder: Builder) -> Value:
    return builder.sub(_bit(builder), builder.i32(1))


def _up_to(builder: Builder) -> Value:
    return builder.or_(_bit(builder), _below(builder))


def _half(name: str, shift: int) -> Callable[[Builder], Value]:
    return lambda b: b.trunc(b.lshr(b.special(name), shift), Type.I32)


_COMPUTED: dict[str, Callable[[Builder], Value]] = {
    "laneid": lambda b: b.lane(),
    "lanemask_eq": _bit,
    "lanemask_lt": _below,
    "lanemask_le": _up_to,
    "lanemask_gt": lambda b: b.not_(_up_to(b)),
    "lanemask_ge": lambda b: b.not_(_below(b)),
    "clock_hi": _half("clock64", 32),
    "globaltimer_lo": _half("globaltimer", 0),
    "globaltimer_hi": _half("globaltimer", 32),
    "aggr_smem_size": lambda b: b.special("total_smem_size"),
}
_ZERO = frozenset({"current_graph_exec", "is_explicit_cluster", "reserved_smem_offset_begin"})
