"""What to say where a launch is missing: the source's kernels, and a launch of one of them to start from."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from warpwatt.core.errors import UsageError
from warpwatt.frontend.signatures import blank_comments
from warpwatt.frontend.written import instance_of, listed, written_kernels

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Source
    from warpwatt.frontend.written import WrittenKernel
    from warpwatt.request.launch_text import LaunchText

_MAIN = re.compile(r"\bint\s+main\s*\(")
_USUAL = {1: ("4096", "256", 2**20), 2: ("64,64", "16,16", 1024), 3: ("16,16,16", "8,8,8", 128)}
"""Grid, block and sizes to start from, by the dimensions of a block."""


def with_example(error: UsageError, source: Source, launch: LaunchText) -> UsageError:
    """Return the error with the source's kernels, and with a launch of one of them to start from."""
    text = "" if b"\0" in source.data else source.text
    kernels = written_kernels(text)
    meant = [k for k in kernels if launch.kernel is None or k.name in launch.kernel]
    hints = [f"{error.hint}, for example {example(meant[0], text, launch)}" if meant else error.hint]
    if _MAIN.search(blank_comments(text)):
        hints.append(f"or run the whole program, which has its launches: warpwatt run {source.name}")
    details = listed(kernels) if len(kernels) > 1 else ""
    return UsageError(error.message, hint="; ".join(hints), details=details)


def example(kernel: WrittenKernel, text: str, launch: LaunchText) -> str:
    """Return the flags of a plausible launch of a kernel, what is already said kept.

    >>> from warpwatt.request.launch_text import LaunchText
    >>> text = "__global__ void f(int n, float *x) { x[threadIdx.x] = n; }"
    >>> example(written_kernels(text)[0], text, LaunchText(block="64"))
    '--kernel f --grid 4096 --block 64 --arg n=1048576'
    """
    side = kernel.dimensions
    grid, block, size = _USUAL[side]
    if len(kernel.sizes) > 1:
        size = min(size, _USUAL[2][2])
    if kernel.threads and side == 1:
        block = str(kernel.threads)
    given = {words.partition("=")[0].strip(): words for words in launch.arg}
    said = {name: given.pop(name, f"{name}={size}") for name in kernel.sizes}
    arguments = "".join(f" --arg {argument}" for argument in [*said.values(), *given.values()])
    name = shlex.quote(launch.kernel) if launch.kernel else instance_of(kernel, text)
    return f"--kernel {name} --grid {launch.grid or grid} --block {launch.block or block}{arguments}"
