"""Learn the tables of ``warpwatt.isa.sass.decoding`` from the words of compiled programs, and test them.

Usage: ``python -m validation.machine_code.tables FOLDER... [--table sm_90] [--half | --check] [-o FILE.md]``

Every file under the folders that holds a cubin is read. Each table is written into the package; ``--half``
learns it from half of the kernels instead, chosen by name, and compares it with nvdisasm on the other half;
``--check`` compares the package's. Needs nvdisasm; a minute and a half of CPU for each table.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from validation.machine_code.learn import learn, mix, words_of
from validation.machine_code.oracle import BATCH, DOUBTFUL, ask
from warpwatt.core.errors import ParseError
from warpwatt.isa.sass.cubin import CubinKernel, read_cubin
from warpwatt.isa.sass.decoding.encodings import TABLES, Encodings, encodings

PACKAGE = Path(__file__).parents[2] / "src/warpwatt/isa/sass/decoding/tables"
_ARCHITECTURES = {
    "sm_75": ("SM75", (75,)),
    "sm_86": ("SM86", (80, 86, 87, 89)),
    "sm_89": ("SM89", (80, 86, 87, 89)),
    "sm_90": ("SM90a", (90,)),
    "sm_100": ("SM100a", (100, 103)),
    "sm_120": ("SM120a", (120, 121)),
}
"""Table -> what nvdisasm calls the architecture, and those whose programs it is learnt from."""
_LIKE = {"sm_86": "sm_89"}
"""Tables that differ from another only in the encodings of conversions to packed halves (F2FP)."""
_CONVERSION, _ENCODED = 0x3E, 0xFF
_HEAD = """\
# Machine code read from tables

Made by `{command}` on {day}, commit {commit}.

Protocol: every different kernel in the cubins under the folders, its words without scheduling information.
A kernel is known if each of its words is. Equal and wrong: beside nvdisasm, guard, opcode and operands
character by character. Mixed words take each bit from one of two words of the same encoding; those that
nvdisasm calls illegal or prints as invalid do not count. {learnt}

| table | read as | kernels | known | | words equal | unknown | wrong | mixed equal | unknown | wrong |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""
_LEARNT = {
    True: "Each table is learnt anew from half of the kernels, by a hash of names, and compared on others.",
    False: "The tables are those of the package.",
}
_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Code:
    """One kernel's machine code for architecture ``sm``."""

    sm: int
    name: str
    words: frozenset[int]

    @property
    def first_half(self) -> bool:
        """Whether the kernel's name puts it into the half that is learnt from."""
        return not hashlib.sha256(self.name.encode()).digest()[0] & 1


def read(folders: Iterable[Path]) -> Iterator[Code]:
    """Yield the kernels of every cubin under the folders, each code once; other bytes may be in front."""
    seen = set()
    for file in (file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()):
        data = file.read_bytes()
        start = data.find(_ELF)
        if start < 0:
            continue
        with suppress(ParseError):
            cubin = read_cubin(data[start:])
            for kernel in cubin.kernels:
                if (cubin.target, kernel.code) not in seen:
                    seen.add((cubin.target, kernel.code))
                    yield _code(int(cubin.target.removeprefix("sm_")), kernel)


def _code(sm: int, kernel: CubinKernel) -> Code:
    return Code(sm, kernel.name, frozenset(words_of(kernel.code)))


def compare(table: Encodings, words: Sequence[int], architecture: str) -> tuple[Counter[str], set[int]]:
    """Return how many words are read as nvdisasm reads them, unknown, or wrong; and the unknown ones."""
    found: Counter[str] = Counter()
    unknown = set()
    for start in range(0, len(words), BATCH):
        part = words[start : start + BATCH]
        for i, (word, wanted) in enumerate(zip(part, ask(part, architecture), strict=True)):
            form, at = table.form(word), 16 * i
            if form is None:
                unknown.add(word)
                found["unknown"] += wanted is not None
            elif wanted is not None and not DOUBTFUL.search(wanted[1] + wanted[2]):
                got = form.predicate.of(word, at), form.opcode, form.operands.of(word, at)
                found["equal" if got == wanted else "wrong"] += 1
                if got != wanted:
                    print(f"{word:032x}: {wanted}, not {got}")
    return found, unknown


def report(name: str, table: Encodings, codes: Sequence[Code]) -> str:
    """Return a line of the page: kernels and words that a table reads, and mixed words."""
    architecture = _ARCHITECTURES[name][0]
    words = sorted({word for code in codes for word in code.words})
    found, unknown = compare(table, words, architecture)
    mixed, _ = compare(table, mix(words, random.Random(1)), architecture)
    whole = sum(not code.words & unknown for code in codes)
    return (
        f"| {name} | {architecture} | {len(codes)} | {whole} | {100 * whole / max(len(codes), 1):.1f} % "
        f"| {found['equal']} | {found['unknown']} | {found['wrong']} "
        f"| {mixed['equal']} | {mixed['unknown']} | {mixed['wrong']} |"
    )


def main() -> None:
    """Learn, or test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--table", action="append", choices=_ARCHITECTURES)
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    codes, lines = list(read(given.folders)), list[str]()
    for name in given.table or _ARCHITECTURES:
        sources = _ARCHITECTURES[name][1]
        used = [code for code in codes if code.sm in sources]
        learnt = [code for code in used if code.first_half or not given.half]
        if given.check:
            table = encodings(next(sm for sm, own in TABLES.items() if own == name))
            assert table is not None
            lines.append(report(name, table, used))
            continue
        text = "\n".join(line for _, line in sorted(_lines(name, learnt).items())) + "\n"
        if given.half:
            lines.append(report(name, Encodings(text), [c for c in used if not c.first_half]))
        else:
            (PACKAGE / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    page = _head(given.half) + "\n".join(lines) + "\n"
    if given.output and lines:
        given.output.write_text(page)
    elif lines:
        print(page)


def _lines(name: str, codes: Sequence[Code]) -> dict[int, str]:
    """Return the lines of a table by the numbers of the encodings."""
    words = {word for code in codes for word in code.words}
    shared = {}
    if name in _LIKE:
        shared = _lines(_LIKE[name], codes)
        words = {word for word in words if word & _ENCODED == _CONVERSION}
    return shared | {known.number: known.line() for known in learn(words, _ARCHITECTURES[name][0])}


def _head(half: bool) -> str:
    """Return the head of the page."""
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    options = [word for word in sys.argv[1:] if word.startswith("-")]
    return _HEAD.format(
        command=f"python -m validation.machine_code.tables FOLDER... {' '.join(options)}",
        day=datetime.datetime.now(datetime.UTC).date(),
        commit=git.stdout.strip(),
        learnt=_LEARNT[half],
    )


if __name__ == "__main__":
    main()
