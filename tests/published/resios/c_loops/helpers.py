"""C text to loop nests, in one call."""

from __future__ import annotations

from warpwatt.frontend.compiled import Source
from warpwatt.published.resios.c_loops.bound import bound
from warpwatt.published.resios.c_loops.mapping import mapped
from warpwatt.published.resios.c_loops.read import read_function


def function(text, name=""):
    return read_function(Source("loops.c", text.encode()), name)


def bind(text, **values):
    return bound(function(text), values)


def mapping(text, **values):
    found = bind(text, **values)
    return found, mapped(found, found.nests[0])
