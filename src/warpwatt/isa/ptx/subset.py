"""One kernel of a large module, with everything it may need and nothing of the other kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.isa.ptx.syntax import Function, Section

if TYPE_CHECKING:
    from warpwatt.isa.ptx.syntax import Item, Module


def only(module: Module, entry: str) -> Module:
    """Return the module without its other kernels and without debug sections, which refer to them.

    >>> from warpwatt.isa.ptx import entries, parse
    >>> text = ".version 8.0 .target sm_75 .entry a() { ret; } .func f() { ret; } .entry b() { ret; }"
    >>> [item.name for item in only(parse(text), "b").functions]
    ['f', 'b']
    """
    return replace(module, items=tuple(item for item in module.items if _needed(item, entry)))


def _needed(item: Item, entry: str) -> bool:
    if isinstance(item, Function) and item.is_entry:
        return item.name == entry
    return not isinstance(item, Section)
