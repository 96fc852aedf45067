"""Control flow: jumps, calls, convergence of a warp's lanes, barriers, and what only orders memory.

A convergence barrier ``B0`` is a register of each lane: the mask of the lanes that entered the region
together (BSSY) and wait for one another at its end (BSYNC). Lanes that leave (BREAK) are noted in a register
of the warp, ``B0.left``, and no longer waited for.
"""

from __future__ import annotations

from warpwatt.core.program import Immediate, Instruction, Operand, Register, Symbol
from warpwatt.emulate.ir import Op, Type, Value
from warpwatt.emulate.lift.sass.code import WORD, behind_calls, label, left_barriers
from warpwatt.emulate.lift.sass.operands import (
    Step,
    Unsupported,
    is_predicate,
    is_register,
    literal_of,
    require,
)
from warpwatt.emulate.lift.sass.table import lifts
from warpwatt.program.system_calls import function_at, linked_load

_ANY = "*"


@lifts(
    "NOP", "YIELD", "NANOSLEEP", "DEPBAR", "LDGDEPBAR", "ERRBAR", "CGAERRBAR", "MEMBAR", "FENCE", "ACQBULK",
    "CCTL", "CCTLL", "CCTLT", "PREEXIT", "PMTRIG", "ENDCOLLECTIVE", "USETMAXREG", "BPT.INT", "UCGABAR_ARV",
    knows=_ANY,
)  # fmt: skip
def nothing(step: Step) -> None:
    """Do nothing that can be seen in registers or memory: operations are carried out in order here."""


@lifts("EXIT", "KILL", knows="KEEPREFCOUNT")
def leave(step: Step) -> None:
    """End the threads."""
    step.b.exit(_condition(step, step.operands))


@lifts("BPT.TRAP")
def trap(step: Step) -> None:
    """End with an error."""
    step.b.trap()


def _condition(step: Step, operands: tuple[Operand, ...]) -> Value | None:
    """Return the conjunction of predicate operands, None where there are none."""
    condition = None
    for operand in operands:
        value = step.predicate(operand)
        condition = value if condition is None else step.b.and_(condition, value)
    return condition


@lifts("BRA.U.ANY")
def branch_together(step: Step) -> None:
    """Jump with all active lanes if the predicates hold in any of them."""
    *conditions, target = step.operands
    holding = _condition(step, tuple(conditions))
    guard, step.b.guard = step.b.guard, None
    for value in (guard,) if guard is not None else ():
        holding = value if holding is None else step.b.and_(holding, value)
    some = None if holding is None else step.b.compare("ne", step.b.ballot(holding), step.b.i32(0))
    step.b.branch(label(literal_of(target)), some)


@lifts("BRA", "JMP", knows="U DIV CONV INC DEC")
def branch(step: Step) -> None:
    """Jump where the predicates hold; .DIV: if not all lanes of the mask are active, .CONV: if they are."""
    *conditions, target = step.operands
    to = label(literal_of(target))
    if not step.has("DIV", "CONV"):
        step.b.branch(to, _condition(step, tuple(conditions)))
        return
    masks = [o for o in conditions if not is_predicate(o)]
    predicates = _condition(step, tuple(o for o in conditions if is_predicate(o)))
    wanted = step.value(masks[0]) if masks else step.b.i32(-1)
    together = step.b.compare("eq", step.b.and_(step.b.active(), wanted), wanted)
    condition = together if step.has("CONV") else step.b.not_(together)
    if predicates is not None:
        condition = step.b.and_(condition, predicates)
    step.b.branch(to, condition)


@lifts("USETMAXREG.TRY_ALLOC", knows="CTAPOOL")
def allocate_registers(step: Step) -> None:
    """Get more registers: there always are some."""
    step.set(step.operands[0], step.b.true())


@lifts("BRX", "JMX", "BRXU", "JMXU", knows="INC DEC")
def branch_indirect(step: Step) -> None:
    """Jump to an address in registers plus a number, which for BRX counts from the next instruction."""
    *conditions, register, offset = step.operands
    require(is_register(register) and not conditions)
    base = step.address + WORD if step.opcode.startswith("BRX") else 0
    _jump_to(step, register, base + literal_of(offset))


def _jump_to(step: Step, register: Operand, offset: int, among: frozenset[int] = frozenset()) -> None:
    address = step.value(register, Type.I64)
    step.b.branch_indirect(step.b.add(address, step.b.const(Type.I64, offset)), among)


def _symbol_address(step: Step, symbol: Operand) -> int:
    """Return the address of a function of this kernel's code."""
    require(isinstance(symbol, Symbol))
    assert isinstance(symbol, Symbol)
    require(symbol.name in step.program.labels, f"function {symbol.name}")
    return step.program.labels[symbol.name] * WORD


@lifts("CALL", knows="REL ABS NOINC")
def call(step: Step) -> None:
    """Jump to a function; the return address is in registers already.

    Functions of the system have no code: those of :data:`_SYSTEM` are called, others are uncovered and
    return zero.
    """
    first, *rest = step.operands
    if is_register(first):
        if step.has("ABS") and (load := linked_load(step.program, step.instruction)):
            _call_system(step, load)
            return
        offset = _symbol_address(step, rest[0]) if rest and step.has("REL") else 0
        require(step.has("REL") == bool(rest))
        _jump_to(step, first, offset)
        return
    require(not rest)
    if isinstance(first, Immediate):
        step.b.branch(label(int(first.value)))
    else:
        step.b.branch(label(_symbol_address(step, first)))


_SYSTEM = {
    "vprintf": (("R4", Type.I64), ("R6", Type.I64)),
    "__assertfail": (
        ("R4", Type.I64),
        ("R6", Type.I64),
        ("R8", Type.I32),
        ("R10", Type.I64),
        ("R12", Type.I64),
    ),
    "malloc": (("R4", Type.I64),),
    "free": (("R4", Type.I64),),
}
"""Registers that functions of the system take arguments in (CUDA's ABI: from R4 on, pairs aligned)."""


def _call_system(step: Step, load: Instruction) -> None:
    """Call a function of the system; what it returns goes to R4, an address to R4:R5."""
    name = function_at(step.program, load)
    if name not in _SYSTEM:
        step.set("R4", step.b.const(Type.I64, 0))
        raise Unsupported("function of the system")
    given = (step.value(Register(register), type_) for register, type_ in _SYSTEM[name])
    type_ = Type.I64 if name == "malloc" else Type.I32
    (result,) = step.b.call(name, (), (type_, 1), *given)
    if name in ("malloc", "vprintf"):
        step.set("R4", result)


@lifts("RET", knows="REL ABS NODEC")
def return_(step: Step) -> None:
    """Jump to the return address in a pair of registers."""
    register, *rest = step.operands
    require(is_register(register) and step.has("NODEC") and len(rest) == step.has("REL"))
    behind = frozenset(WORD * i for i in behind_calls(step.program, step.instruction.index))
    _jump_to(step, register, _symbol_address(step, rest[0]) if rest else 0, behind)


# -- convergence within a warp ------------------------------------------------------------------------------


def _left(step: Step, barrier: Operand) -> str | None:
    """Return the name of the register of lanes that have left a barrier; None if lanes never leave it."""
    require(isinstance(barrier, Register) and barrier.name.startswith("B"), "convergence barrier")
    assert isinstance(barrier, Register)
    if barrier.name not in left_barriers(step.program):
        return None
    name = f"{barrier.name}.left"
    step.b.declare(name, Type.I32, uniform=True)
    return name


def _lanes(step: Step) -> Value:
    """Return the mask of active lanes where the guard holds."""
    return step.b.active() if step.b.guard is None else step.b.ballot(step.b.guard)


def _set_left(step: Step, name: str, value: Value) -> None:
    """Write a warp's register whatever the guard."""
    guard, step.b.guard = step.b.guard, None
    step.b.set(name, value)
    step.b.guard = guard


def _enter(step: Step, barrier: Operand, mask: Value) -> None:
    """Set a barrier's mask in the active lanes: those that it names belong to it again, others have left."""
    if left := _left(step, barrier):
        own = step.b.and_(step.b.lshr(mask, step.b.lane()), step.b.i32(1))
        outside = step.b.ballot(step.b.compare("eq", own, step.b.i32(0)))
        others = step.b.and_(step.b.get(left), step.b.not_(_lanes(step)))
        _set_left(step, left, step.b.or_(others, step.b.and_(outside, _lanes(step))))
    step.set(barrier, mask)


@lifts("BSSY", knows="RECONVERGENT RELIABLE")
def begin_region(step: Step) -> None:
    """Note the active lanes, which are to meet again; where, the BSYNC says."""
    _enter(step, step.operands[0], _lanes(step))


@lifts("BSYNC", knows="RECONVERGENT RELIABLE")
def end_region(step: Step) -> None:
    """Wait for the lanes of the region that have not left."""
    barrier = step.operands[0]
    left = _left(step, barrier)
    assert isinstance(barrier, Register)
    mask = step.get(barrier.name)
    if left:
        mask = step.b.and_(mask, step.b.not_(step.b.get(left)))
    step.b.converge(mask, left)


@lifts("BREAK", knows="RELIABLE RECONVERGENT")
def leave_region(step: Step) -> None:
    """Leave the region: the others no longer wait for these lanes."""
    predicates = [o for o in step.operands if is_predicate(o)]
    (barrier,) = (o for o in step.operands if not is_predicate(o))
    left = _left(step, barrier)
    assert left is not None
    lanes = _lanes(step)
    for predicate in predicates:
        lanes = step.b.and_(lanes, step.b.ballot(step.predicate(predicate)))
    _set_left(step, left, step.b.or_(step.b.get(left), lanes))


@lifts("BMOV.32", knows="CLEAR")
def move_barrier(step: Step) -> None:
    """Save a barrier's mask in a register, or restore it; .CLEAR empties it after saving."""
    dest, source = step.operands
    if is_register(dest):
        left = _left(step, source)
        assert isinstance(source, Register)
        mask = step.get(source.name)
        if left:
            mask = step.b.and_(mask, step.b.not_(step.b.get(left)))
        step.set(dest, mask)
        if step.has("CLEAR"):
            step.set(source, step.b.i32(0))
        return
    require(not step.has("CLEAR"))
    _enter(step, dest, step.value(source))


@lifts("WARPSYNC", knows="ALL COLLECTIVE EXCLUSIVE")
def synchronise_warp(step: Step) -> None:
    """Wait for the lanes of a mask; EXCLUSIVE keeps others away, whose instructions come apart anyway."""
    everyone = step.has("ALL") or not step.operands
    step.b.converge(step.b.i32(-1) if everyone else step.value(step.operands[0]))


@lifts("ELECT")
def elect(step: Step) -> None:
    """Choose the first active lane: its number in a register, and a predicate that holds there alone."""
    predicate, dest, *rest = step.operands
    require(is_predicate(predicate) and is_register(dest))
    lanes = _lanes(step)
    for operand in rest:
        lanes = step.b.and_(lanes, step.b.ballot(step.predicate(operand)))
    chosen = step.b.op(Op.CLZ, step.b.op(Op.BREV, lanes))
    step.set(dest, chosen)
    step.set(predicate, step.b.compare("eq", step.b.lane(), chosen))


# -- barriers of the block ----------------------------------------------------------------------------------


@lifts("BAR.SYNC", "BAR.SYNCALL", "BAR.ARV", knows="DEFER_BLOCKING")
def block_barrier(step: Step) -> None:
    """Wait for the block, or for so many threads; .ARV does not wait."""
    number, threads = _who(step, step.operands)
    step.b.barrier(number, threads, arrive=step.has("ARV"))


@lifts("BAR.RED", knows="POPC AND OR DEFER_BLOCKING")
def block_reduction(step: Step) -> None:
    """Wait for the block and reduce a predicate; B2R.RESULT reads what comes out."""
    *who, predicate = step.operands
    number, threads = _who(step, tuple(who))
    kind = step.one_of(("POPC", "AND", "OR")).lower()
    vote = step.predicate(predicate)
    step.b.barrier(number, threads, reduce=vote)
    number, _ = _who(step, tuple(who))
    step.b.declare(_RESULT, Type.I32)
    step.b.set(_RESULT, step.b.call("barrier_result", (kind,), (Type.I32, 1), number, uniform=True)[0])


_RESULT = "BAR.RESULT"


def _who(step: Step, operands: tuple[Operand, ...]) -> tuple[Value, Value | None]:
    """Return the number of a barrier and how many threads it waits for, if given."""
    require(len(operands) <= 2)
    values = [step.value(o) for o in operands]
    values = [step.first_lane(v, step.b.active()) for v in values]
    number = values[0] if values else step.b.i32(0)
    return number, values[1] if len(values) > 1 else None


@lifts("B2R.RESULT")
def barrier_result(step: Step) -> None:
    """Read the reduction of the barrier waited at last: a number, or a predicate behind it."""
    dest, *predicates = step.operands
    step.b.declare(_RESULT, Type.I32)
    value = step.b.get(_RESULT)
    step.set(dest, value)
    for predicate in predicates:
        step.set(predicate, step.b.op(Op.NE, value, step.b.i32(0)))


@lifts("UCGABAR_WAIT", knows="ACQUIRE")
def cluster_barrier(step: Step) -> None:
    """Wait for the cluster; its blocks run one by one, so it is its own block that a thread waits for."""
    step.b.barrier(step.b.i32(15))
