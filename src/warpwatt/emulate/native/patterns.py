"""Native module: how one request spreads over memory, as :mod:`warpwatt.program.transactions` defines it.

A *set* of numbers is a table in the machine; :func:`fresh_set` empties it by moving on to a new stamp.
"""

from __future__ import annotations

from warpwatt.emulate.native import state
from warpwatt.emulate.native.pointers import i64_at, u32_at

SECTOR_SHIFT, WORD_SHIFT = 5, 2
FULL = 0xFFFFFFFF
VARIES, NO_NEIGHBOURS = -(2**63), -(2**63) + 1


def fresh_set(m: int) -> None:
    """Empty the set."""
    i64_at(m, state.MACHINE_WORDS)[state.SET_STAMP] += 1


def put(m: int, number: int) -> int:
    """Add a number; return its place in the table, less SET_SIZE if it was there already."""
    machine = i64_at(m, state.MACHINE_WORDS)
    place = (number ^ (number >> 9)) & (state.SET_SIZE - 1)
    while machine[state.SLOT_STAMPS + place] == machine[state.SET_STAMP]:
        if machine[state.SLOT_KEYS + place] == number:
            return place - state.SET_SIZE
        place = (place + 1) & (state.SET_SIZE - 1)
    machine[state.SLOT_STAMPS + place] = machine[state.SET_STAMP]
    machine[state.SLOT_KEYS + place] = number
    return place


def gather_lines(m: int, lanes: int, size: int) -> int:
    """Collect the 128-byte lines of a request in FOUND: (line, sectors touched) pairs; return how many."""
    machine = i64_at(m, state.MACHINE_WORDS)
    count = 0
    for lane in range(32):
        if (lanes >> lane) & 1:
            address = machine[state.LANE_ADDRESSES + lane]
            for sector in range(address >> SECTOR_SHIFT, ((address + size - 1) >> SECTOR_SHIFT) + 1):
                count = add_sector(m, sector, count)
    return count


def stretch_lines(m: int, first: int, size: int) -> int:
    """Collect the lines of ``size`` bytes from ``first`` on; return how many."""
    machine = i64_at(m, state.MACHINE_WORDS)
    last = first + size - 1
    lines = (last >> 7) - (first >> 7) + 1
    for place in range(lines):
        machine[state.FOUND + 2 * place] = (first >> 7) + place
        machine[state.FOUND + 2 * place + 1] = 15
    machine[state.FOUND + 1] &= 15 << ((first >> SECTOR_SHIFT) & 3)
    machine[state.FOUND + 2 * lines - 1] &= 15 >> (3 - ((last >> SECTOR_SHIFT) & 3))
    return lines


def gather_local_lines(m: int, lanes: int, size: int, base: int) -> int:
    """Do the same for local memory, whose words lie interleaved from ``base`` on."""
    machine = i64_at(m, state.MACHINE_WORDS)
    count = 0
    for word in range(max(1, size >> WORD_SHIFT)):
        for lane in range(32):
            if (lanes >> lane) & 1:
                address = base + local_place(machine[state.LANE_ADDRESSES + lane] + 4 * word, lane)
                count = add_sector(m, address >> SECTOR_SHIFT, count)
    return count


def local_place(offset: int, lane: int) -> int:
    """Return where a byte of a thread's local memory lies within its warp's."""
    offset &= (1 << 40) - 1  # without the slot of a generic address
    return ((offset & ~3) << 5) + 4 * lane + (offset & 3)


def add_sector(m: int, sector: int, count: int) -> int:
    """Add a sector to the ``count`` lines in FOUND; return how many there are then."""
    machine = i64_at(m, state.MACHINE_WORDS)
    place = line_place(m, sector >> 2, count)
    machine[state.FOUND + 2 * place + 1] |= 1 << (sector & 3)
    return max(count, place + 1)


def line_place(m: int, line: int, count: int) -> int:
    """Return where a line stands in FOUND, appended behind ``count`` if new; HIGHEST is the greatest."""
    machine = i64_at(m, state.MACHINE_WORDS)
    if count > 0 and line <= machine[state.HIGHEST]:
        for back in range(count):
            if machine[state.FOUND + 2 * (count - 1 - back)] == line:
                return count - 1 - back
    else:
        machine[state.HIGHEST] = line
    machine[state.FOUND + 2 * count] = line
    machine[state.FOUND + 2 * count + 1] = 0
    return count


def sort_lines(m: int, count: int) -> None:
    """Put the lines in FOUND in ascending order."""
    machine = i64_at(m, state.MACHINE_WORDS)
    for end in range(1, count):
        line, sectors = machine[state.FOUND + 2 * end], machine[state.FOUND + 2 * end + 1]
        place = end
        while place > 0 and machine[state.FOUND + 2 * place - 2] > line:
            machine[state.FOUND + 2 * place] = machine[state.FOUND + 2 * place - 2]
            machine[state.FOUND + 2 * place + 1] = machine[state.FOUND + 2 * place - 1]
            place -= 1
        machine[state.FOUND + 2 * place], machine[state.FOUND + 2 * place + 1] = line, sectors


def fullest_tag_bank(m: int, lines: int) -> int:
    """Return the most of the lines in FOUND that have one remainder by 4."""
    machine = i64_at(m, state.MACHINE_WORDS)
    counts = 0
    most = 0
    for place in range(lines):
        shift = (machine[state.FOUND + 2 * place] & 3) * 16
        counts += 1 << shift
        most = max(most, (counts >> shift) & 0xFFFF)
    return most


def distinct(m: int, lanes: int) -> int:
    """Return how many different addresses the lanes have."""
    machine = i64_at(m, state.MACHINE_WORDS)
    fresh_set(m)
    count = 0
    for lane in range(32):
        if (lanes >> lane) & 1 and put(m, machine[state.LANE_ADDRESSES + lane]) >= 0:
            count += 1
    return count


def most_on_one(m: int, lanes: int) -> int:
    """Return the largest number of lanes with one address."""
    machine = i64_at(m, state.MACHINE_WORDS)
    most = 0
    for lane in range(32):
        if (lanes >> lane) & 1:
            alike = 0
            for other in range(32):
                if (lanes >> other) & 1:
                    alike += machine[state.LANE_ADDRESSES + other] == machine[state.LANE_ADDRESSES + lane]
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
    """Return whether active lanes and those whose numbers differ in bit ``distance`` have one address."""
    machine = i64_at(m, state.MACHINE_WORDS)
    for lane in range(32):
        other = lane ^ distance
        both = (lanes >> lane) & (lanes >> other) & 1
        if both and machine[state.LANE_ADDRESSES + lane] != machine[state.LANE_ADDRESSES + other]:
            return False
    return True


def fullest_bank(m: int, lanes: int, words: int) -> int:
    """Return the most different words that one of 32 banks must deliver."""
    machine = i64_at(m, state.MACHINE_WORDS)
    seen = 0
    for lane in range(32):
        if (lanes >> lane) & 1:
            first = machine[state.LANE_ADDRESSES + lane] >> WORD_SHIFT
            for word in range(first, first + words):
                bank = word & 31
                if not (seen >> bank) & 1:
                    seen |= 1 << bank
                    machine[state.FOUND + bank] = word
                elif machine[state.FOUND + bank] != word:
                    return crowded_bank(m, lanes, words)
    return 1 if seen else 0


def crowded_bank(m: int, lanes: int, words: int) -> int:
    """Do the same where banks have several words."""
    machine = i64_at(m, state.MACHINE_WORDS)
    fresh_set(m)
    for bank in range(32):
        machine[state.FOUND + bank] = 0
    most = 0
    for lane in range(32):
        if (lanes >> lane) & 1:
            first = machine[state.LANE_ADDRESSES + lane] >> WORD_SHIFT
            for word in range(first, first + words):
                if put(m, word) >= 0:
                    machine[state.FOUND + (word & 31)] += 1
                    most = max(most, machine[state.FOUND + (word & 31)])
    return most


def look(m: int, lanes: int) -> None:
    """Note whether the lanes have the SAME address, ASCENDING ones, and the STEP between neighbours.

    STEP is VARIES if it does, NO_NEIGHBOURS if no two lanes side by side are on.
    """
    machine = i64_at(m, state.MACHINE_WORDS)
    step = NO_NEIGHBOURS
    same, ascending = 1, 1
    last = 0
    on = -2
    for lane in range(32):
        if (lanes >> lane) & 1:
            address = machine[state.LANE_ADDRESSES + lane]
            if on >= 0:
                distance = address - last
                same &= distance == 0
                ascending &= distance > 0
                if on == lane - 1 and step not in (VARIES, distance):
                    step = distance if step == NO_NEIGHBOURS else VARIES
            last = address
            on = lane
    machine[state.SAME], machine[state.ASCENDING], machine[state.STEP] = same, ascending, step


def match_lanes(m: int, active: int) -> None:
    """Write to LANE_VALUES, as i32, which active lanes have the same number in LANE_ADDRESSES."""
    machine, masks = i64_at(m, state.MACHINE_WORDS), u32_at(m + state.LANE_VALUES * 8, 32)
    for lane in range(32):
        alike = 0
        for other in range(32):
            same = machine[state.LANE_ADDRESSES + other] == machine[state.LANE_ADDRESSES + lane]
            if same and (active >> other) & 1:
                alike |= 1 << other
        masks[lane] = alike
