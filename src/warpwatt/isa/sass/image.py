"""The memory a kernel's machine code expects: constant banks, global variables, shared memory, stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from warpwatt.core.program import Pointer, Space, Variable
from warpwatt.isa.sass.elf import Elf, Relocation, Section, Symbol

_INITIALIZED, _ZEROED = ".nv.global.init", ".nv.global"
_OBJECT, _FUNCTION = 1, 2
_UNDEFINED = 0
"""Section of a symbol that the file does not define."""
_POINTER_TYPES = (2, 4)
"""Relocations of a 64-bit word: ``R_CUDA_64`` and, for generic addresses, ``R_CUDA_G64``."""
_ABS32 = {56: 0, 57: 4}
"""Relocations of an instruction's immediate, ``R_CUDA_ABS32_LO_32`` and ``_HI_32`` -> byte of the word."""
_ADDRESS_BANK = 18
"""Stands for what no bank of the hardware (0 to 17) holds: addresses in instructions."""
_PARAMETER_BANK = 0
_SECTION_ALIGN = 256
_LARGEST_BANK = 1 << 16
RESERVED_SHARED = 1024
"""Bytes at the start of shared memory that the system keeps for itself from sm_90 on."""


@dataclass(frozen=True, slots=True)
class Image:
    """What the fields of the same names of :class:`~warpwatt.core.program.Program` hold.

    ``immediates``: byte offset of an instruction whose immediate is half of a variable's address -> the
    operand (in a constant bank of our own) that stands for it.
    """

    variables: tuple[Variable, ...] = ()
    constants: Mapping[int, bytes] = field(default_factory=dict)
    pointers: tuple[Pointer, ...] = ()
    static_shared: int = 0
    immediates: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Place:
    """A section that holds variables: its space, its bank (constants only), and where it begins there."""

    section: Section
    space: Space
    bank: int | None
    base: int = 0


def read_image(elf: Elf, kernel: str, sm: int, module: Image | None = None) -> Image:
    """Return the memory of a linked cubin as one of its kernels sees it.

    Addresses of variables stay symbolic (:class:`~warpwatt.core.program.Pointer`); addresses of code are
    numbers already. Global variables with contents come first, those without behind them. ``module`` is what
    all kernels see (``kernel`` ``""``), where it is known.
    """
    places = {elf.index[p.section.name]: p for p in _places(elf, kernel)}
    shared = module or Image()
    own = {i: p for i, p in places.items() if module is None or p.section.name.endswith(f".{kernel}")}
    variables = [v for i, place in own.items() for v in _variables(place, elf.defined.get(i, ()))]
    banks = {  # one without contents in the file is zero
        p.bank: p.section.data or bytes(min(p.section.size, _LARGEST_BANK))
        for p in own.values()
        if p.bank is not None
    }
    pointers = [pointer for place in own.values() for pointer in _pointers(elf, place, places)]
    immediates, addresses = _address_immediates(elf, kernel)
    if addresses:
        banks[_ADDRESS_BANK] = bytes(8 * len(addresses))
    return Image(
        (*shared.variables, *variables),
        {**shared.constants, **banks},
        (*shared.pointers, *pointers, *addresses),
        _shared(elf, kernel, sm),
        immediates,
    )


def _places(elf: Elf, kernel: str) -> Iterator[_Place]:
    """Yield the sections with the kernel's constants and the module's variables."""
    for bank, owner in product(range(_PARAMETER_BANK + 1, _ADDRESS_BANK), ("", f".{kernel}")):
        if section := elf.section(f".nv.constant{bank}{owner}"):
            yield _Place(section, Space.CONST, bank)
    initialized = elf.section(_INITIALIZED)
    if initialized is not None:
        yield _Place(initialized, Space.GLOBAL, None)
    if zeroed := elf.section(_ZEROED):
        size = initialized.size if initialized is not None else 0
        yield _Place(zeroed, Space.GLOBAL, None, -(-size // _SECTION_ALIGN) * _SECTION_ALIGN)


def _variables(place: _Place, symbols: Sequence[Symbol]) -> Iterator[Variable]:
    """Yield the variables in a section; ``align`` is that of the offset, at most 256."""
    data = place.section.data
    for symbol in symbols:
        if symbol.kind == _OBJECT:
            offset, initial = place.base + symbol.value, data[symbol.value : symbol.value + symbol.size]
            align = min(offset & -offset or _SECTION_ALIGN, _SECTION_ALIGN)
            yield Variable(symbol.name, place.space, symbol.size, align, initial=initial, offset=offset)


def _pointers(elf: Elf, place: _Place, places: Mapping[int, _Place]) -> Iterator[Pointer]:
    """Yield the addresses of variables, and of functions of the system, that a section holds."""
    for relocation in elf.relocations(place.section.name):
        if relocation.type not in _POINTER_TYPES or relocation.symbol >= len(elf.symbols):
            continue
        symbol = elf.symbols[relocation.symbol]
        addend = _addend(place.section, relocation)
        if symbol.kind not in (_OBJECT, _FUNCTION) and symbol.section in places:
            symbol, addend = _within(elf, symbol, addend)
        of_system = symbol.kind == _FUNCTION and symbol.section == _UNDEFINED
        if symbol.name and (symbol.kind == _OBJECT or of_system):
            yield Pointer(place.bank, place.base + relocation.offset, symbol.name, addend)


def _address_immediates(elf: Elf, kernel: str) -> tuple[dict[int, str], list[Pointer]]:
    """Return the instructions with half an address of a variable in them, and those addresses as words."""
    words: dict[tuple[str, int], Pointer] = {}
    immediates = {}
    for relocation in elf.relocations(".text." + kernel):
        symbol = elf.symbols[relocation.symbol] if relocation.symbol < len(elf.symbols) else None
        if relocation.type not in _ABS32 or symbol is None or symbol.kind != _OBJECT:
            continue
        key = symbol.name, 0 if relocation.in_place else relocation.addend
        word = words.setdefault(key, Pointer(_ADDRESS_BANK, 8 * len(words), *key))
        byte = word.offset + _ABS32[relocation.type]
        immediates[relocation.offset] = f"c[{_ADDRESS_BANK:#x}][{byte:#x}]"
    return immediates, list(words.values())


def _addend(section: Section, relocation: Relocation) -> int:
    """Return a relocation's addend, which older targets keep in the place itself."""
    if not relocation.in_place:
        return relocation.addend
    return int.from_bytes(section.data[relocation.offset : relocation.offset + 8], "little", signed=True)


def _within(elf: Elf, section: Symbol, addend: int) -> tuple[Symbol, int]:
    """Return the variable, and the offset in it, at ``addend`` bytes into a section that is named instead."""
    for symbol in elf.defined[section.section]:
        if symbol.kind == _OBJECT and symbol.value <= addend < symbol.value + symbol.size:
            return symbol, addend - symbol.value
    return section, addend


def _shared(elf: Elf, kernel: str, sm: int) -> int:
    """Return the bytes of shared memory in front of dynamic shared memory."""
    section = elf.section(".nv.shared." + kernel)
    size = section.size if section is not None else 0
    return max(size, RESERVED_SHARED) if sm >= 90 else size
