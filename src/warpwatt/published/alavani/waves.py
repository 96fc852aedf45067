"""Waves: how many threads of a launch an SM runs at once and how often (Algorithms 5 and 8)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warpwatt.core.errors import LaunchError


@dataclass(frozen=True, slots=True)
class SmLimits:
    """Limits of one SM: nTh_sm^M threads, nB^M blocks, reg^M registers, shm^M bytes of shared memory.

    The thesis calls the last two "per block"; its algorithm compares them with the need of all resident
    blocks, so these are the SM's totals.
    """

    threads: int
    blocks: int
    registers: int
    shared: int


@dataclass(frozen=True, slots=True)
class Waves:
    """nTh_sm ``threads`` per SM and wave, nTh_sched ``scheduled`` threads per SM in all, ``count`` waves."""

    threads: int
    scheduled: int
    count: int


def waves(blocks: int, block_size: int, registers: int, shared: int, sms: int, limits: SmLimits) -> Waves:
    """Return the waves of Algorithm 8, lines 2 to 13.

    Parameters
    ----------
    blocks, block_size
        nB and nT_b.
    registers, shared
        reg_t per thread and shm_b bytes per block.
    sms, limits
        nSM and what one SM holds.

    Readings. Line 5 divides by nT_b before multiplying by it: whole blocks. Line 7 compares shared bytes with
    nB^M: the resident blocks nTh_sm/nT_b are meant. Line 12 subtracts the hardware limit: the text (4.4.2.2)
    wants the limited value. Line 9 runs while threads remain (> 0): with ≥ the thesis' own example of section
    5.4.5.1 would take four waves instead of three.

    Raises
    ------
    LaunchError
        If not even one block fits an SM.

    >>> kepler = SmLimits(threads=2048, blocks=16, registers=65536, shared=49152)
    >>> waves(78, 1024, 18, 0, 13, kepler)
    Waves(threads=2048, scheduled=6144, count=3)
    >>> waves(130, 256, 64, 0, 13, kepler).threads
    1024
    """
    _check_fits(block_size, registers, shared, limits)
    scheduled = math.ceil(blocks * block_size / sms)
    resident = min(limits.threads, scheduled)
    if registers * resident > limits.registers:
        resident = min(resident, limits.registers // (registers * block_size) * block_size)
    if shared * math.ceil(resident / block_size) > limits.shared:
        resident = min(resident, limits.shared // shared * block_size)
    if resident / block_size > limits.blocks:
        resident = min(resident, limits.blocks * block_size)
    return Waves(resident, scheduled, math.ceil(scheduled / resident))


def _check_fits(block_size: int, registers: int, shared: int, limits: SmLimits) -> None:
    needs = {"threads": block_size, "registers": registers * block_size, "shared": shared}
    for name, need in needs.items():
        most = getattr(limits, name)
        if need > most:
            raise LaunchError(
                f"a block needs {need} {name}, an SM has {most}", hint="use smaller blocks or less per thread"
            )


def rounds_of_blocks(blocks: int, sms: int, resident: int) -> int:
    """Return the sum over rounds of the most blocks any SM got: how often t_thread counts in Algorithm 5.

    A round deals ``resident`` blocks to each of ``sms`` SMs in turn, the last round what is left. Line 17
    prints ``maximum(num_blocksRound)``, a maximum of one number; the maximum of SMcounters is meant.

    >>> rounds_of_blocks(15, sms=13, resident=8), rounds_of_blocks(208, 13, 8), rounds_of_blocks(209, 13, 8)
    (2, 16, 17)
    """
    full, rest = divmod(blocks, sms * resident)
    return full * resident + math.ceil(rest / sms)
