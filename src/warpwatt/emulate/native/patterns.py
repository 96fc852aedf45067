"""Native module: how one request spreads over memory; the definitions of :mod:`warpwatt.program.transactions`.

A *set* of numbers is a table in the machine; :func:`fresh_set` empties it by moving on to a new stamp.
"""

from __future__ import annotations

from warpwatt.emulate.native.pointers import i64_at
from warpwatt.emulate.native.state import (
    FOUND, LANE_ADDRESSES, MACHINE_WORDS, SET_SIZE, SET_STAMP, SLOT_KEYS, SLOT_STAMPS,
)  # fmt: skip

SECTOR_SHIFT, LINE_SHIFT, WORD_SHIFT = 5, 7, 2


def fresh_set(m: int) -> None:
    """Empty the set."""
    i64_at(m, MACHINE_WORDS)[SET_STAMP] += 1


def put(m: int, number: int) -> int:
    """Add a number; return its place in the table, less SET_SIZE if it was there already."""
    machine = i64_at(m, MACHINE_WORDS)
    place = (number ^ (number >> 9)) & (SET_SIZE - 1)
    while machine[SLOT_STAMPS + place] == machine[SET_STAMP]:
        if machine[SLOT_KEYS + place] == number:
            return place - SET_SIZE
        place = (place + 1) & (SET_SIZE - 1)
    machine[SLOT_STAMPS + place] = machine[SET_STAMP]
    machine[SLOT_KEYS + place] = number
    return place


def gather_lines(m: int, lanes: int, size: int) -> int:
    """Collect the 128-byte lines of a request in FOUND: (line, sectors touched) pairs; return how many."""
    machine = i64_at(m, MACHINE_WORDS)
    count = 0
    for lane in range(32):
        if (lanes >> lane) & 1:
            address = machine[LANE_ADDRESSES + lane]
            for sector in range(address >> SECTOR_SHIFT, ((address + size - 1) >> SECTOR_SHIFT) + 1):
                count = add_sector(m, sector, count)
    return count


def gather_local_lines(m: int, lanes: int, size: int, base: int) -> int:
    """Do the same for local memory, whose words lie interleaved from ``base`` on."""
    machine = i64_at(m, MACHINE_WORDS)
    count = 0
    for word in range(max(1, size >> WORD_SHIFT)):
        for lane in range(32):
            if (lanes >> lane) & 1:
                address = base + local_place(machine[LANE_ADDRESSES + lane] + 4 * word, lane)
                count = add_sector(m, address >> SECTOR_SHIFT, count)
    return count


def local_place(offset: int, lane: int) -> int:
    """Return where a byte of a thread's local memory lies within its warp's."""
    return ((offset & ~3) << 5) + 4 * lane + (offset & 3)


def add_sector(m: int, sector: int, count: int) -> int:
    """Add a sector to the ``count`` lines in FOUND; return how many there are then."""
    machine = i64_at(m, MACHINE_WORDS)
    place = line_place(m, sector >> 2, count)
    machine[FOUND + 2 * place + 1] |= 1 << (sector & 3)
    return max(count, place + 1)


def line_place(m: int, line: int, count: int) -> int:
    """Return where a line stands in FOUND, appended behind ``count`` if it is new."""
    machine = i64_at(m, MACHINE_WORDS)
    for back in range(count):
        if machine[FOUND + 2 * (count - 1 - back)] == line:
            return count - 1 - back
    machine[FOUND + 2 * count] = line
    machine[FOUND + 2 * count + 1] = 0
    return count


def sort_lines(m: int, count: int) -> None:
    """Put the lines in FOUND in ascending order."""
    machine = i64_at(m, MACHINE_WORDS)
    for end in range(1, count):
        line, sectors = machine[FOUND + 2 * end], machine[FOUND + 2 * end + 1]
        place = end
        while place > 0 and machine[FOUND + 2 * place - 2] > line:
            machine[FOUND + 2 * place] = machine[FOUND + 2 * place - 2]
            machine[FOUND + 2 * place + 1] = machine[FOUND + 2 * place - 1]
            place -= 1
        machine[FOUND + 2 * place], machine[FOUND + 2 * place + 1] = line, sectors


def tag_passes(m: int, lanes: int) -> int:
    """Return the most lines, by the first byte of each lane, with one remainder by 4."""
    machine = i64_at(m, MACHINE_WORDS)
    fresh_set(m)
    counts = 0
    most = 0
    last = -1
    for lane in range(32):
        if (lanes >> lane) & 1:
            line = machine[LANE_ADDRESSES + lane] >> LINE_SHIFT
            if line != last and put(m, line) >= 0:
                shift = (line & 3) * 8
                counts += 1 << shift
                most = max(most, (counts >> shift) & 0xFF)
            last = line
    return most


def distinct(m: int, lanes: int) -> int:
    """Return how many different addresses the lanes have."""
    machine = i64_at(m, MACHINE_WORDS)
    fresh_set(m)
    count = 0
    for lane in range(32):
        if (lanes >> lane) & 1 and put(m, machine[LANE_ADDRESSES + lane]) >= 0:
            count += 1
    return count


def most_on_one(m: int, lanes: int) -> int:
    """Return the largest number of lanes with one address."""
    machine = i64_at(m, MACHINE_WORDS)
    most = 0
    for lane in range(32):
        if (lanes >> lane) & 1:
            alike = 0
            for other in range(32):
                if (lanes >> other) & 1:
                    alike += machine[LANE_ADDRESSES + other] == machine[LANE_ADDRESSES + lane]
            most = max(most, alike)
    return most


def wavefronts(m: int, lanes: int, size: int) -> int:
    """Return the passes of a request through shared memory."""
    words = max(1, size >> WORD_SHIFT)
    groups = min(words, 4)
    if groups > 1 and (paired(m, lanes, 1) or paired(m, lanes, 2)):
        groups >>= 1
    if groups == 1:
        return fullest_bank(m, lanes, words)
    total = 0
    per_group = 32 // groups
    for group in range(groups):
        total += fullest_bank(m, lanes & (((1 << per_group) - 1) << (group * per_group)), words)
    return total


def paired(m: int, lanes: int, distance: int) -> bool:
    """Return whether each active lane and the one whose number differs in bit ``distance`` have one address."""
    machine = i64_at(m, MACHINE_WORDS)
    for lane in range(32):
        other = lane ^ distance
        both = (lanes >> lane) & (lanes >> other) & 1
        if both and machine[LANE_ADDRESSES + lane] != machine[LANE_ADDRESSES + other]:
            return False
    return True


def fullest_bank(m: int, lanes: int, words: int) -> int:
    """Return the most different words that one of 32 banks must deliver."""
    machine = i64_at(m, MACHINE_WORDS)
    if lanes == 0:
        return 0
    fresh_set(m)
    for bank in range(32):
        machine[FOUND + bank] = 0
    most = 0
    for lane in range(32):
        if (lanes >> lane) & 1:
            first = machine[LANE_ADDRESSES + lane] >> WORD_SHIFT
            for word in range(first, first + words):
                if put(m, word) >= 0:
                    machine[FOUND + (word & 31)] += 1
                    most = max(most, machine[FOUND + (word & 31)])
    return most


def stride(m: int, lanes: int) -> int:
    """Return the distance of neighbouring lanes; -2^63 if it varies, -2^63 + 1 if no neighbours are on."""
    machine = i64_at(m, MACHINE_WORDS)
    found = -(2**63) + 1
    for lane in range(31):
        if (lanes >> lane) & 3 == 3:
            step = machine[LANE_ADDRESSES + lane + 1] - machine[LANE_ADDRESSES + lane]
            if found == -(2**63) + 1:
                found = step
            elif found != step:
                return -(2**63)
    return found
