"""Count the machine instructions of cubins that the emulator has no semantics for.

``python -m validation.tensor.opcodes FILE.cubin...`` lifts every kernel and prints, by target, each opcode
that is uncovered: how often it stands in the code, in how many kernels, and one
instruction's operands. The exit code is the number of such opcodes, at most 100.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import WarpWattError
from warpwatt.core.program import Level
from warpwatt.emulate.lift import lift
from warpwatt.frontend.load import load
from warpwatt.frontend.options import CompileOptions
from warpwatt.isa.sass.cubin import read_cubin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpwatt.core.program import Kernel


@dataclass(slots=True)
class Missing:
    """Where an opcode without semantics stands."""

    count: int = 0
    kernels: set[str] = field(default_factory=set)
    example: str = ""


def missing(kernels: Iterable[Kernel], file: str, found: dict[tuple[str, str], Missing]) -> int:
    """Add what has no semantics in some kernels to ``found``, by target and opcode; how many instructions."""
    total = 0
    for kernel in kernels:
        if kernel.sass is None:
            continue
        routine = lift(kernel.sass)
        instructions = routine.program.instructions
        total += len(instructions)
        for index, opcode in routine.uncovered.items():
            entry = found[kernel.sass.target, opcode]
            entry.count += 1
            entry.kernels.add(f"{file}:{kernel.name}")
            entry.example = f"{', '.join(map(str, instructions[index].operands))}  ({file})"
    return total


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cubins", nargs="+", type=Path)
    found: dict[tuple[str, str], Missing] = defaultdict(Missing)
    for path in parser.parse_args().cubins:
        try:
            target = read_cubin(path.read_bytes()).target
            kernels = load(path, target, CompileOptions(levels=frozenset({Level.SASS})))
        except WarpWattError as error:
            print(f"{path.name}: {error}")
            continue
        print(f"{path.name}: {len(kernels)} kernels, {missing(kernels, path.stem, found)} instructions")
    for (target, opcode), entry in sorted(found.items(), key=lambda item: (item[0][0], -item[1].count)):
        print(f"{target:8} {entry.count:6} {len(entry.kernels):3}  {opcode:44} {entry.example}")
    return min(100, len(found))


if __name__ == "__main__":
    raise SystemExit(main())
