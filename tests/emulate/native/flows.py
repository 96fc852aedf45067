"""Random routines with structured control flow that diverges, and all kinds of memory accesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.emulate.native.programs import INPUT, OUTPUT, finish
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.ir import Op, Type

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from warpwatt.emulate.ir import Routine, Value

REGISTERS = tuple(f"r{i}" for i in range(5))
SHARED_WINDOW, LOCAL_WINDOW = 0xF0 << 40, 0xF1 << 40
OUTPUT_WORDS = 64
ATOMICS = ("add", "min", "max", "umin", "umax", "and", "or", "xor", "exch", "inc", "dec", "cas")


class FlowWriter:
    """Writes statements on a few registers, nested to some depth.

    ``shuffles`` may read registers of lanes that are elsewhere.
    """

    def __init__(self, random: Random, *, faults: bool = False, shuffles: bool = True) -> None:
        self.random, self.faults, self.b = random, faults, Builder()
        self.shuffles = 0.2 if shuffles else 0.0
        self.index = self.labels = 0
        for name in REGISTERS:
            self.b.declare(name, Type.I32)
        self.b.declare("p", Type.I1)
        self.b.declare("u", Type.I32, uniform=True)

    def routine(self, statements: int) -> Routine:
        self.next()
        for place, name in enumerate(REGISTERS):
            self.b.set(name, self.b.add(self.thread(), self.b.i32(place * 7)))
        for _ in range(statements):
            self.statement(0)
        for place, name in enumerate(REGISTERS):
            self.next()
            at = self.address(
                OUTPUT + 8192, self.b.add(self.b.mul(self.thread(), self.b.i32(5)), self.b.i32(place))
            )
            self.b.store("global", at, self.b.get(name))
        self.next()
        self.b.exit()
        return finish(self.b, self.index)

    # -- pieces -------------------------------------------------------------------------------------------

    def next(self) -> None:
        self.b.guard = None
        self.b.at(self.index)
        self.index += 1

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def thread(self) -> Value:
        b = self.b
        return b.add(b.special("tid.x"), b.mul(b.special("ctaid.x"), b.special("ntid.x")))

    def any(self) -> Value:
        b = self.b
        pick = self.random.randrange(8)
        if pick < 4:
            return b.get(self.random.choice(REGISTERS))
        return (b.lane(), b.get("u"), b.i32(self.random.randrange(40)), b.special("warpid"))[pick - 4]

    def condition(self) -> Value:
        b, a = self.b, self.any()
        kind = self.random.randrange(4)
        if kind == 0:
            return b.compare("slt", b.and_(a, b.i32(15)), b.i32(self.random.randrange(16)))
        if kind == 1:
            return b.compare("eq", b.and_(a, b.i32(1)), b.i32(0))
        return b.compare("ult", a, self.any()) if kind == 2 else b.get("p")

    def maybe_guard(self) -> None:
        if self.random.random() < 0.4:
            self.b.guard = self.condition()
            mask = self.b.guard
            self.b.guard = None
            self.b.emit(Op.COUNT, None, mask, data=self.index - 1)
            self.b.guard = mask

    def address(self, base: int, word: Value) -> Value:
        b = self.b
        return b.add(b.const(Type.I64, base), b.shl(b.zext(word, Type.I64), 2))

    # -- statements ---------------------------------------------------------------------------------------

    def statement(self, depth: int) -> None:
        kinds: list[Callable[..., None]]
        kinds = [self.assign, self.assign, self.predicate, self.memory, self.memory, self.uniform]
        nested = [self.branch, self.loop, self.gathered]
        if depth < 3:
            kinds += nested
        if depth == 0:
            kinds += [self.barrier]
        if self.random.random() < 0.03:
            kinds = [self.leave]
        chosen = self.random.choice(kinds)
        if chosen in nested:
            chosen(depth)
        else:
            self.next()
            chosen()

    def assign(self) -> None:
        self.maybe_guard()
        op = self.random.choice((Op.ADD, Op.SUB, Op.XOR, Op.UMIN, Op.MUL))
        value = self.b.op(op, self.any(), self.any())
        if self.random.random() < self.shuffles:
            value = self.b.shuffle(value, self.b.xor(self.b.lane(), self.b.i32(self.random.randrange(32))))
        self.b.set(self.random.choice(REGISTERS), value)

    def predicate(self) -> None:
        self.b.set("p", self.condition())

    def uniform(self) -> None:
        self.b.set("u", self.b.ballot(self.condition()))

    def leave(self) -> None:
        self.b.guard = self.condition()
        self.b.exit()

    def barrier(self) -> None:
        b = self.b
        if self.random.random() < 0.5:
            b.barrier(b.i32(0))
            return
        b.barrier(b.i32(1), reduce=self.condition())
        self.next()
        kind = self.random.choice(("popc", "and", "or"))
        b.set(
            self.random.choice(REGISTERS),
            b.call("barrier_result", (kind,), (Type.I32, 1), b.i32(1), uniform=True)[0],
        )

    def branch(self, depth: int) -> None:
        other, end = self.label(), self.label()
        self.next()
        self.b.branch(other, self.condition())
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth + 1)
        self.next()
        self.b.branch(end)
        self.b.begin(other)
        for _ in range(self.random.randrange(3)):
            self.statement(depth + 1)
        self.b.begin(end)

    def loop(self, depth: int) -> None:
        head, counter, bound = self.label(), f"c{depth}", f"b{depth}"
        self.b.declare(counter, Type.I32)
        self.b.declare(bound, Type.I32)
        self.next()
        self.b.set(counter, self.b.i32(0))
        self.b.set(bound, self.b.and_(self.any(), self.b.i32(3)))
        self.b.begin(head)
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth + 1)
        self.next()
        self.b.set(counter, self.b.add(self.b.get(counter), self.b.i32(1)))
        self.b.branch(head, self.b.compare("ult", self.b.get(counter), self.b.get(bound)))

    def gathered(self, depth: int) -> None:
        """A branch whose lanes meet again at a CONVERGE."""
        mask = f"m{depth}"
        self.b.declare(mask, Type.I32)
        self.next()
        self.b.set(mask, self.b.active())
        self.branch(depth)
        self.next()
        self.b.converge(self.b.get(mask))

    def memory(self) -> None:
        b = self.b
        self.maybe_guard()
        count = self.random.choice((1, 1, 2, 4))
        spread = self.random.choice((0, 1, 3, 31, 255))
        word = (
            b.and_(self.any(), b.i32(spread))
            if self.random.random() < 0.5
            else b.mul(b.lane(), b.i32(spread & 7))
        )
        if self.faults and self.random.random() < 0.1:
            word = b.mul(word, b.i32(self.random.choice((1 << 9, 1 << 12, 1 << 20))))
        place = b.mul(word, b.i32(4 * count))
        if self.faults and self.random.random() < 0.05:
            place = b.add(place, b.i32(self.random.choice((1, 2))))
        space, address = self.place(place)
        kind = self.random.randrange(4)
        if kind == 0:
            element = self.random.choice((Type.I32, Type.I16, Type.I8)) if count == 1 else Type.I32
            values = b.load(space, address, element, count)
            b.set(self.random.choice(REGISTERS), b.zext(values[-1], Type.I32))
        elif kind == 1:
            b.store(space, address, *(self.any() for _ in range(count)))
        elif kind == 2:
            low = self.any()
            b.store(space, address, b.trunc(low, Type.I16 if count > 1 else Type.I8))
        elif space != "local":
            name = self.random.choice(ATOMICS)
            operands = [self.any() for _ in range(2 if name == "cas" else 1)]
            old = b.atomic(space, name, address, *operands)
            b.set(self.random.choice(REGISTERS), old)

    def place(self, offset: Value) -> tuple[str, Value]:
        """A space, and an address of it made of a byte offset up to 4 KiB."""
        b = self.b
        wide = b.zext(offset, Type.I64)
        kind = self.random.randrange(7)
        if kind == 0:
            return "global", b.add(b.const(Type.I64, INPUT), wide)
        if kind == 1:
            return "global", b.add(b.const(Type.I64, OUTPUT), wide)
        if kind == 2:
            return "shared", b.add(offset, b.i32(self.random.choice((0, 64))))
        if kind == 3:
            return "local", b.and_(offset, b.i32(0x30))
        if kind == 4:
            return "generic", b.add(b.const(Type.I64, SHARED_WINDOW), wide)
        if kind == 5:
            local = b.const(Type.I64, LOCAL_WINDOW)
            return "generic", b.add(local, b.and_(wide, b.const(Type.I64, 0x30)))
        odd = b.compare("eq", b.and_(b.lane(), b.i32(1)), b.i32(0))
        return "generic", b.add(
            b.select(odd, b.const(Type.I64, SHARED_WINDOW), b.const(Type.I64, INPUT)), wide
        )
