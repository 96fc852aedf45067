"""LLVM text to object code, object code to callable addresses.

Object code is a kernel in another form: it is kept on disk only for users who ask for that (decision 0007).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import llvmlite  # type: ignore[import-untyped]  # ships no type information
import llvmlite.binding as llvm  # type: ignore[import-untyped]

from warpwatt.storage.cache import default_cache, digest

KEEP = "WARPWATT_KEEP_TRANSLATIONS"
"""Variable of the environment by which users ask that object code is kept."""
_C_FUNCTIONS = (
    "memcpy",
    "memmove",
    "memset",
    "fesetround",
    "fma",
    "fmaf",
    "exp",
    "exp2",
    "pow",
    "log2",
    "sin",
    "cos",
    "tanh",
    "floor",
    "floorf",
    "ceil",
    "ceilf",
    "trunc",
    "truncf",
    "nearbyint",
    "nearbyintf",
    "sqrt",
    "sqrtf",
)  # fmt: skip
"""What generated code may call from the C library."""


def target_machine(level: int) -> llvm.TargetMachine:
    """Return a code generator for this machine; ``level`` 0 compiles fastest, 3 runs fastest."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    cpu, features = host()
    # Sections are put wherever memory is free, perhaps behind a reserved buffer of 80 GB: references between
    # them need 64 bits.
    return target.create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="static", codemodel="large"
    )


@cache
def host() -> tuple[str, str]:
    """Return this processor's name and features, as LLVM writes them."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def identity() -> bytes:
    """Return what object code depends on besides its source: LLVM and the processor."""
    return "\n".join((llvmlite.__version__, llvm.get_process_triple(), *host())).encode()


def compile_text(text: str, level: int = 0, *, optimise: bool = False) -> bytes:
    """Return object code of LLVM assembly; where :data:`KEEP` is set, from the disk cache if it is there.

    ``level`` is that of code generation. ``optimise`` runs LLVM's passes of the same level before.
    """
    keeps = os.environ.get(KEEP, "") not in ("", "0")
    key = digest(b"llvm 2", identity(), bytes([level, *[1] * optimise]), text.encode())
    cache_ = default_cache()
    found = cache_.get(key) if keeps else None
    if found is None:
        machine = target_machine(level)
        module = llvm.parse_assembly(text)
        module.verify()
        if optimise:
            _optimise(module, machine, level)
        found = bytes(machine.emit_object(module))
        if keeps:
            cache_.put(key, found)
    return found


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine, level: int) -> None:
    """Run the passes of a level; lanes are side by side in vectors already."""
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = options.loop_interleaving = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """Object code in memory, ready to be called; keep it alive as long as its addresses are used."""

    engine: llvm.ExecutionEngine

    def address(self, name: str) -> int:
        """Return the address of a function.

        Raises
        ------
        KeyError
            If there is none of that name.
        """
        address: int = self.engine.get_function_address(name)
        if not address:
            raise KeyError(name)
        return address


def load(objects: Sequence[bytes], symbols: Mapping[str, int] | None = None) -> Code:
    """Link object code with itself, ``symbols`` (addresses by name) and the C library, and load it.

    >>> text = "define i64 @twice(i64 %x) { %y = add i64 %x, %x  ret i64 %y }"
    >>> code = load([compile_text(text)])
    >>> function(code.address("twice"), 1)(21)
    42
    """
    _publish_c_library()
    for name, address in (symbols or {}).items():
        llvm.add_symbol(name, address)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine(0))
    for data in objects:
        engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return Code(engine)


def function(address: int, arguments: int) -> ctypes._CFunctionType:
    """Return a Python callable of a native function that takes and returns 64-bit integers."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * arguments)(address)


@cache
def _publish_c_library() -> None:
    """Tell LLVM where the C library's functions are; the process may not export them."""
    process = ctypes.CDLL(None)
    for name in _C_FUNCTIONS:
        entry = getattr(process, name, None) or getattr(_libm(), name)
        address = ctypes.cast(entry, ctypes.c_void_p).value
        llvm.add_symbol(name, address)


@cache
def _libm() -> ctypes.CDLL:
    """Return the mathematical library where it is one of its own."""
    from ctypes.util import find_library  # which loads what starts processes

    return ctypes.CDLL(find_library("m"))
