"""nvdisasm's JSON: the instructions of a cubin as text, before they are understood."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import ParseError, ToolchainError, UnsupportedGpuError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpwatt.isa.sass.cubin import Cubin

OLDEST = 75
"""The oldest architecture that nvdisasm 13 reads."""
_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction as printed: ``predicate`` such as ``@!P0`` or empty, ``operands`` comma-separated."""

    opcode: str
    operands: str = ""
    predicate: str = ""


def disassemble(
    cubin: Cubin, nvdisasm: Path | Callable[[bytes], str | bytes]
) -> Mapping[str, tuple[Line, ...]]:
    """Return the instructions of each code section by kernel name; number i lies at byte 16·i.

    ``nvdisasm`` is the tool, or a function that returns what ``nvdisasm -json`` prints for a cubin (a cache).

    Raises
    ------
    UnsupportedGpuError
        The cubin is for an architecture older than sm_75.
    ToolchainError
        nvdisasm is missing, does not end, or fails on a cubin that is not damaged.
    ParseError
        nvdisasm refuses the cubin.
    """
    if int(cubin.target.removeprefix("sm_")) < OLDEST:
        raise UnsupportedGpuError(
            f"nvdisasm 13 does not read machine code for {cubin.target}, only sm_{OLDEST} and later",
            hint="pass the PTX of the kernel, or compile it for sm_75 or later",
        )
    text = nvdisasm(cubin.data) if callable(nvdisasm) else _run(cubin.data, nvdisasm)
    try:
        functions = json.loads(text)[1]
        return {_text(f, "function-name"): _lines(f["sass-instructions"]) for f in functions}
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ToolchainError(f"nvdisasm printed JSON of an unknown form: {error!r}") from error


def _run(data: bytes, nvdisasm: Path) -> str:
    """Return what ``nvdisasm -json`` prints for a cubin."""
    import subprocess  # noqa: PLC0415 - slow to load, and a warm run has the text in its cache
    import tempfile  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="warpwatt-") as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(data)
        try:
            done = subprocess.run(
                [str(nvdisasm), "-json", str(file)],
                capture_output=True, timeout=_TIMEOUT_S, check=False, text=True, errors="replace",
            )  # fmt: skip
        except OSError as error:
            raise ToolchainError(f"cannot run {nvdisasm}: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise ToolchainError(f"{nvdisasm.name} did not end within {_TIMEOUT_S} s") from error
    if done.returncode < 0:  # seen with 13.5.37 on one object that is not device-linked
        raise ToolchainError(
            f"nvdisasm crashes on this cubin (signal {-done.returncode})",
            hint="use --level ptx, or a device-linked file",
        )
    if done.returncode:
        raise ParseError("nvdisasm refuses this cubin", details=done.stderr.replace(folder, "").strip())
    return done.stdout


def _lines(rows: list[dict[str, Any]]) -> tuple[Line, ...]:
    """Return the instructions of one function of the JSON."""
    return tuple(
        Line(_text(r, "opcode"), str(r.get("operands", "")), str(r.get("predicate", ""))) for r in rows
    )


def _text(row: dict[str, Any], key: str) -> str:
    """Return a field that must be a string; raises ``TypeError`` if it is not."""
    value = row[key]
    if not isinstance(value, str):
        raise TypeError(key)
    return value
