"""LLVM text of functions that make one access of a warp: the usual patterns fast, the rest by call.

One function for each kind of access, the same for all routines. It looks for lanes side by side, lanes on one
address, then any addresses within the *range*, a piece of memory (start, bytes, distance to the host's
addresses) that needs no look-up: for global memory the one where the operation last went, for shared memory
the block's. What is not of these kinds, faults among it, is left to the run time.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpwatt.emulate.ir import Memory, Type
from warpwatt.emulate.native.records import MACHINE, RANGE, offset_of
from warpwatt.emulate.native.values import Text, suffix

_LANES = range(32)
_INTEGERS = {8: Type.I8, 16: Type.I16, 32: Type.I32, 64: Type.I64}
_GATHERED = (32, 64)
_ROW = 8
"""Lanes of a row: vectors of addresses are cut so anyway."""
_RUNTIME = """
declare void @load_lanes_directly(ptr, ptr, i32, i32) cold
declare void @store_lanes_directly(ptr, ptr, i32, i32) cold
!0 = !{!"branch_weights", i32 1000, i32 1}
"""


@dataclass(frozen=True, slots=True, order=True)
class AccessKind:
    """A kind of access: ``bits`` of each of ``count`` elements per lane; addresses of 32 or 64 bits."""

    stores: bool
    bits: int
    count: int
    address_bits: int

    @classmethod
    def of(cls, memory: Memory, *, stores: bool) -> AccessKind | None:
        """Return the kind of an operation; None if only the run time can do it."""
        size = memory.bytes
        if memory.space not in ("global", "generic", "shared") or size & (size - 1):
            return None
        return cls(stores, memory.element.bits, memory.count, 32 if memory.space == "shared" else 64)

    @property
    def name(self) -> str:
        """Name of the function.

        >>> AccessKind(False, 32, 4, 64).name
        'load_64_32x4'
        """
        return f"{'store' if self.stores else 'load'}_{self.address_bits}_{self.bits}x{self.count}"

    @property
    def lanes(self) -> str:
        """LLVM type of one element of all lanes."""
        return f"<32 x i{self.bits}>"

    @property
    def result(self) -> str:
        """LLVM type of what the function returns."""
        return "void" if self.stores else f"{{ {', '.join([self.lanes] * self.count)} }}"

    @property
    def parameters(self) -> str:
        """LLVM types of machine, warp, range, row of the operation, lanes that are on, addresses, values."""
        values = [self.lanes] * self.count if self.stores else []
        return ", ".join(["ptr, ptr, ptr, i32, i32", f"<32 x i{self.address_bits}>", *values])

    @property
    def declaration(self) -> str:
        """Declaration of the function."""
        return f"declare {self.result} @{self.name}({self.parameters})"


def access_text(kind: AccessKind) -> str:
    """Return the function of a kind of access."""
    return _Function(kind).text


class _Function:
    """Writes one function. ``close`` ends what is done where a pattern was found."""

    def __init__(self, kind: AccessKind) -> None:
        self.kind, self.bytes, self.out = kind, kind.bits // 8 * kind.count, Text(1)
        self.vector = f"<32 x i{kind.address_bits}>"
        self.word = _INTEGERS[kind.address_bits]
        values = [f", {kind.lanes} %v{k}" for k in range(kind.count)] if kind.stores else []
        self.values = [f"%v{k}" for k in range(kind.count)]
        self.out.lines.append(
            f"define {kind.result} @{kind.name}(ptr %m, ptr %w, ptr %range, i32 %row, i32 %on, "
            f"{self.vector} %x{''.join(values)}) {{"
        )
        self._begin()
        self._side_by_side()
        if not kind.stores:
            self._on_one_address()
        if kind.bits in _GATHERED:
            self._anywhere()
        self._by_call()
        self.text = "\n".join([_RUNTIME, *self.out.lines, "}"])

    def _begin(self) -> None:
        out = self.out
        start, bytes_, self.distance = (
            out.load("i64", "%range", offset_of(RANGE, name)) for name in ("start", "bytes", "distance")
        )
        self.start, self.range_bytes = start, bytes_
        out.do("%lanes = bitcast i32 %on to <32 x i1>")
        out.do("%zeros = call i32 @llvm.cttz.i32(i32 %on, i1 false)")
        out.do("%first = and i32 %zeros, 31")
        steps = ", ".join(f"i{self.word.bits} {lane * self.bytes}" for lane in _LANES)
        out.do(f"%starts = sub {self.vector} %x, <{steps}>")
        out.do("%whole = trunc i32 %on to i1")
        out.do("br i1 %whole, label %lane0, label %later, !prof !0")
        for label, lane in (("lane0", "0"), ("later", "%first")):
            out.label(label)
            for name, vector in (("b", "%starts"), ("u", "%x")):
                out.do(f"%{label}.{name} = extractelement {self.vector} {vector}, i32 {lane}")
            out.do("br label %begin")
        out.label("begin")
        for name in "bu":
            out.do(f"%{name} = phi i{self.word.bits} [ %lane0.{name}, %lane0 ], [ %later.{name}, %later ]")

    def _all_equal(self, values: str, value: str) -> str:
        """Return whether all lanes that are on have a value."""
        out = self.out
        other = out.let(f"icmp ne {self.vector} {values}, {out.splat(self.word, value)}")
        wrong = out.let(f"and <32 x i1> {other}, %lanes")
        return out.let(f"icmp eq i32 {out.let(f'bitcast <32 x i1> {wrong} to i32')}, 0")

    def _enter(self, name: str, found: str, start: str, span: str) -> str:
        """Go on where a pattern was found if all its bytes lie in the range, aligned; else behind it.

        Return the distance of ``start``, the first active lane's address, from the range's start.
        """
        out = self.out
        wide = out.let(f"zext i32 {start} to i64") if self.word is Type.I32 else start
        offset = out.let(f"sub i64 {wide}, {self.start}")
        end = out.let(f"add i64 {offset}, {span}")
        inside = out.let(f"icmp ult i64 {offset}, {self.range_bytes}")
        whole = out.let(f"icmp ule i64 {end}, {self.range_bytes}")
        low = out.let(f"and i64 {wide}, {self.bytes - 1}")
        for one in (inside, whole, out.let(f"icmp eq i64 {low}, 0")):
            found = out.let(f"and i1 {found}, {one}")
        out.do(f"br i1 {found}, label %{name}, label %not.{name}")
        out.label(name)
        return wide

    def _host(self, address: str) -> str:
        out = self.out
        return out.let(f"inttoptr i64 {out.let(f'add i64 {address}, {self.distance}')} to ptr")

    def _close(self, name: str, values: list[str]) -> None:
        out, made = self.out, "poison"
        if self.kind.stores:
            out.do("ret void")
        else:
            for number, value in enumerate(values):
                made = out.let(f"insertvalue {self.kind.result} {made}, {self.kind.lanes} {value}, {number}")
            out.do(f"ret {self.kind.result} {made}")
        if name:
            out.label(f"not.{name}")

    # -- lanes side by side ---------------------------------------------------------------------------

    def _side_by_side(self) -> None:
        """Each lane reaches the bytes behind those of the lane before."""
        out, kind = self.out, self.kind
        last = out.let(f"sub i32 31, {out.let('call i32 @llvm.ctlz.i32(i32 %on, i1 false)')}")
        lanes = out.let(f"add i32 {out.let(f'sub i32 {last}, %first')}, 1")
        span = out.let(f"zext i32 {out.let(f'mul i32 {lanes}, {self.bytes}')} to i64")
        at = self._enter("near", self._all_equal("%starts", "%b"), "%u", span)
        before = out.let(f"zext i32 {out.let(f'mul i32 %first, {self.bytes}')} to i64")
        host = self._host(out.let(f"sub i64 {at}, {before}"))
        many = f"<{32 * kind.count} x i{kind.bits}>"
        name, mask = f"v{32 * kind.count}i{kind.bits}", self._repeated()
        place = f"ptr align {kind.bits // 8} {host}, <{32 * kind.count} x i1> {mask}"
        if kind.stores:
            made = _interleaved(out, kind, self.values)
            place = f"{many} {made}, {place}"
            out.do(f"call void @llvm.masked.store.{name}.p0({place})")
            self._close("near", [])
            return
        read = out.let(f"call {many} @llvm.masked.load.{name}.p0({place}, {many} zeroinitializer)")
        self._close("near", [read] if kind.count == 1 else _parted(out, kind, read))

    def _repeated(self) -> str:
        """Return the mask of all elements of the lanes."""
        count = self.kind.count
        if count == 1:
            return "%lanes"
        order = ", ".join(f"i32 {k // count}" for k in range(32 * count))
        return self.out.let(
            f"shufflevector <32 x i1> %lanes, <32 x i1> poison, <{32 * count} x i32> <{order}>"
        )

    # -- lanes on one address -------------------------------------------------------------------------

    def _on_one_address(self) -> None:
        out, kind = self.out, self.kind
        at = self._enter("same", self._all_equal("%x", "%u"), "%u", str(self.bytes))
        host, size, type_ = self._host(at), kind.bits // 8, _INTEGERS[kind.bits]
        read = [out.splat(type_, out.load(f"i{kind.bits}", host, size * k, size)) for k in range(kind.count)]
        zero = f"{kind.lanes} zeroinitializer"
        self._close("same", [out.let(f"select <32 x i1> %lanes, {kind.lanes} {v}, {zero}") for v in read])

    # -- any addresses --------------------------------------------------------------------------------

    def _anywhere(self) -> None:
        """Any addresses within the range: rows of eight lanes side by side or on one address, or none."""
        out = self.out
        offsets, wrong = self._offsets()
        out.do(f"br i1 {out.let(f'icmp eq i32 {wrong}, 0')}, label %inside, label %not.inside, !prof !0")
        out.label("inside")
        order = ", ".join(f"i32 {lane & -_ROW}" for lane in _LANES)
        firsts = out.let(f"shufflevector {self.vector} %x, {self.vector} poison, <32 x i32> <{order}>")
        steps = out.let(f"sub {self.vector} %x, {firsts}")
        if self.kind.count == 1:
            each = ", ".join(f"i{self.word.bits} {lane % _ROW * self.bytes}" for lane in _LANES)
            self._rows("near", f"icmp ne {self.vector} {steps}, <{each}>")
        if not self.kind.stores:
            self._rows("same", f"icmp ne {self.vector} {steps}, zeroinitializer")
        self._gather(offsets)

    def _offsets(self) -> tuple[str, str]:
        """Return distances from the range's start, and the lanes that are not in it or not aligned."""
        out, vector, bits = self.out, self.vector, self.word.bits
        start = out.let(f"trunc i64 {self.start} to i32") if bits == 32 else self.start
        least = out.let(f"call i64 @llvm.usub.sat.i64(i64 {self.range_bytes}, i64 {self.bytes - 1})")
        least = out.let(f"call i64 @llvm.umin.i64(i64 {least}, i64 {1 << 31})")  # so that 32 bits hold them
        least = out.let(f"trunc i64 {least} to i32") if bits == 32 else least
        offsets = out.let(f"sub {vector} %x, {out.splat(self.word, start)}")
        outside = out.let(f"icmp uge {vector} {offsets}, {out.splat(self.word, least)}")
        low = out.let(f"and {vector} %x, splat (i{bits} {self.bytes - 1})")
        odd = out.let(f"icmp ne {vector} {low}, zeroinitializer")
        wrong = out.let(f"or <32 x i1> {outside}, {odd}")
        return offsets, out.let(f"bitcast <32 x i1> {out.let(f'and <32 x i1> {wrong}, %lanes')} to i32")

    def _rows(self, how: str, different: str) -> None:
        """Move rows of lanes, as blocks that are 8 or 16 threads wide have them, if no lane is different."""
        out = self.out
        wrong = out.let(f"and <32 x i1> {out.let(different)}, %lanes")
        none = out.let(f"icmp eq i32 {out.let(f'bitcast <32 x i1> {wrong} to i32')}, 0")
        out.do(f"br i1 {none}, label %{how}.rows, label %not.{how}.rows")
        out.label(f"{how}.rows")
        move = {"near": self._row, "same": self._repeat}[how]
        rows = [move(first) for first in range(0, 32, _ROW)]
        self._close(f"{how}.rows", [self._joined([row[k] for row in rows]) for k in range(len(rows[0]))])

    def _row(self, first: int) -> list[str]:
        """Move the lanes of a row that are side by side; return their elements."""
        out, bits = self.out, self.kind.bits
        host, mask = self._row_host(first), self._row_of("%lanes", "i1", first)
        kind, name = f"<{_ROW} x i{bits}>", f"v{_ROW}i{bits}"
        place = f"ptr align {bits // 8} {host}, <{_ROW} x i1> {mask}"
        if self.kind.stores:
            value = self._row_of(self.values[0], f"i{bits}", first)
            out.do(f"call void @llvm.masked.store.{name}.p0({kind} {value}, {place})")
            return []
        return [out.let(f"call {kind} @llvm.masked.load.{name}.p0({place}, {kind} zeroinitializer)")]

    def _repeat(self, first: int) -> list[str]:
        """Return the elements of a row whose lanes are on one address, or all off."""
        out, bits, mask = self.out, self.kind.bits, self._row_of("%lanes", "i1", first)
        one = out.let(f"call i1 @llvm.vector.reduce.or.v{_ROW}i1(<{_ROW} x i1> {mask})")
        host = out.let(f"select i1 {one}, ptr {self._row_host(first)}, ptr %m")  # any that can be read
        kind, made = f"<{_ROW} x i{bits}>", []
        for number in range(self.kind.count):
            read = out.load(f"i{bits}", host, bits // 8 * number, bits // 8)
            value = out.let(f"insertelement {kind} poison, i{bits} {read}, i32 0")
            value = out.let(f"shufflevector {kind} {value}, {kind} poison, <{_ROW} x i32> zeroinitializer")
            made.append(out.let(f"select <{_ROW} x i1> {mask}, {kind} {value}, {kind} zeroinitializer"))
        return made

    def _row_host(self, first: int) -> str:
        out = self.out
        address = out.let(f"extractelement {self.vector} %x, i32 {first}")
        return self._host(out.let(f"zext i32 {address} to i64") if self.word is Type.I32 else address)

    def _row_of(self, lanes: str, short: str, first: int) -> str:
        """Return the lanes of a row."""
        order = ", ".join(f"i32 {lane}" for lane in range(first, first + _ROW))
        kind = f"<32 x {short}>"
        return self.out.let(f"shufflevector {kind} {lanes}, {kind} poison, <{_ROW} x i32> <{order}>")

    def _joined(self, rows: list[str]) -> str:
        """Return all lanes of four rows."""
        out, width = self.out, _ROW
        while len(rows) > 1:
            kind = f"<{width} x i{self.kind.bits}>"
            order = ", ".join(f"i32 {k}" for k in range(2 * width))
            pairs = zip(rows[::2], rows[1::2], strict=True)
            rows = [
                out.let(f"shufflevector {kind} {a}, {kind} {b}, <{2 * width} x i32> <{order}>")
                for a, b in pairs
            ]
            width *= 2
        return rows[0]

    def _gather(self, offsets: str) -> None:
        """Gather or scatter."""
        out, kind = self.out, self.kind
        if self.word is Type.I64:
            offsets = out.let(f"trunc <32 x i64> {offsets} to <32 x i32>")
        values = []
        for number in range(kind.count):
            host = self._host(out.let(f"add i64 {self.start}, {number * kind.bits // 8}"))
            places = out.let(f"getelementptr i8, ptr {host}, <32 x i32> {offsets}")
            at, name = f"<32 x ptr> align {kind.bits // 8} {places}, <32 x i1> %lanes", suffix(kind.lanes)
            if kind.stores:
                value = f"{kind.lanes} {self.values[number]}"
                out.do(f"call void @llvm.masked.scatter.{name}.v32p0({value}, {at})")
            else:
                zero = f"{kind.lanes} zeroinitializer"
                values.append(out.let(f"call {kind.lanes} @llvm.masked.gather.{name}.v32p0({at}, {zero})"))
        self._close("inside", values)

    def _by_call(self) -> None:
        """Leave it to the run time."""
        out, kind = self.out, self.kind
        wide = out.let("zext <32 x i32> %x to <32 x i64>") if self.word is Type.I32 else "%x"
        out.store("<32 x i64>", wide, "%m", offset_of(MACHINE, "addresses"), 64)
        size = 4 * kind.bits
        places = [offset_of(MACHINE, "values") + size * number for number in range(kind.count)]
        if kind.stores:
            for place, value in zip(places, self.values, strict=True):
                out.store(kind.lanes, value, "%m", place, min(size, 64))
        name = "store_lanes_directly" if kind.stores else "load_lanes_directly"
        out.do(f"call void @{name}(ptr %m, ptr %w, i32 %row, i32 %on)")
        read = [] if kind.stores else [out.load(kind.lanes, "%m", place, min(size, 64)) for place in places]
        self._close("", read)


def _parted(out: Text, kind: AccessKind, read: str) -> list[str]:
    """Return each element of all lanes, of elements that lie lane by lane."""
    many = f"<{32 * kind.count} x i{kind.bits}>"
    orders = (
        ", ".join(f"i32 {lane * kind.count + number}" for lane in _LANES) for number in range(kind.count)
    )
    return [out.let(f"shufflevector {many} {read}, {many} poison, <32 x i32> <{order}>") for order in orders]


def _interleaved(out: Text, kind: AccessKind, values: list[str]) -> str:
    """Return the elements lane by lane: first and second half are joined, until neighbours meet."""
    width = 32
    while len(values) > 1:
        half, type_ = len(values) // 2, f"<{width} x i{kind.bits}>"
        order = ", ".join(f"i32 {k // 2 + width * (k % 2)}" for k in range(2 * width))
        values = [
            out.let(
                f"shufflevector {type_} {values[k]}, {type_} {values[k + half]}, "
                f"<{2 * width} x i32> <{order}>"
            )
            for k in range(half)
        ]
        width *= 2
    return values[0]
