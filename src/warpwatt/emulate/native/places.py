"""Native module: where addresses lead: spaces, bounds, pages made at first touch."""

from __future__ import annotations

from warpwatt.emulate.native import state
from warpwatt.emulate.native.control import fail
from warpwatt.emulate.native.filling import fill_page
from warpwatt.emulate.native.pointers import bytes_at, call, i64_at

SLOT_BITS, PAGE_BITS = 40, 12
OFFSET_MASK = (1 << SLOT_BITS) - 1
SHARED_SLOT, LOCAL_SLOT, PARAMETER_SLOT, CONSTANT_SLOT = 0xF0, 0xF1, 0xF2, 0xF3
PARAMETER_BANK, CONSTANT_BANK = 0, 3


def first_on(lanes: int) -> int:
    """Return the first lane that is on."""
    lane = 0
    while (lanes >> lane) & 1 == 0:
        lane += 1
    return lane


def space_of(space: int, address: int) -> int:
    """Return the space an address really lies in."""
    if space not in (state.GENERIC, state.GLOBAL):
        return space
    slot = address >> SLOT_BITS
    if slot == SHARED_SLOT:
        return state.SHARED_SPACE
    if slot == LOCAL_SLOT:
        return state.LOCAL_SPACE
    if slot in (PARAMETER_SLOT, CONSTANT_SLOT):
        return state.CONST_SPACE
    return state.GLOBAL


def bank_of(m: int, row: int, address: int) -> int:
    """Return the constant bank that an access reads."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    if operation[state.O_SPACE] == state.CONST_SPACE:
        return int(operation[state.O_BANK])
    return PARAMETER_BANK if address >> SLOT_BITS == PARAMETER_SLOT else CONSTANT_BANK


def slot_of(m: int, row: int, space: int, address: int) -> int:
    """Return the slot that an access in a space reaches."""
    if space == state.GLOBAL:
        return address >> SLOT_BITS
    if space == state.CONST_SPACE:
        return PARAMETER_SLOT if bank_of(m, row, address) == PARAMETER_BANK else CONSTANT_SLOT
    return SHARED_SLOT if space == state.SHARED_SPACE else LOCAL_SLOT


def locate(m: int, w: int, row: int, space: int, address: int) -> None:
    """Note where the memory lies that an address belongs to, and its size: in PLACE and LIMIT."""
    machine, warp = i64_at(m, state.MACHINE_WORDS), i64_at(w, 8)
    machine[state.PLACE], machine[state.LIMIT] = 0, 0
    if space == state.GLOBAL:
        slot = address >> SLOT_BITS
        if 0 <= slot < 256:
            machine[state.PLACE] = i64_at(machine[state.BASES], 256)[slot]
            machine[state.LIMIT] = i64_at(machine[state.SIZES], 256)[slot]
    elif space == state.SHARED_SPACE:
        machine[state.PLACE] = i64_at(warp[state.W_BLOCK // 8], state.BLOCK_WORDS)[state.B_SHARED]
        machine[state.LIMIT] = machine[state.SHARED_BYTES]
    elif space == state.LOCAL_SPACE:
        machine[state.PLACE], machine[state.LIMIT] = warp[state.W_LOCAL // 8], machine[state.LOCAL_BYTES]
    else:
        bank = bank_of(m, row, address)
        machine[state.PLACE] = i64_at(machine[state.BANKS], 32)[bank]
        machine[state.LIMIT] = i64_at(machine[state.BANK_SIZES], 32)[bank]


def check(m: int, w: int, row: int, space: int, lane: int, address: int) -> int:
    """Return the host address of one lane's access to what was located; 0 and a fault if it has none."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    size, limit, offset = operation[state.O_BYTES], machine[state.LIMIT], address & OFFSET_MASK
    misaligned = offset & (size - 1) if size & (size - 1) == 0 else offset % size
    if misaligned or offset + size > limit:
        if space != state.GLOBAL:
            address = offset | (slot_of(m, row, space, address) << SLOT_BITS)
        reason = state.MISALIGNED if misaligned else state.OUT_OF_BOUNDS if limit else state.NO_MEMORY
        fail(m, w, operation[state.O_INSTRUCTION], lane, reason, address, size)
        return 0
    if space == state.GLOBAL:
        if not operation[state.O_PROBE]:
            touch(m, address >> SLOT_BITS, offset, size)
    elif space == state.LOCAL_SPACE:
        offset += lane * machine[state.LOCAL_STRIDE]
    return int(machine[state.PLACE] + offset)


def touch(m: int, slot: int, offset: int, size: int) -> None:
    """Make the pages of a range of a buffer that have no contents yet."""
    machine = i64_at(m, state.MACHINE_WORDS)
    flags = i64_at(machine[state.PAGE_FLAGS], 256)[slot]
    if flags == 0:
        return
    first, last = offset >> PAGE_BITS, (offset + size - 1) >> PAGE_BITS
    for page in range(first, last + 1):
        if bytes_at(flags, page + 1)[page] == 0 and not fill_page(m, slot, page):
            call(machine[state.TOUCH], (slot << SLOT_BITS) | (page << PAGE_BITS), 1 << PAGE_BITS)


def find_hosts(m: int, w: int, row: int, lanes: int) -> bool:
    """Find each lane's host address for HOSTS, each space's lanes for MEMBERS; whether all have one."""
    machine = i64_at(m, state.MACHINE_WORDS)
    operation = i64_at(machine[state.OPERATIONS] + row * state.OPERATION_WORDS * 8, state.OPERATION_WORDS)
    hosts, members = i64_at(m + state.HOSTS * 8, 32), i64_at(m + state.MEMBERS * 8, 4)
    members[:] = 0
    located = -1
    space = 0
    for lane in range(32):
        if (lanes >> lane) & 1:
            address = machine[state.LANE_ADDRESSES + lane]
            if address >> SLOT_BITS != located:
                located = address >> SLOT_BITS
                space = space_of(operation[state.O_SPACE], address)
                locate(m, w, row, space, address)
            members[space] |= 1 << lane
            host = check(m, w, row, space, lane, address)
            if host == 0:
                return False
            hosts[lane] = host
    return True
