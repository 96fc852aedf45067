"""Complete the tables of ``warpwatt.isa.sass.decoding`` for the machine code in more files.

Usage: ``python -m validation.machine_code.grow FILE... [--table sm_90]``

The files are what holds device code: cubins, fat binaries, executables and libraries. An encoding is learnt
anew where the table does not read one of their words: from these, and from words that the table reads. A new
line is taken only if it reads more words of the files, prints none otherwise than nvdisasm and reads 98 % of
the random words that the table reads.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from validation.machine_code.fields import CONTROL, FREE
from validation.machine_code.learn import _with_operands, _with_outcomes, learn
from validation.machine_code.oracle import DOUBTFUL, ask
from validation.machine_code.tables import _ARCHITECTURES, _CONVERSION, _ENCODED, _LIKE, PACKAGE
from warpwatt.frontend.binary import extract
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.fatbin import Code, Kind
from warpwatt.isa.sass.cubin import read_cubin
from warpwatt.isa.sass.decoding.encodings import _HOLE, OPCODE, Encoding
from warpwatt.isa.sass.decoding.fields import read_field

_UNREAD, _KNOWN = 500, 250
"""Words of an encoding that are learnt from: of the files and not read; read already, there and at random."""
_TESTED = 300
"""Words of an encoding that nvdisasm is asked about before its new line is taken."""
_TRIALS = 4000
_TOGETHER = 40
"""Cubins whose words are told apart at once."""


def cubins(files: Iterable[Path], sources: Iterable[int]) -> Iterator[Code]:
    """Yield the machine code in files for some architectures."""
    for file in files:
        for code in extract(Source(str(file), file.read_bytes())):
            if code.kind is Kind.CUBIN and code.architecture in sources:
                yield code


def words_of(code: Code) -> np.ndarray[Any, Any]:
    """Return the different words of a cubin's kernels, in two columns, without what is not printed."""
    cubin = read_cubin(code.read())
    sections = dict.fromkeys(cubin.elf.symbols[i].section for i in cubin.names.values())
    text = b"".join(cubin.elf.sections[section].data for section in sections)
    words = np.frombuffer(text, "<u8").reshape(-1, 2).copy()
    words[:, 1] = words[:, 1] & np.uint64(~CONTROL >> 64 & (1 << 64) - 1) | np.uint64(FREE >> 64)
    return different(words)


def different(words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return each row once, told apart by a hash of 64 bits."""
    mixed = words[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ words[:, 1] * np.uint64(0xC2B2AE3D27D4EB4F)
    return words[np.unique(mixed, return_index=True)[1]]


def by_encoding(codes: Iterable[Code]) -> dict[int, list[int]]:
    """Return the different words of machine code by the numbers of their encodings."""
    parts, whole = [*map(words_of, codes)], np.zeros((0, 2), np.uint64)
    for start in range(0, len(parts), _TOGETHER):
        whole = different(np.concatenate([whole, *parts[start : start + _TOGETHER]]))
    found: dict[int, list[int]] = defaultdict(list)
    for low, high in whole.tolist():
        found[low & OPCODE].append(high << 64 | low)
    return found


def known_words(number: int, row: Any, draw: random.Random) -> list[int]:
    """Return words that a line of a table reads: of its outcomes and with operands at random."""
    encoding, found = Encoding(row), dict[int, None]()
    operands = [part for layout in row["layouts"].values() for part in layout]
    parts = [part for part in (row["predicate"], row["opcode"], *operands) if part]
    choices = [part for part in parts if not isinstance(part, str)] + [[row["split"], row["layouts"]]]
    spelled = [text for part in parts for text in ([part] if isinstance(part, str) else part[1].values())]
    fields = [read_field(m[1]) for text in spelled for m in _HOLE.finditer(text)]
    for _ in range(_TRIALS if all(outcomes for _, outcomes in choices) else 0):
        chosen: dict[str, int] = {}
        for conditions, outcomes in choices:
            chosen |= zip(conditions, map(int, draw.choice([*outcomes])), strict=True)
        word = int(draw.choice(row["unread"][1]), 16) & ~OPCODE | number
        word = _with_operands(word, fields, draw) if fields else word
        plain_last = dict(sorted(chosen.items(), key=lambda one: one[0].isdigit()))
        word = _with_outcomes(word, plain_last, draw) & ~OPCODE & ~CONTROL | FREE | number
        if encoding.form(word) is not None:
            found[word] = None
    return draw.sample([*found], min(_KNOWN, len(found)))


def grown(name: str, words: dict[int, list[int]]) -> dict[int, str]:
    """Return the lines of a table, by encoding, completed for the words."""
    old, architecture, draw = _table(name), _ARCHITECTURES[name][0], random.Random(1)
    rows = {number: json.loads(line[4:]) for number, line in old.items()}
    unread = {n: _unread(rows.get(n), draw.sample(same, min(len(same), 20_000))) for n, same in words.items()}
    material = []
    for number, same in unread.items():
        if same:
            read = sorted({*words[number]} - {*same})
            material += draw.sample(same, min(_UNREAD, len(same))) + draw.sample(read, min(_KNOWN, len(read)))
            material += known_words(number, rows[number], draw) if number in rows else []
    for known in learn(material, architecture):
        line, row = known.line(), known.row
        own = words.get(known.number, [])
        kept = known_words(known.number, rows[known.number], draw) if known.number in rows else []
        before, after = (len(_unread(r, own)) for r in (rows.get(known.number), row))
        lost = len(_unread(row, kept))
        wrong = _wrong(row, [*draw.sample(own, min(_TESTED, len(own))), *kept], architecture)
        taken = not wrong and after < before and lost <= len(kept) // 50
        counts = f"unread {before} -> {after} of {len(own)}, lost {lost} of {len(kept)}, wrong {wrong}"
        print(f"{name} {known.number:#x}: {counts}: {'taken' if taken else 'left'}", flush=True)
        if taken:
            old[known.number] = line
    return old


def _table(name: str) -> dict[int, str]:
    text = gzip.decompress((PACKAGE / f"{name}.jsonl.gz").read_bytes()).decode()
    return {int(line[:3], 16): line for line in text.splitlines()}


def _unread(row: Any, words: Iterable[int]) -> list[int]:
    """Return the words that a line does not read."""
    if not row:
        return list(words)
    encoding = Encoding(row)
    return [word for word in words if encoding.form(word) is None]


def _wrong(row: Any, words: list[int], architecture: str) -> int:
    """Return how many words a line prints otherwise than nvdisasm."""
    encoding, found = Encoding(row), 0
    for i, (word, wanted) in enumerate(zip(words, ask(words, architecture) if words else [], strict=True)):
        form = encoding.form(word)
        if form is not None and wanted is not None and not DOUBTFUL.search(wanted[1] + wanted[2]):
            found += (form.predicate.of(word, 16 * i), form.opcode, form.operands.of(word, 16 * i)) != wanted
    return found


def main() -> None:
    """Complete the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--table", action="append", choices=_ARCHITECTURES)
    given = parser.parse_args()
    for name in sorted(given.table or _ARCHITECTURES, key=lambda one: one in _LIKE):
        words = by_encoding(cubins(given.files, _ARCHITECTURES[name][1]))
        if name in _LIKE:
            words = {number: same for number, same in words.items() if number & _ENCODED == _CONVERSION}
        lines = grown(name, words)
        if name in _LIKE:
            lines = _table(_LIKE[name]) | {n: own for n, own in lines.items() if n & _ENCODED == _CONVERSION}
        text = "\n".join(line for _, line in sorted(lines.items())) + "\n"
        (PACKAGE / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
