"""How to compile: everything a user may pass on to the compilers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from warpwatt.core.program import Level

TIMEOUT_SECONDS = 300.0
MEMORY_BYTES = 16 * 2**30
"""Address space of one compiler process."""


class Compiler(StrEnum):
    """Which compiler turns CUDA C++ into PTX."""

    AUTO = "auto"
    """nvcc where it is installed and a host compiler exists, else NVRTC."""
    NVCC = "nvcc"
    NVRTC = "nvrtc"
    CONFIGURATION = "configuration"
    """As AUTO, of one of many configurations: NVRTC where it makes nvcc's machine code of the first ones."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of a compilation; two equal values give the same result for the same source.

    Attributes
    ----------
    defines
        Macros, ``NAME`` or ``NAME=VALUE``.
    include
        Folders searched for headers, in order.
    flags
        Further compiler flags, passed on as they are.
    max_registers
        Registers per thread the compiler may use at most (``-maxrregcount``), or None.
    toolkit
        Version of the period toolkit (``12.3``); empty: the one beside us, where it covers the target.
    compiler
        Which compiler to use.
    instantiate
        Template instances to compile that the source itself does not name, such as ``axpy<float>``.
    levels
        Levels the kernels shall hold. Without SASS the disassembler, the slowest tool, does not run.
    cached
        Whether results are taken from and put into the cache.
    timeout, memory
        Limits of each compiler process: seconds and bytes of address space.
    untrusted, pasting
        ``untrusted``: the source must not reach a file of this machine: NVRTC alone, headers
        as texts (:mod:`~warpwatt.frontend.untrusted`). ``pasting``: it may nevertheless paste names with
        ``##``, because the system itself keeps files from NVRTC.
    """

    defines: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    max_registers: int | None = None
    toolkit: str = ""
    compiler: Compiler = Compiler.AUTO
    instantiate: tuple[str, ...] = ()
    levels: frozenset[Level] = frozenset({Level.PTX, Level.SASS})
    cached: bool = True
    timeout: float = TIMEOUT_SECONDS
    memory: int = MEMORY_BYTES
    untrusted: bool = False
    pasting: bool = True
