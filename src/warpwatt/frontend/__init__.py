"""Front ends: each turns what the user brings into :class:`~warpwatt.core.program.Kernel` values.

Public names: ``load.load(path, target, options) -> tuple[Kernel, ...]``, ``load.load_kernel(path, target,
options, name) -> Kernel`` (translates only that one) and ``load.select(kernels, name)`` for files;
``objects.from_object(obj, target)`` for Triton, Numba and CuPy objects; ``options.CompileOptions`` and
``doctor.examine()``. Behind them ``toolchain`` and ``toolkits`` find compilers, ``cuda`` and ``nvrtc``
run them, ``binary`` reads compiled files.
"""
