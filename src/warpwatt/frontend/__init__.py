"""Front ends: each turns what the user brings into :class:`~warpwatt.core.program.Kernel` values.

Public names: ``load(source, options) -> Kernels`` for files, ``from_object(obj, options)`` for Triton, Numba
and CuPy objects; ``toolchain`` finds compilers, ``cache`` keeps their results.
"""
