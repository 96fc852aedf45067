"""Learn how nvdisasm prints the instruction words of an architecture, from words of compiled programs."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from validation.machine_code.fields import CONTROL, FREE, PROBED, Flips, put, special_words
from validation.machine_code.oracle import Sample, observe, split
from validation.machine_code.tabulate import Knowledge, prune, tabulate
from warpwatt.isa.sass.decoding.encodings import OPCODE, Encoding, Form
from warpwatt.isa.sass.decoding.fields import Field, read_condition

_WORDS = 1000
"""Words of one encoding that are looked at."""
_SEEDS = 1
"""Words flipped of each shape of text in the programs."""
_NEW_SHAPES = 16
"""Words flipped of shapes that flipping revealed, per encoding."""
_ENUMERATED = 8
"""Up to so many conditions, every outcome is tried; of more, pairs are."""
_PAIRS = 1200
_PRUNINGS = 3
_MIXED = 60
"""Words of an encoding that are put together from two words of programs."""
_REPEATS = 2


def words_of(code: bytes) -> Iterable[int]:
    """Yield the instruction words of a kernel's code, without what is not printed."""
    for at in range(0, len(code), 16):
        yield int.from_bytes(code[at : at + 16], "little") & ~CONTROL | FREE


def learn(words: Iterable[int], architecture: str) -> list[Knowledge]:
    """Return what is known about each encoding that occurs in the words."""
    draw = random.Random(1)
    corpus = group(observe(_some(words, draw), architecture))
    flips = _flip(corpus, architecture, draw)
    found = {number: Knowledge.learn(number, flipped) for number, flipped in flips.items()}
    tried = [word for known in found.values() for word in _trials(known, flips[known.number], draw)]
    more = group(observe(tried, architecture))
    for number, known in found.items():
        flat = [s for base, flipped in flips[number] for s in (base, *(f for _, f in flipped)) if s]
        tabulate(known, [*flat, *corpus[number], *more.get(number, [])], corpus[number])
    _prune(found, corpus, architecture, draw)
    return list(found.values())


def _prune(
    found: Mapping[int, Knowledge],
    corpus: Mapping[int, Sequence[Sample]],
    architecture: str,
    draw: random.Random,
) -> None:
    """Drop what prints words otherwise than nvdisasm; in the last round, the encodings that still do."""
    samples: Sequence[Sample | None] = [s for same in corpus.values() for s in same]
    words = [s.word for same in corpus.values() for s in same]
    for rounds_left in reversed(range(_PRUNINGS)):
        rows = {number: Encoding(known.row) for number, known in found.items()}
        for sample in samples:
            if sample and sample.word & OPCODE in rows:
                form = rows[sample.word & OPCODE].form(sample.word)
                if form and _printed(form, sample) != sample.printed:
                    prune(found[sample.word & OPCODE], sample, wholly=not rounds_left)
        mixed = mix(words, draw)
        mixed += [_with_operands(w, found[w & OPCODE].fields, draw) for w in mixed]
        samples = observe(mixed, architecture)


def _printed(form: Form, sample: Sample) -> tuple[str, ...]:
    """Return what a form prints for the word of a sample, in parts."""
    word, at = sample.word, sample.address
    return form.predicate.of(word, at), form.opcode, *split(form.operands.of(word, at))


def mix(words: Sequence[int], draw: random.Random) -> list[int]:
    """Return words each of whose bits come from one of two words of the same encoding."""
    by_encoding: dict[int, list[int]] = defaultdict(list)
    for word in words:
        by_encoding[word & OPCODE].append(word)
    found = []
    for same in by_encoding.values():
        for _ in range(_MIXED):
            bits = draw.getrandbits(128) & draw.getrandbits(128) & ~(OPCODE | CONTROL)
            one, other = draw.choice(same), draw.choice(same)
            found.append(one & ~bits | other & bits)
    return found


def _some(words: Iterable[int], draw: random.Random) -> list[int]:
    """Return the words, of an encoding with many those of a random sample."""
    found: dict[int, set[int]] = defaultdict(set)
    for word in words:
        found[word & OPCODE].add(word)
    return [w for same in found.values() for w in draw.sample(sorted(same), min(len(same), _WORDS))]


def group(samples: Iterable[Sample | None]) -> dict[int, list[Sample]]:
    """Return the legal samples of each encoding."""
    found: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample:
            found[sample.word & OPCODE].append(sample)
    return dict(found)


def _flip(corpus: Mapping[int, Sequence[Sample]], architecture: str, draw: random.Random) -> dict[int, Flips]:
    """Return samples of every shape, each with what one changed bit makes of it, and of what that reveals."""
    flips: dict[int, Flips] = defaultdict(list)
    seeds = [s for samples in corpus.values() for s in _of_each_shape(samples, _SEEDS, draw)]
    for _ in range(2):
        probes = [word for s in seeds for word in _around(s.word)]
        observed, changed = observe(probes, architecture), [*PROBED, *[-1] * len(special_words(0))]
        width = len(changed) + 1
        revealed: dict[int, list[Sample]] = defaultdict(list)
        for i in range(len(seeds)):
            base, *flipped = observed[i * width : (i + 1) * width]
            if base:
                flips[base.word & OPCODE].append((base, list(zip(changed, flipped, strict=True))))
                revealed[base.word & OPCODE] += [s for s in flipped if s]
        seeds = []
        for number, samples in revealed.items():
            known = {base.texts[2:] for base, _ in flips[number]}
            fresh = {s.texts[2:]: s for s in samples if s.texts[2:] not in known}
            seeds += draw.sample(list(fresh.values()), min(len(fresh), _NEW_SHAPES))
    return flips


def _around(word: int) -> list[int]:
    """Return a word, with each bit flipped, and with special numbers in it."""
    return [word, *(word ^ 1 << bit for bit in PROBED), *special_words(word)]


def _of_each_shape(samples: Sequence[Sample], most: int, draw: random.Random) -> list[Sample]:
    shapes: dict[tuple[str, ...], list[Sample]] = defaultdict(list)
    for sample in samples:
        shapes[sample.texts].append(sample)
    return [s for same in shapes.values() for s in draw.sample(same, min(len(same), most))]


def _trials(known: Knowledge, flips: Flips, draw: random.Random) -> Iterable[int]:
    """Yield words with random operands and every outcome of each part's conditions, or many pairs."""
    bases = [base.word for base, _ in flips]
    for part in range(known.parts):
        conditions = sorted(known.conditions(part), key=lambda c: c.isdigit())
        if len(conditions) <= _ENUMERATED:
            for outcome in range(1 << len(conditions)) if conditions else ():
                for _ in range(_REPEATS):
                    chosen = {c: outcome >> i & 1 for i, c in enumerate(conditions)}
                    yield _with_outcomes(_with_operands(draw.choice(bases), known.fields, draw), chosen, draw)
        else:
            for _ in range(_PAIRS):
                chosen = {c: draw.getrandbits(1) for c in draw.sample(conditions, 2)}
                yield _with_outcomes(_with_operands(draw.choice(bases), known.fields, draw), chosen, draw)


def _with_outcomes(word: int, chosen: Mapping[str, int], draw: random.Random) -> int:
    """Return a word changed so that conditions have these outcomes; plain bits must come last."""
    for spelling, outcome in chosen.items():
        condition = read_condition(spelling)
        field, most = condition.field, condition.field.largest
        if condition.test == "1" and most == 1:
            number = outcome
        elif condition.test == "shift":
            number = (
                1 << draw.randrange(len(field.bits)) if outcome else draw.choice((0, 3, draw.randrange(most)))
            )
        else:
            special = most if condition.test == "max" else int(condition.test)
            number = special if outcome else (special + 1 + draw.randrange(most)) % (most + 1)
        word = put(word, field, number)
    return word


def _with_operands(word: int, fields: Sequence[Field], draw: random.Random) -> int:
    """Return a word with most fields random; register numbers mostly fit wide operands."""
    for field in fields:
        if field.kind != "t" and draw.random() < 0.75:
            number = draw.randrange(field.largest + 1)
            if field.kind in ("R", "UR"):
                number &= ~draw.choice((7, 7, 3, 1, 0))
            elif field.kind in ("x", "o") and draw.random() < 0.3:
                number &= 255
            word = put(word, field, number)
    return word
