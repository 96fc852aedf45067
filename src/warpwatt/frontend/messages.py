"""The compilers' own messages: where the first error is, and what would help."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from warpwatt.core.errors import CompileError

MAX_DETAIL_LINES = 60
UPWARDS = 2
"""Folders above a source in which headers are looked for, where it is in no repository."""
OLDEST_SPECIFIC = 90
"""First architecture with features of its own (PTX ISA, ``.target``)."""
NAMED = "--kernel"
"""The file of the instances of templates that a user names."""

_PATTERNS = (
    re.compile(r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d+)\): (?:catastrophic |fatal )?error:? ?(?P<text>.*)$"),
    re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$"),
    re.compile(r"^ptxas (?P<file>[^,\n]+), line (?P<line>\d+); (?:error|fatal)\s*: (?P<text>.*)$"),
    re.compile(r"^(?P<file>)(?P<line>)(?:ptxas|nvcc|cicc)?\s*(?:error|fatal)\s*: (?P<text>.*)$"),
)
_NOISE = re.compile(r"^\s*(ptxas info|\d+ bytes (stack frame|gmem)|$)")
_REMOVED = (
    r"texture is not a template"
    r"|identifier \"(texture|cudaThread\w+|cudaBindTexture\w*|tex[123]D\w*)\" is undefined"
    r"|namespace \"(thrust|cub)\" has no member"
    r"|\"cudaMemLocation\""
    r"|has no member \"(deviceOverlap|computeMode|kernelExecTimeoutEnabled|(memory)?[cC]lockRate)\""
)
_FEATURE = r"not supported on \.target|requires \.target|Cannot find feature"
_HINTS = (
    (_REMOVED, "removed"),
    (_FEATURE, "arch"),
    (r"No such file or directory|could not open source file", "include"),
    (r'identifier "[A-Z][A-Z0-9_]*" is undefined', "macro"),
    (r"No space left on device|Failed to preprocess host compiler properties", "room"),
)
_ASKED = (
    (re.compile(r"(--expt-relaxed-constexpr|--extended-lambda)"), None),
    (re.compile(r"requires separate compilation mode"), "-rdc=true"),
)
"""What nvcc says where a flag would allow the code, and that flag; None: it names the flag."""
_WARNING = re.compile(r"[^\n]*\): warning |Remark: ")
_UNDEFINED = re.compile(r"undefined reference to `([^']+)'")
_TARGET = re.compile(r"\.target '(sm_\d+[af]?)'")
_MISSING = re.compile(r"(\S+): No such file or directory|could not open source file \"([^\"]+)\"")
_HINT_TEXT = {
    "removed": "this was removed from CUDA since; compile with a toolkit that has it: --toolkit 11.8",
    "include": "name the folder that holds the header with -I DIR{wheel}",
    "macro": "if the build defines it, so can you: -D NAME=VALUE",
    "room": "make room where temporary files go (TMPDIR), if that is full",
}


@dataclass(frozen=True, slots=True)
class Message:
    """One error: ``file`` is empty and ``line`` None where the compiler names none."""

    text: str
    file: str = ""
    line: int | None = None


def errors(output: str) -> tuple[Message, ...]:
    """Return every error in a compiler's output, in order.

    >>> errors('a.cu(3): error: identifier "x" is undefined')
    (Message(text='identifier "x" is undefined', file='a.cu', line=3),)
    """
    return tuple(message for line in output.splitlines() if (message := _message(line)))


def _message(line: str) -> Message | None:
    for pattern in _PATTERNS:
        if found := pattern.match(line):
            number = int(found["line"]) if found["line"] else None
            return Message(found["text"].strip(), found["file"], number)
    return None


def compile_error(
    output: str, compiler: str, target: str, *, file: str, hint: str = "", folder: Path | None = None
) -> CompileError:
    """Return the error to raise: first message up front, all lines of the compiler in ``details``.

    ``file`` stands in where the compiler names none; ``folder`` is the source's, see :func:`hint_of`.
    """
    found = errors(output)
    first = found[0] if found else Message(f"{compiler} failed")
    lines = [line for line in output.splitlines() if not _NOISE.match(line)]
    if len(lines) > MAX_DETAIL_LINES:
        lines[MAX_DETAIL_LINES:] = [f"... and {len(lines) - MAX_DETAIL_LINES} more lines"]
    more = f" (and {len(found) - 1} more errors)" if len(found) > 1 else ""
    return CompileError(
        f"{compiler} for {target}: {first.text}{more}",
        file=first.file or file,
        line=first.line,
        hint=hint or hint_of(output, target, folder),
        details="\n".join(lines),
    )


def hint_of(output: str, target: str = "sm_90", folder: Path | None = None) -> str:
    """Return what may help with what a compiler says; empty if nothing is known.

    ``folder`` is the source's: a header that is missing is looked for around it.

    >>> hint_of("a.cu:1:10: fatal error: curand_kernel.h: No such file or directory")
    'name the folder that holds the header with -I DIR, or install its wheel: pip install nvidia-curand'

    >>> hint_of("nvcc fatal   : Failed to preprocess host compiler properties.")
    'make room where temporary files go (TMPDIR), if that is full'
    """
    for pattern, kind in _HINTS:
        if re.search(pattern, output):
            if kind == "include" and folder is not None and (near := _folder_nearby(output, folder)):
                return f"add -I{near}, where it is"
            if kind == "arch":
                return _of_features(_TARGET.search(output), target)
            return _HINT_TEXT[kind].format(target=target, wheel=_wheel(output))
    return ""


def _of_features(said: re.Match[str] | None, target: str) -> str:
    """Return what helps where an instruction is refused: the target's own features, or another GPU."""
    target = said[1] if said else target
    if target[-1] in "af" or int(target[3:]) < OLDEST_SPECIFIC:
        return f"{target} lacks the instruction: choose a GPU that has it with --gpu"
    return (
        f"for instructions of {target}a alone add the compiler's flag -arch={target}a (of predict: behind --)"
    )


def asked_flag(output: str, given: Iterable[str]) -> str:
    """Return the flag that a compiler's message asks for, empty if there is none that is not given yet.

    >>> asked_flag("error: kernel launch from __device__ functions requires separate compilation mode", [])
    '-rdc=true'
    """
    found = ((said[1] if flag is None else flag) for mark, flag in _ASKED if (said := mark.search(output)))
    return next((flag for flag in found if flag not in given), "")


def needs_feature(output: str) -> bool:
    """Whether a compiler refuses what only some architecture has (``sm_90a``).

    >>> needs_feature("Instruction 'wgmma.fence' not supported on .target 'sm_90'")
    True
    """
    return re.search(_FEATURE, output) is not None


def uses_removed(output: str) -> bool:
    """Whether a compiler misses what an earlier CUDA had.

    >>> uses_removed('a.cu(1): error: namespace "cub" has no member "Max"')
    True
    """
    return re.search(_REMOVED, output) is not None


def without_warnings(output: str) -> str:
    r"""Return what a compiler says without nvcc's warnings, where it says anything else.

    >>> without_warnings("a.cu(1): warning #1-D: no newline\n\na.cu(2): error: x")
    'a.cu(2): error: x'
    """
    kept = [part for part in output.strip().split("\n\n") if not _WARNING.match(part)]
    return "\n\n".join(kept) or output


def undefined_names(output: str) -> tuple[str, ...]:
    r"""Return what a linker has not found, each once.

    >>> undefined_names("a.o: in function `main':\na.cu:(.text+0x5): undefined reference to `glEnd'")
    ('glEnd',)
    """
    return tuple(dict.fromkeys(_UNDEFINED.findall(output)))


def _folder_nearby(output: str, folder: Path) -> str:
    """Return the folder around a source that has the header which is missing, as seen from here."""
    found = _MISSING.search(output)
    name = (found[1] or found[2]) if found else ""
    places = [folder, *folder.parents]
    root = next((i for i, place in enumerate(places) if (place / ".git").exists()), UPWARDS)
    for place in places[: root + 1] if name else ():
        for pattern in ("", "*/", "*/*/"):
            for header in sorted(place.glob(pattern + name)):
                at = str(header)[: -len(name)].rstrip("/") or "/"
                return os.path.relpath(at)
    return ""


def _wheel(output: str) -> str:
    """Return how to get a header that is missing, if a wheel has it."""
    from warpwatt.frontend.host_headers import wheel_of

    found = _MISSING.search(output)
    wheel = wheel_of(found[1] or found[2]) if found else ""
    return f", or install its wheel: pip install {wheel}" if wheel else ""
