"""Random loop nests: a tiny language with two readings, PTX text and a direct interpretation.

The interpretation is the oracle of the counting tests: it runs every thread and notes, for every mark, the
iterations of the loops around it. A warp executes a mark once per distinct set of iterations among its lanes.
"""

from __future__ import annotations

import contextlib
import operator
from collections import defaultdict
from dataclasses import dataclass

from hypothesis import strategies as st

COMPARE = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
INVERSE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}


class TooLongError(Exception):
    """The nest runs for longer than a test may."""


@dataclass(frozen=True)
class Sum:
    """``factor * name + constant``; the name is "tid", "cta", "n", a loop variable, or empty."""

    name: str
    factor: int
    constant: int


@dataclass(frozen=True)
class Test:
    left: Sum
    compare: str
    right: Sum
    signed: bool


@dataclass(frozen=True)
class Mark:
    number: int


@dataclass(frozen=True)
class If:
    test: Test
    then: tuple
    otherwise: tuple


@dataclass(frozen=True)
class Leave:
    """``if (test) break;`` or, with ``returns``, ``return;``."""

    test: Test
    returns: bool


@dataclass(frozen=True)
class For:
    variable: str
    start: Sum
    compare: str
    signed: bool
    bound: Sum
    step: tuple  # ("add", 3), ("sub", 2), ("mul", 2), ("shl", 1), ("shr", 1), ("div", 3)
    rotated: bool
    body: tuple


def wrap(value: int, signed: bool) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if signed and value >> 31 else value


def stepped(value: int, step: tuple, signed: bool) -> int:
    op, by = step
    value = wrap(value, signed)
    if op == "div":
        value = abs(value) // by * (1 if value >= 0 else -1)
    else:
        value = {
            "add": value + by,
            "sub": value - by,
            "mul": value * by,
            "shl": value << by,
            "shr": value >> by,
        }[op]
    return wrap(value, True)


# Interpretation ---------------------------------------------------------------------------------------------


def run(nest: tuple, n: int, grid: int, block: int, budget: int = 60_000) -> dict[int, tuple[int, int]]:
    """Return executions by warps and by lanes of every mark."""
    warps: dict[int, int] = defaultdict(int)
    lanes: dict[int, int] = defaultdict(int)
    used = 0
    for cta in range(grid):
        for first in range(0, block, 32):
            seen: dict[int, set] = defaultdict(set)
            for tid in range(first, min(first + 32, block)):
                values = {"tid": tid, "cta": cta, "n": n, "": 0}
                for mark, when in _events(nest, values, ()):
                    used += 1
                    if used > budget:
                        raise TooLongError
                    if mark is not None:
                        seen[mark].add(when)
                        lanes[mark] += 1
            for mark, times in seen.items():
                warps[mark] += len(times)
    return {mark: (warps[mark], lanes[mark]) for mark in warps}


class _BreakError(Exception):
    pass


class _ReturnError(Exception):
    pass


def _events(nest, values, when):
    events: list = []
    with contextlib.suppress(_ReturnError):
        _execute(nest, values, when, events)
    return events


def _execute(nest, values, when, events):
    if len(events) > 20_000:
        raise TooLongError
    for statement in nest:
        if isinstance(statement, Mark):
            events.append((statement.number, when))
        elif isinstance(statement, If):
            _execute(
                statement.then if _holds(statement.test, values) else statement.otherwise,
                values,
                when,
                events,
            )
        elif isinstance(statement, Leave):
            if _holds(statement.test, values):
                raise _ReturnError if statement.returns else _BreakError
        else:
            _loop(statement, values, when, events)


def _loop(loop, values, when, events):
    values = dict(values)
    values[loop.variable] = _value(loop.start, values)
    number = 0
    while COMPARE[loop.compare](
        wrap(values[loop.variable], loop.signed), wrap(_value(loop.bound, values), loop.signed)
    ):
        events.append((None, when))
        if len(events) > 20_000:
            raise TooLongError
        try:
            _execute(loop.body, values, (*when, number), events)
        except _BreakError:
            break
        values[loop.variable] = stepped(values[loop.variable], loop.step, loop.signed)
        number += 1


def _value(what, values):
    return wrap(values[what.name] * what.factor + what.constant, True)


def _holds(test, values):
    left, right = (wrap(_value(x, values), test.signed) for x in (test.left, test.right))
    return COMPARE[test.compare](left, right)


# PTX --------------------------------------------------------------------------------------------------------


def ptx(nest: tuple) -> str:
    """Return a kernel whose mark ``i`` is a store at offset ``4 * i``."""
    writer = _Writer()
    writer.block(nest, "DONE")
    body = "\n".join(writer.lines)
    return f"""
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{{
.reg .pred %p<999>;
.reg .b32 %r<999>;
.reg .b64 %d<9>;
ld.param.u64 %d1, [p];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mov.u32 %r3, %ctaid.x;
{body}
DONE:
ret;
}}
"""


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names = {"n": "%r1", "tid": "%r2", "cta": "%r3"}
        self.registers, self.predicates, self.labels = 10, 0, 0

    def fresh(self) -> str:
        self.registers += 1
        return f"%r{self.registers}"

    def predicate(self) -> str:
        self.predicates += 1
        return f"%p{self.predicates}"

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def value(self, what: Sum) -> str:
        if what.name and (what.factor, what.constant) == (1, 0):
            return self.names[what.name]
        target = self.fresh()
        if not what.name:
            self.lines.append(f"mov.u32 {target}, {what.constant};")
        else:
            self.lines.append(
                f"mad.lo.s32 {target}, {self.names[what.name]}, {what.factor}, {what.constant};"
            )
        return target

    def compare(self, left: str, compare: str, right: str, signed: bool) -> str:
        predicate = self.predicate()
        self.lines.append(f"setp.{compare}.{'s' if signed else 'u'}32 {predicate}, {left}, {right};")
        return predicate

    def test(self, test: Test) -> str:
        return self.compare(self.value(test.left), test.compare, self.value(test.right), test.signed)

    def block(self, nest: tuple, leave: str) -> None:
        for statement in nest:
            if isinstance(statement, Mark):
                self.lines.append(f"st.global.u32 [%d1+{4 * statement.number}], %r2;")
            elif isinstance(statement, If):
                self.branch(statement, leave)
            elif isinstance(statement, Leave):
                predicate = self.test(statement.test)
                self.lines.append(f"@{predicate} {'ret' if statement.returns else f'bra {leave}'};")
            else:
                self.loop(statement)

    def branch(self, statement: If, leave: str) -> None:
        otherwise, end = self.label(), self.label()
        self.lines.append(f"@!{self.test(statement.test)} bra {otherwise};")
        self.block(statement.then, leave)
        self.lines += [f"bra {end};", f"{otherwise}:"]
        self.block(statement.otherwise, leave)
        self.lines.append(f"{end}:")

    def loop(self, loop: For) -> None:
        variable, top, end = self.fresh(), self.label(), self.label()
        start = self.value(loop.start)
        self.lines.append(f"mov.u32 {variable}, {start};")
        bound = self.value(loop.bound)
        self.names[loop.variable] = variable
        kind = "s32" if loop.signed else "u32"
        step = {"mul": "mul.lo.s32", "shl": "shl.b32"}.get(loop.step[0], f"{loop.step[0]}.{kind}")
        if loop.rotated:
            outside = self.compare(variable, INVERSE[loop.compare], bound, loop.signed)
            self.lines += [f"@{outside} bra {end};", f"{top}:"]
        else:
            outside = None
            self.lines.append(f"{top}:")
            predicate = self.compare(variable, INVERSE[loop.compare], bound, loop.signed)
            self.lines.append(f"@{predicate} bra {end};")
        self.block(loop.body, end)
        self.lines.append(f"{step} {variable}, {variable}, {loop.step[1]};")
        if loop.rotated:
            again = self.compare(variable, loop.compare, bound, loop.signed)
            self.lines.append(f"@{again} bra {top};")
        else:
            self.lines.append(f"bra {top};")
        self.lines.append(f"{end}:")


# Generation -------------------------------------------------------------------------------------------------

constants = st.integers(-3, 12)
STEPS = [
    ("add", 1),
    ("add", 2),
    ("add", 5),
    ("sub", 1),
    ("sub", 3),
    ("mul", 2),
    ("shl", 1),
    ("shr", 1),
    ("div", 3),
]


@st.composite
def sums(draw, names):
    name = draw(st.sampled_from(["", *names]))
    return Sum(name, draw(st.sampled_from([1, 1, 1, 2, -1])) if name else 0, draw(constants))


@st.composite
def tests(draw, names):
    return Test(
        draw(sums(names)), draw(st.sampled_from(sorted(COMPARE))), draw(sums(names)), draw(st.booleans())
    )


@st.composite
def nests(draw, depth=3, names=("tid", "cta", "n"), inside=False, counter=None, leaves=True):
    counter = counter if counter is not None else [0]
    result: list[Mark | If | For | Leave] = []
    for _ in range(draw(st.integers(1, 2))):
        kinds = ["mark", "if", "for", "for"] if depth else ["mark"]
        kind = draw(st.sampled_from([*kinds, "leave"] if inside and leaves else kinds))
        inner = {"depth": depth - 1, "counter": counter, "leaves": leaves}
        if kind == "if":
            test = draw(tests(names))
            then = draw(nests(names=names, inside=inside, **inner))
            result.append(If(test, then, draw(nests(names=names, inside=inside, **inner))))
        elif kind == "for":
            variable = f"i{counter[0]}"
            counter[0] += 1
            result.append(
                For(
                    variable,
                    draw(sums(names)),
                    draw(st.sampled_from(sorted(COMPARE))),
                    draw(st.booleans()),
                    draw(sums(names)),
                    draw(st.sampled_from(STEPS)),
                    draw(st.booleans()),
                    draw(nests(names=(*names, variable), inside=True, **inner)),
                )
            )
        elif kind == "leave":
            result.append(Leave(draw(tests(names)), draw(st.sampled_from([False, False, True]))))
        result.append(Mark(counter[0]))
        counter[0] += 1
    return tuple(result)
