"""Sequential C99 in, loop nests out: the front end of the Resios system (MSc thesis 2011, chapter 6).

Public names: :func:`read_function` and the value it returns, :class:`Function`; ``UnportableError`` for what
cannot be ported. :mod:`~warpwatt.published.resios.c_loops.bound` gives sizes to its parameters,
:mod:`~warpwatt.published.resios.c_loops.dependence` tells which loops are data parallel,
:mod:`~warpwatt.published.resios.c_loops.cuda` writes kernels.
"""

from warpwatt.published.resios.c_loops.nest import Function
from warpwatt.published.resios.c_loops.read import read_function
from warpwatt.published.resios.c_loops.refuse import UnportableError

__all__ = ["Function", "UnportableError", "read_function"]
