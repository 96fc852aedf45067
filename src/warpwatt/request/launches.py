"""The launches that words ask for: the user's, laid over a file's and over the source's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.arguments import DType, Scalar
from warpwatt.core.errors import ArgumentError, UsageError
from warpwatt.core.toml import read_toml
from warpwatt.frontend.signatures import signature
from warpwatt.request.directives import read_directives
from warpwatt.request.launch_text import from_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.core.launch import Launch
    from warpwatt.core.program import Kernel
    from warpwatt.frontend.compiled import Source
    from warpwatt.request.launch_text import LaunchText, Request

_ELEMENTS = {
    "double": DType.F64, "int": DType.I32, "unsigned int": DType.U32, "long": DType.I64,
    "unsigned long": DType.U64, "short": DType.I16, "char": DType.I8, "unsigned char": DType.U8,
    "__half": DType.F16, "__nv_bfloat16": DType.BF16,
    "__nv_fp8_e4m3": DType.E4M3, "__nv_fp8_e5m2": DType.E5M2,
}  # fmt: skip


def requests(
    source: Source, launch: LaunchText, beside: Source | None = None, defines: Sequence[str] = ()
) -> tuple[Request, ...]:
    """Return the launches to predict, read (see :func:`launch_texts`).

    ``defines`` are the macros of the compilation, ``NAME=VALUE``: sizes may name them.
    """
    try:
        return tuple(text.read(defines) for text in launch_texts(source, launch, beside))
    except UsageError as error:
        # Imported here because a run that has its launch, which must start fast, needs none of it.
        from warpwatt.request.example_launch import with_example

        raise with_example(error, source, launch) from None


def check_pointers(kernel: Kernel, launch: Launch) -> None:
    """Check that no number is given for a pointer, as the kernel's signature tells them.

    Raises
    ------
    ArgumentError
        If one is, other than 0; it says how to write a buffer.
    """
    types = signature(kernel.demangled)
    parameters = kernel.ptx.parameters if kernel.ptx else kernel.sass.parameters if kernel.sass else ()
    if len(types) != len(parameters):
        return
    for index, (parameter, kind) in enumerate(zip(parameters, types, strict=True)):
        name = parameter.source_name or str(index)
        given = launch.arguments.get(name)
        if kind.endswith("*") and isinstance(given, Scalar) and given.value != 0:
            raise ArgumentError(
                f"argument {name!r} is a pointer ({kind}), and a number is given: {given.value}",
                hint=f"write a buffer: --arg {name}={_element(kind)}[{given.value:g}]",
            )


def _element(kind: str) -> str:
    """Return the element type a pointer suggests; f32 for one that is not known."""
    base = kind.rstrip("*").removesuffix("const").strip()
    return _ELEMENTS.get(base, DType.F32)


def launch_texts(source: Source, launch: LaunchText, beside: Source | None = None) -> tuple[LaunchText, ...]:
    """Return the launches to predict in words: the command line's over a file's over the source's own.

    A source may describe several launches in ``// warpwatt:`` lines; all are predicted unless the command
    line names a kernel or a whole launch. A source that describes none has those of the one ``beside`` it.
    """
    typed = typed_text(launch)
    directives = _directives(source) or (_directives(beside) if beside is not None else ())
    written = [text for text in directives if _same_kernel(text.kernel, typed.kernel)]
    if not written:
        return (typed,)
    if typed.complete:
        written = written[:1]
    return tuple(typed.over(text) for text in written)


def typed_text(launch: LaunchText) -> LaunchText:
    """Return what was typed, laid over the file of arguments."""
    if launch.args is None:
        return launch
    return replace(launch.over(from_table(read_toml(launch.args), launch.args)), args=None)


def _directives(source: Source) -> tuple[LaunchText, ...]:
    if b"\0" in source.data:  # a binary
        return ()
    return read_directives(source.data.decode("utf-8", errors="replace"), source.name)


def _same_kernel(written: str | None, wanted: str | None) -> bool:
    return written is None or wanted is None or wanted in written or written in wanted
