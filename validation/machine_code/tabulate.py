"""Rows of tables from samples: the conditions that each part of a text depends on, its text for each."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from validation.machine_code.fields import LITERAL, LITERALS, PROBED, Flips, candidates, learn_fields
from warpwatt.isa.sass.decoding.encodings import Encoding, Text, choose, outcome
from warpwatt.isa.sass.decoding.fields import NO_SHIFTS, Field, read_condition

if TYPE_CHECKING:
    from validation.machine_code.oracle import Sample

_NO_SHIFTS = [number.bit_length() - 1 for number in NO_SHIFTS]
_BYTE = 255
"""A literal that some opcodes do not print: masks of R2P and of loads of 256 bits."""
_WIDE = 32
"""Bits of an immediate from which on its being 1 or a power of two may rename the instruction."""
_HOLE = re.compile(r"\{(?:UR|R|UP|P|UB|B|SB|x|o|f|t)\}")
_FEW = 40
"""Samples that a field has to fit, at most."""
_EXTRA = 6
"""Conditions that may be added where those of single bits do not tell texts apart."""
_LAYOUTS = 10
"""Conditions that the number of operands may depend on; an encoding with more is left out."""
_UNPRINTED = 64
"""Values of unprinted bits that are kept."""
_GUARD = Field("P", ((12, 3, 0),))
_GUARDS = _GUARD, Field("UP", _GUARD.runs)
"""What every instruction is guarded by, in the same bits."""
_REUSE = 122, 123, 124
"""The bits that print ``.reuse`` behind a source register."""


@dataclass(slots=True)
class Knowledge:
    """What is known about an encoding: fields, conditions, and the row of the table."""

    number: int
    fields: tuple[Field, ...]
    parts: int
    split: set[str]
    of_part: Mapping[int, set[str]]
    row: dict[str, Any] = field(default_factory=dict)
    unsure: Counter[str] = field(default_factory=Counter)
    """Outcomes left out: samples with them differ, or no field fits."""

    @classmethod
    def learn(cls, number: int, flips: Flips) -> Knowledge:
        """Return fields and conditions, from what flipping single bits does."""
        fields = learn_fields(flips)
        tests = tests_of(fields)
        split: set[str] = set()
        of_part: dict[int, set[str]] = defaultdict(set)
        touched: dict[int, set[int]] = defaultdict(set)
        for base, flipped in flips:
            before = _holding(tests, base.word)
            for bit, other in flipped:
                if other is None:
                    continue
                if base.texts == other.texts:
                    for part, (old, new) in enumerate(zip(base.tokens, other.tokens, strict=True)):
                        if old != new and "[" in base.texts[part]:
                            touched[part].add(bit)
                    continue
                causes = before ^ _holding(tests, other.word) or ({str(bit)} if bit >= 0 else set())
                aligned = len(base.texts) == len(other.texts)
                if not aligned:
                    split |= causes
                for part in range(len(base.texts) if aligned else 2):
                    if base.texts[part] != other.texts[part]:
                        of_part[part] |= causes
        for part, bits in touched.items():  # what an address leaves out depends on its registers and offset
            of_part[part] |= {test for test in tests if bits & {*read_condition(test).field.bits}}
        parts = max(len(s.texts) for base, flipped in flips for s in (base, *(f for _, f in flipped)) if s)
        return cls(number, fields, parts, split, of_part)

    def conditions(self, part: int) -> set[str]:
        """Return the conditions that a part may depend on."""
        return self.of_part.get(part, set()) | (self.split if part > 1 else set())

    def line(self) -> str:
        """Return the line of the table."""
        return f"{self.number:03x} {json.dumps(self.row, separators=(',', ':'), sort_keys=True)}"


def tests_of(fields: Sequence[Field]) -> tuple[str, ...]:
    """Return the conditions on fields that may change a text: special registers and numbers."""
    found = []
    for one in (_GUARD, *fields):
        where = one.spelling.removeprefix(one.kind).rstrip("s")
        if one.kind in ("R", "UR", "P", "UP"):
            found.append(f"{where}=max")
        elif one.kind in ("x", "o"):
            found.append(f"{where}=0")
            if one.kind == "x" and len(one.bits) >= _BYTE.bit_length():
                found.append(f"{where}={_BYTE}")
            if one.kind == "x" and len(one.bits) >= _WIDE:
                found += [f"{where}=1", f"{where}=shift"]
    return tuple(dict.fromkeys(found))


def _holding(tests: Sequence[str], word: int) -> set[str]:
    return {test for test in tests if read_condition(test).holds(word)}


class _Outcomes:
    """The outcome of every condition for every sample, as columns."""

    def __init__(self, samples: Sequence[Sample], tests: Sequence[str]) -> None:
        words = b"".join(s.word.to_bytes(16, "little") for s in samples)
        bits = np.unpackbits(np.frombuffer(words, np.uint8), bitorder="little").reshape(-1, 128).astype(bool)
        self.columns = {str(bit): bits[:, bit] for bit in PROBED}
        for test in tests:
            condition = read_condition(test)
            where = bits[:, list(condition.field.bits)]
            self.columns[test] = {
                "max": lambda w: w.all(1),
                "0": lambda w: ~w.any(1),
                "1": lambda w: w[:, 0] & (w.sum(1) == 1),
                str(_BYTE): lambda w: w[:, :8].all(1) & (w.sum(1) == 8),
                "shift": lambda w: (w.sum(1) == 1) & ~w[:, [n for n in _NO_SHIFTS if n < w.shape[1]]].any(1),
            }[condition.test](where)

    def keys(self, conditions: Sequence[str], rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return a number for each sample: the outcomes, one bit each."""
        found = np.zeros(len(rows), object if len(conditions) > 62 else np.int64)
        for i, condition in enumerate(conditions):
            found |= self.columns[condition][rows].astype(found.dtype) << i
        return found


def _clashes(keys: np.ndarray[Any, Any], texts: np.ndarray[Any, Any]) -> int:
    """Return how many samples have the key, but not the text, of another."""
    _, keys = np.unique(keys, return_inverse=True)
    both = np.unique(keys.astype(np.int64) << 32 | texts)
    shared = np.bincount(both >> 32) > 1
    return int(shared[keys].sum())


def tabulate(known: Knowledge, samples: Sequence[Sample], corpus: Sequence[Sample]) -> None:
    """Write the row of an encoding from samples of its words; those of the ``corpus`` occur in programs."""
    outcomes = _Outcomes(samples, tests_of(known.fields))
    everything = np.arange(len(samples))
    part = partial(_part, known, samples, outcomes, rows=everything)
    counts = np.array([len(s.texts) for s in samples])
    split = _telling(known, outcomes, everything, counts, sorted(known.split))
    layouts: dict[str, list[Any]] = {}
    if len(split) <= _LAYOUTS:
        keys = outcomes.keys(split, everything)
        for key in np.unique(keys).tolist():
            rows = everything[keys == key]
            if len({counts[row] for row in rows}) == 1:
                parts = range(2, counts[rows[0]])
                layouts[_spell(key, split)] = [_part(known, samples, outcomes, i, rows) for i in parts]
            else:
                known.unsure["layout"] += 1
    row = {"predicate": part(0), "opcode": part(1), "split": split, "layouts": layouts}
    known.row = {**row, "unread": _unread(known, row, corpus)}


def _spell(key: int, conditions: Sequence[str]) -> str:
    return "".join("01"[key >> i & 1] for i in range(len(conditions)))


def _telling(
    known: Knowledge,
    outcomes: _Outcomes,
    rows: np.ndarray[Any, Any],
    texts: np.ndarray[Any, Any],
    first: list[str],
) -> list[str]:
    """Return conditions that tell texts apart as well as any: of the ``first``, others if need be."""
    chosen = list(first)
    clashes = _clashes(outcomes.keys(chosen, rows), texts)
    used = {str(bit) for f in known.fields for bit in f.bits}
    others = [c for c in outcomes.columns if c not in chosen and c not in used]
    for _ in range(_EXTRA):
        if not clashes:
            break
        best = min(others, key=lambda c: _clashes(outcomes.keys([*chosen, c], rows), texts))
        fewer = _clashes(outcomes.keys([*chosen, best], rows), texts)
        if fewer >= clashes:
            break
        chosen, clashes = [*chosen, best], fewer
    for condition in list(chosen):
        rest = [c for c in chosen if c != condition]
        if _clashes(outcomes.keys(rest, rows), texts) <= clashes:
            chosen = rest
    return chosen


def _part(
    known: Knowledge, samples: Sequence[Sample], outcomes: _Outcomes, number: int, rows: np.ndarray[Any, Any]
) -> Any:
    """Return a part of the samples in these rows: its text, or conditions and the text for each outcome."""
    numbers: dict[str, int] = {}
    texts = np.array([numbers.setdefault(samples[row].texts[number], len(numbers)) for row in rows])
    conditions = _telling(known, outcomes, rows, texts, sorted(known.of_part.get(number, ())))
    if number == 0 and conditions:  # what is not seen of a guard is as for every other instruction
        conditions = [f"{_GUARD.spelling[1:]}=max", "15"]
    if number > 1 and any(
        "{f}" in text for text in numbers
    ):  # whose format the opcode's modifiers may choose
        conditions = sorted({*conditions, *known.of_part.get(1, ())})
    reused = [samples[row].word for row in rows if ".reuse" in samples[row].texts[number]]
    for bit in _REUSE if reused else ():  # what was only seen with the flag says nothing of words without
        if str(bit) not in conditions and all(word >> bit & 1 for word in reused):
            conditions.append(str(bit))
    by_key: dict[int, list[Sample]] = defaultdict(list)
    for key, row in zip(outcomes.keys(conditions, rows).tolist(), rows.tolist(), strict=True):
        by_key[key].append(samples[row])
    found = {_spell(key, conditions): text for key, text in _texts(known, by_key, number).items()}
    return found[""] if list(found) == [""] else [conditions, found]


def _texts(known: Knowledge, by_key: Mapping[int, Sequence[Sample]], part: int) -> dict[int, str]:
    """Return the text for each outcome that has one; of several fields that fit, the one that mostly does."""
    pool = known.fields if LITERAL not in known.fields else (*known.fields, *LITERALS)
    if part == 0:
        pool = _GUARDS
    fitting: dict[int, tuple[str, list[set[str]]]] = {}
    votes: Counter[tuple[str, int, str]] = Counter()
    for key, samples in by_key.items():
        texts = {s.texts[part] for s in samples}
        if len(texts) > 1:
            known.unsure["clash"] += 1
            continue
        few, text = _diverse(samples, part), texts.pop()
        fits = [candidates(pool, few, part, place) for place in range(len(few[0].tokens[part]))]
        fitting[key] = text, fits
        votes.update((text, place, f) for place, fields in enumerate(fits) for f in fields)
    found = {}
    for key, (text, fits) in fitting.items():
        if not all(fits):
            known.unsure["field"] += 1
            continue
        chosen = []
        for place, fields in enumerate(fits):
            ranks = sorted((votes[text, place, f], f) for f in fields)
            if len(ranks) > 1 and ranks[-1][0] == ranks[-2][0]:
                break
            chosen.append(ranks[-1][1])
        if len(chosen) < len(fits):
            known.unsure["field"] += 1
            continue
        spellings = iter(chosen)
        found[key] = _HOLE.sub(lambda _: next(spellings), text) if chosen else text  # noqa: B023
    return found


def _diverse(samples: Sequence[Sample], part: int) -> list[Sample]:
    """Return a few samples, with different tokens where there are such."""
    different = {s.tokens[part]: s for s in samples}
    return [*list(different.values())[:_FEW], *samples[:: max(len(samples) // _FEW, 1)]]


def prune(known: Knowledge, sample: Sample, *, wholly: bool) -> None:
    """Drop from the row what prints a sample otherwise than nvdisasm, or everything."""
    row, layouts = known.row, known.row["layouts"]
    key = outcome(row["split"], sample.word)
    if Encoding(row).form(sample.word) is None:  # dropped for another sample
        return
    known.unsure["pruned"] += 1
    if wholly:
        layouts.clear()
        return
    parts = [row["predicate"], row["opcode"], *layouts[key]]
    constant = len(parts) != len(sample.printed)
    for part, printed in zip(parts, sample.printed, strict=False):
        if Text.read(choose(part, sample.word) or "").of(sample.word, sample.address) == printed:
            continue
        if isinstance(part, str):
            constant = True
        else:
            part[1].pop(outcome(part[0], sample.word), None)
    if constant:
        del layouts[key]


def _unread(known: Knowledge, row: Mapping[str, Any], corpus: Sequence[Sample]) -> list[Any]:
    """Return the bits that nothing depends on, and their values in programs."""
    text = json.dumps(row, separators=(",", ":"))
    spelt = re.findall(r"(?:[a-zA-Z]+)?((?:\d+\.\d+(?:\^\d+)?\+?)+)", text)
    read = {bit for runs in spelt for bit in _bits(runs)} | {
        int(b) for b in re.findall(r'"(\d+)"(?=[,\]])', text)
    }
    mask = sum(1 << bit for bit in range(12, 128) if bit not in read and not 105 <= bit < 122)
    values = Counter(s.word & mask for s in corpus)
    known.unsure["unread"] = len(values)
    return [f"{mask:x}", [f"{value:x}" for value, _ in values.most_common(_UNPRINTED)]]


def _bits(runs: str) -> list[int]:
    found: list[int] = []
    for run in runs.strip("+").split("+"):
        first, bits = run.partition("^")[0].split(".")
        found += range(int(first), int(first) + int(bits))
    return found
