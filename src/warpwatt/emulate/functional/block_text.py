"""The text of the function while it is written, and where it keeps registers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.emulate.functional.live_registers import live_registers
from warpwatt.emulate.ir import Type
from warpwatt.emulate.native.records import WARP, offset_of
from warpwatt.emulate.native.tables import RoutineTables
from warpwatt.emulate.native.values import Text, scalar_type, suffix, vector_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpwatt.emulate.functional.access_text import AccessKind
    from warpwatt.emulate.ir import RegisterKind, Value


@dataclass(slots=True, eq=False)
class Tables(RoutineTables):
    """The text of a routine and what goes with it.

    Attributes
    ----------
    text
        It, once it is written.
    live
        The registers that are kept in front of each block.
    places
        LLVM names of where registers of lanes lie.
    kinds
        Kinds of accesses, whose functions the text calls.
    incomplete
        Blocks with instructions without semantics, which note that they were executed.
    """

    text: str = ""
    live: tuple[frozenset[str], ...] = ()
    places: dict[str, str] = field(default_factory=dict)
    kinds: set[AccessKind] = field(default_factory=set)
    incomplete: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        RoutineTables.__post_init__(self)
        self.live = live_registers(self.routine)
        kept = [name for name, kind in self.routine.registers.items() if not kind.uniform]
        self.places = {name: f"%r{number}" for number, name in enumerate(kept)}
        self.incomplete = frozenset(self.routine.block_of(i) for i in self.routine.uncovered)


class BlockText(Text):
    """The text of the function, written block by block."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(1)
        self.tables = tables
        self.constants: dict[int, int] = {}
        self.current: dict[str, Value] = {}

    def begin_block(self, number: int, length: int) -> None:
        """Forget the values of the block before; nothing but registers lives on."""
        self.active, self.active_bits, self.length = f"%act{number}", f"%a{number}", length
        self.values.clear()
        self.scalars.clear()
        self._vectors.clear()
        self.constants.clear()
        self.current.clear()

    def fresh_label(self) -> str:
        """Return a name for an LLVM block."""
        return "l" + self.name()[1:]

    def keep(self, names: Iterable[str]) -> None:
        """Keep what registers hold for the blocks behind: they do already."""

    def branch(self, condition: str, yes: str, no: str, *, weights: str = "") -> None:
        """End an LLVM block; ``weights`` names what is known about the odds."""
        odds = f", !prof {weights}" if weights else ""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}{odds}")

    def activate(self, lanes: str) -> None:
        """Say which lanes are active, for what is written next and for the run time."""
        self.do(f"store i32 {lanes}, ptr %active")
        self.store("i32", lanes, "%w", offset_of(WARP, "active"))

    def stop_if_failed(self) -> None:
        """Leave the function if the run has met a fault."""
        on = self.fresh_label()
        self.do(f"br i1 {self.failed()}, label %stop, label %{on}, !prof !2")
        self.label(on)

    def park(self, lanes: str, target: int) -> None:
        """Let lanes wait in front of a block."""
        self.park_registers(lanes, (target,))
        on = self.let(f"bitcast i32 {lanes} to <32 x i1>")
        place = self.at("%w", offset_of(WARP, "next"))
        self.do(
            f"call void @llvm.masked.store.v32i32.p0(<32 x i32> splat (i32 {target}), ptr align 64 {place}, "
            f"<32 x i1> {on})"
        )

    def park_registers(self, lanes: str, targets: Iterable[int]) -> None:
        """Write to the warp's record what some lanes need in blocks where they are to go on."""
        tables = self.tables
        names = frozenset[str]().union(*(tables.live[target] for target in targets))
        on = self.let(f"bitcast i32 {lanes} to <32 x i1>") if names else ""
        for name in sorted(names):
            kind, place = self.register(name).type, self.at("%w", tables.offsets[name])
            vector = vector_type(kind)
            value = self.let(f"load {vector}, ptr {tables.places[name]}")
            if kind is Type.I1:
                bits, old = self.let(f"bitcast {vector} {value} to i32"), self.let(f"load i32, ptr {place}")
                change = self.let(f"and i32 {self.let(f'xor i32 {old}, {bits}')}, {lanes}")
                self.do(f"store i32 {self.let(f'xor i32 {old}, {change}')}, ptr {place}")
            else:
                at = f"ptr align 64 {place}, <32 x i1> {on}"
                self.do(f"call void @llvm.masked.store.{suffix(vector)}.p0({vector} {value}, {at})")

    def read_parked(self, number: int) -> None:
        """Read back what lanes need that were parked in front of a block."""
        for name in sorted(self.tables.live[number]):
            kind, offset = self.register(name).type, self.tables.offsets[name]
            if kind is Type.I1:
                value = self.let(f"bitcast i32 {self.load('i32', '%w', offset)} to <32 x i1>")
            else:
                value = self.load(vector_type(kind), "%w", offset, 64)
            self.do(f"store {vector_type(kind)} {value}, ptr {self.tables.places[name]}")

    # -- registers ------------------------------------------------------------------------------------

    def register(self, name: str) -> RegisterKind:
        """Return what kind a register is of."""
        return self.tables.routine.registers[name]

    def get(self, result: Value, name: str) -> None:
        """Read a register: GET."""
        if name in self.current:
            known = self.current[name]
            self.bind(result, self.values[known.index], scalar=self.is_scalar(known))
        elif self.register(name).uniform:
            self.bind(result, self._uniform(name), scalar=True)
        else:
            self.bind(result, self._lanes(name), scalar=False)

    def set(self, name: str, value: Value, mask: Value | None) -> None:
        """Write a register: SET."""
        kind = self.register(name)
        if kind.uniform:
            self._set_uniform(name, value, mask)
            return
        made, vector = self.vector(value), vector_type(kind.type)
        if mask is None:
            self.current[name] = value
        else:
            self.current.pop(name, None)
            old = self._lanes(name)
            made = self.let(f"select <32 x i1> {self.vector(mask)}, {vector} {made}, {vector} {old}")
        self.do(f"store {vector} {made}, ptr {self.tables.places[name]}")

    def _lanes(self, name: str) -> str:
        """Return what a register holds in each lane."""
        kind = vector_type(self.register(name).type)
        return self.let(f"load {kind}, ptr {self.tables.places[name]}")

    def _uniform(self, name: str) -> str:
        """Return what a register of the whole warp holds."""
        kind, offset = self.register(name), self.tables.offsets[name]
        if kind.type is Type.I1:
            return self.let(f"trunc i8 {self.load('i8', '%w', offset)} to i1")
        return self.load(scalar_type(kind.type), "%w", offset)

    def _set_uniform(self, name: str, value: Value, mask: Value | None) -> None:
        """Write a register of the whole warp, which lies in the warp's record all the time."""
        kind, offset = self.register(name), self.tables.offsets[name]
        made, short = self.scalar(value), scalar_type(kind.type)
        if kind.type is Type.I1:
            made, short = self.let(f"zext i1 {made} to i8"), "i8"
        if mask is not None:
            old = self.load(short, "%w", offset)
            some = self.let(f"icmp ne i32 {self.on(mask)}, 0")
            made = self.let(f"select i1 {some}, {short} {made}, {short} {old}")
        self.store(short, made, "%w", offset)


class RecordText(BlockText):
    """The same for long routines: registers of lanes lie in the warp's record all the time.

    A block reads them where it first needs them, and writes back what blocks behind it may read, for its
    active lanes. Nothing is left to do where lanes part or come together, and LLVM has no values that live
    beyond a block: it takes a third of the time.
    """

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self._held: dict[str, str] = {}
        self._changed: dict[str, None] = {}

    def begin_block(self, number: int, length: int) -> None:
        """Forget the values of the block before."""
        super().begin_block(number, length)
        self._held.clear()
        self._changed.clear()

    def keep(self, names: Iterable[str]) -> None:
        """Write back those of some registers that the block has changed."""
        wanted = set(names)
        for name in self._changed:
            if name in wanted:
                self._write_back(name)

    def _write_back(self, name: str) -> None:
        kind, offset = self.register(name).type, self.tables.offsets[name]
        made, vector = self._lanes(name), vector_type(kind)
        if kind is Type.I1:
            bits, old = self.let(f"bitcast {vector} {made} to i32"), self.load("i32", "%w", offset)
            change = self.let(f"and i32 {self.let(f'xor i32 {old}, {bits}')}, {self.active_bits}")
            self.store("i32", self.let(f"xor i32 {old}, {change}"), "%w", offset)
            return
        old = self.load(vector, "%w", offset, 64)
        made = self.let(f"select <32 x i1> {self.active}, {vector} {made}, {vector} {old}")
        self.store(vector, made, "%w", offset, 64)

    def park_registers(self, lanes: str, targets: Iterable[int]) -> None:
        """Nothing: the record holds them."""

    def read_parked(self, number: int) -> None:
        """Nothing: they are read where they are needed."""

    def set(self, name: str, value: Value, mask: Value | None) -> None:
        """Write a register: SET."""
        if self.register(name).uniform:
            super().set(name, value, mask)
            return
        if mask is not None:
            made, old, vector = self.vector(value), self._lanes(name), vector_type(value.type)
            self._held[name] = self.let(
                f"select <32 x i1> {self.vector(mask)}, {vector} {made}, {vector} {old}"
            )
            self.current.pop(name, None)
        else:
            self.current[name] = value
        self._changed[name] = None

    def _lanes(self, name: str) -> str:
        """Return what a register holds in each lane."""
        if name in self.current:
            return self.vector(self.current[name])
        if name not in self._held:
            kind, offset = self.register(name).type, self.tables.offsets[name]
            if kind is Type.I1:
                self._held[name] = self.let(f"bitcast i32 {self.load('i32', '%w', offset)} to <32 x i1>")
            else:
                self._held[name] = self.load(vector_type(kind), "%w", offset, 64)
        return self._held[name]
