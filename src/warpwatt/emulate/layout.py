"""Where variables lie: one answer for the lifter and for whoever fills the memory.

:func:`layout` places those of a PTX program, :func:`linked` reads where the linker has placed those of SASS.

Device addresses carry a slot in their upper bits (``address >> 40``): slot 1 holds the module's global
variables, 2 and up one buffer each. Shared, local, parameter and constant memory are also seen through
windows of generic addresses. In their own space, addresses are plain offsets from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from warpwatt.core.program import Program, Space, Variable
from warpwatt.program.inlining import expand_calls

SLOT_BITS = 40
"""Bits of the byte offset in a device address."""
GLOBALS_SLOT = 1
"""Slot of the module's global variables."""
FIRST_BUFFER_SLOT = 2
"""Slot of the first buffer."""
ARENA_SLOT = 0x20
"""Slot of memory that a running program shares with us (:mod:`warpwatt.emulate.arena`)."""
SHARED_SLOT, LOCAL_SLOT = 0xF0, 0xF1
"""Windows of generic addresses for shared and local memory."""
PARAMETER_SLOT, CONSTANT_SLOT = 0xF2, 0xF3
"""Windows of generic addresses for constant banks 0 (parameters) and 3 (``.const`` variables)."""
CLUSTER_RANK_BITS = 24
"""Bits of a shared address below the rank of the block in its cluster."""
HEAP_SLOT = 0xF4
"""Slot of the heap that kernels allocate from."""
GRID_WORKSPACE_SLOT = 0xF5
"""Slot of what the blocks of a cooperative launch wait for each other by."""
TEXTURE_SLOT = 0xF6
"""Slot where textures lie that nobody has described: addresses without contents."""
PARAMETER_BANK, CONSTANT_BANK = 0, 3
"""Constant banks of PTX: kernel parameters from offset 0, and ``.const`` variables."""
CONSTANT_BYTES = 64 << 10
"""What a constant bank holds at most (CUDA C++ Programming Guide, compute capabilities): every one is padded
to it, so that constant addresses below it need no check."""
ENVIRONMENT_BANK = 1
"""Constant bank of PTX that holds ``%envreg0`` to ``%envreg31``, 4 bytes each; ours."""

WINDOWS = {
    Space.GLOBAL: 0,
    Space.SHARED: SHARED_SLOT,
    Space.LOCAL: LOCAL_SLOT,
    Space.PARAM: PARAMETER_SLOT,
    Space.CONST: CONSTANT_SLOT,
}
"""Slot that turns an offset in a space into a generic address; global addresses are generic already."""
_BANKED = (Space.CONST, Space.SHARED, Space.LOCAL, Space.PARAM)
"""Spaces of variables whose bytes lie where kernels look for them, wherever the host sees them."""
_DYNAMIC_ALIGN = 16
_POINTER_BYTES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Offsets in bytes by variable name, and the size of each space.

    Attributes
    ----------
    offsets
        Offset of every variable within its space. Of a global variable, within slot 1, or beyond it where a
        loader has placed it.
    spaces
        Space of every variable.
    parameters
        Offset of every kernel parameter in bank 0, as the program declares them.
    sizes
        Bytes that the variables of each space need together; ``PARAM`` counts the kernel's parameters.
    dynamic_shared
        Where dynamic shared memory begins; every ``extern`` array without extent lies there.
    images
        What global and constant variables hold before the launch, ``sizes`` bytes each.
    """

    offsets: Mapping[str, int]
    spaces: Mapping[str, Space]
    parameters: Mapping[str, int]
    sizes: Mapping[Space, int]
    dynamic_shared: int
    images: Mapping[Space, bytes] = field(repr=False)

    def address(self, name: str) -> int:
        """Return what ``mov`` of the variable's name gives: a device address if global, else an offset.

        Raises
        ------
        KeyError
            If there is no such variable or parameter.
        """
        if name in self.parameters:
            return self.parameters[name]
        offset = self.offsets[name]
        return (GLOBALS_SLOT << SLOT_BITS) + offset if self.spaces[name] is Space.GLOBAL else offset


@lru_cache(maxsize=64)
def layout(program: Program) -> Layout:
    """Lay out the variables of a PTX program, those of called functions included.

    >>> from warpwatt.isa.ptx import lower, parse
    >>> text = '''.target sm_90 .entry k(.param .u32 n, .param .u64 p) { .shared .b8 a[3]; .shared .f64 b;
    ...     .reg .b32 %r<3>; mov.u32 %r1, a; mov.u32 %r2, b; ret; }'''
    >>> found = layout(lower(parse(text), "k"))
    >>> found.offsets["b"], found.parameters["p"], found.sizes[Space.SHARED]
    (8, 8, 16)
    """
    program = expand_calls(program)
    offsets: dict[str, int] = {}
    spaces = {v.name: _space(v) for v in program.variables}
    sizes = dict.fromkeys(WINDOWS, 0)
    for variable in program.variables:
        if is_placed(variable):
            offsets[variable.name] = _placed_offset(variable)
        elif not _dynamic(variable):
            space = spaces[variable.name]
            if space is Space.PARAM:
                space = spaces[variable.name] = Space.LOCAL  # what a call passes lies on the stack
            offsets[variable.name] = start = _aligned(sizes[space], variable.align)
            sizes[space] = start + variable.size
    dynamic = [v for v in program.variables if _dynamic(v)]
    align = max([_DYNAMIC_ALIGN, *(v.align for v in dynamic)])
    base = _aligned(sizes[Space.SHARED], align)
    offsets |= {v.name: base for v in dynamic}
    if dynamic:
        sizes[Space.SHARED] = base
    parameters = parameter_offsets(program)
    sizes[Space.PARAM] = max((parameters[p.name] + p.size for p in program.parameters), default=0)
    here = [v for v in program.variables if not is_placed(v)]
    images = {
        space: _image([v for v in here if spaces[v.name] is space], offsets, sizes[space])
        for space in (Space.GLOBAL, Space.CONST)
    }
    return Layout(offsets, spaces, parameters, sizes, base, images)


def is_placed(variable: Variable) -> bool:
    """Whether a loader has placed a global variable, so that its bytes are not slot 1's."""
    return variable.address is not None and variable.space not in _BANKED


def _placed_offset(variable: Variable) -> int:
    """Return a placed variable's offset, counted from slot 1 as the others'."""
    assert variable.address is not None
    return variable.address - (GLOBALS_SLOT << SLOT_BITS)


def _space(variable: Variable) -> Space:
    """Return where a variable lies; handles of textures and surfaces are words in global memory."""
    return variable.space if variable.space in WINDOWS else Space.GLOBAL


def _dynamic(variable: Variable) -> bool:
    """Whether a variable is dynamic shared memory."""
    return variable.space is Space.SHARED and variable.external and variable.size == 0


def _aligned(offset: int, align: int) -> int:
    """Return the next multiple of ``align``."""
    return -(-offset // max(align, 1)) * max(align, 1)


def parameter_offsets(program: Program) -> dict[str, int]:
    """Return where each parameter lies in the parameter block: where the program says, else aligned.

    >>> from warpwatt.core.program import Level, Parameter, Program
    >>> pair = Parameter("n", "u32", 4, 4), Parameter("p", "u64", 8, 8)
    >>> parameter_offsets(Program("k", Level.PTX, "sm_90", (), parameters=pair))
    {'n': 0, 'p': 8}
    """
    result: dict[str, int] = {}
    end = 0
    for parameter in program.parameters:
        aligned = _aligned(end, parameter.align)
        result[parameter.name] = start = aligned if parameter.offset is None else parameter.offset
        end = start + parameter.size
    return result


def relaid(block: bytes, written: Program, read: Program) -> bytes:
    """Return the parameter block of one form of a kernel as another form reads it.

    Machine code aligns parameters by their place in the constant bank, PTX by that in the block: tensor maps,
    of 64 or 128 bytes, lie elsewhere where the bank's parameters begin between.

    >>> from warpwatt.core.program import Level, Parameter, Program
    >>> from dataclasses import replace
    >>> tensor = Parameter("t", "b8", 128, 64)
    >>> ptx = Program("k", Level.PTX, "sm_90", (), parameters=(tensor,))
    >>> sass = Program("k", Level.SASS, "sm_90", (), parameters=(replace(tensor, offset=0x30),))
    >>> relaid(bytes(range(128)), ptx, sass)[0x30] == 0
    True
    """
    places = parameter_offsets(written), parameter_offsets(read)
    froms, tos = (list(found.values()) for found in places)
    if froms == tos or len(froms) != len(tos):
        return block
    data = bytearray(max(tos[k] + parameter.size for k, parameter in enumerate(read.parameters)))
    for start, to, parameter in zip(froms, tos, read.parameters, strict=True):
        data[to : to + parameter.size] = block[start : start + parameter.size].ljust(parameter.size, b"\0")
    return bytes(data)


def _image(variables: Iterable[Variable], offsets: Mapping[str, int], size: int) -> bytes:
    """Return ``size`` bytes that hold what variables are before the launch."""
    image = bytearray(size)
    for variable in variables:
        start = offsets[variable.name]
        image[start : start + len(variable.initial)] = variable.initial
    return bytes(image[:size])


# -- machine code -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """A linked program's memory before the launch.

    Attributes
    ----------
    banks
        Contents of the constant banks but 0, addresses filled in.
    globals
        Contents of the module's global variables, from the start of slot 1; also of those placed elsewhere.
    offsets
        Where each variable lies, counted from slot 1 (global) or in bank 3 (constant), by name.
    spaces
        Space of each variable.
    """

    banks: Mapping[int, bytes]
    globals: bytes
    offsets: Mapping[str, int]
    spaces: Mapping[str, Space]

    def address(self, name: str) -> int:
        """Return a variable's generic address.

        Raises
        ------
        KeyError
            If there is none of that name.
        """
        slot = GLOBALS_SLOT if self.spaces[name] is Space.GLOBAL else CONSTANT_SLOT
        return (slot << SLOT_BITS) + self.offsets[name]


@lru_cache(maxsize=64)
def linked(program: Program) -> Linked:
    """Return the memory that a SASS program's code expects.

    The linker has placed everything within its section; only where the module's global variables begin is
    ours to say.
    """
    variables = [v for v in program.variables if v.offset is not None]
    offsets = {v.name: v.offset for v in variables if v.offset is not None}
    spaces = {v.name: v.space for v in variables}
    contents = {bank: bytearray(data) for bank, data in program.constants.items()}
    module = [v for v in variables if v.space is Space.GLOBAL]
    size = max((offsets[v.name] + v.size for v in module), default=0)
    contents[-1] = bytearray(_image(module, offsets, size))
    offsets |= {v.name: _placed_offset(v) for v in variables if is_placed(v)}
    found = Linked({}, b"", offsets, spaces)
    for pointer in program.pointers:
        if pointer.variable not in offsets:  # a function of the system: the lifter looks up its name
            continue
        place = contents[-1 if pointer.bank is None else pointer.bank]
        value = (found.address(pointer.variable) + pointer.addend) % (1 << 64)
        place[pointer.offset : pointer.offset + _POINTER_BYTES] = value.to_bytes(_POINTER_BYTES, "little")
    banks = {bank: bytes(data) for bank, data in contents.items() if bank >= 0}
    return Linked(banks, bytes(contents[-1]), offsets, spaces)
