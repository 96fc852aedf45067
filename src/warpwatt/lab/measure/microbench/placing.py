"""A microbenchmark on a device: machine code, buffers, and a launch with any number of passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.lab.measure.microbench import ptx
from warpwatt.lab.measure.microbench.model import Chain, Data, Microbenchmark
from warpwatt.lab.measure.prepared import Code, digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.lab.measure.device import Action, Device

CUBIN, TOOLKIT = "microbenchmarks.cubin", "microbenchmarks.txt"
"""Files of a prepared folder: the machine code of the probes; the compiler's version and, line by line, their
names."""
TILE = 2**24
"""Bytes of random data that large buffers repeat."""
SEED = 20240229


def read_code(folder: Path) -> Code:
    """Return the machine code in a prepared folder; ``parameters`` names the probes it has.

    Raises
    ------
    InputError
        If the folder has none.
    """
    try:
        cubin, toolkit = (folder / CUBIN).read_bytes(), (folder / TOOLKIT).read_text(encoding="utf-8")
    except OSError:
        hint = "prepare the folder again, or leave microbenchmarks out: --protocol time, then power"
        raise InputError("no microbenchmarks are prepared here", file=folder, hint=hint) from None
    version, *names = toolkit.splitlines()
    return Code(cubin, digest(cubin), version, dict.fromkeys(names, ()))


@dataclass(frozen=True, slots=True)
class Placed:
    """A microbenchmark with everything it needs on a device."""

    device: Device
    one: Microbenchmark
    function: Any
    source: int
    records: int
    """Address of the threads' records."""

    def run(self, passes: int) -> Action:
        """Return an action that enqueues one launch of ``passes`` passes through the loop."""
        if not self.one.probe.parameters:
            return self.device.launcher(self.function, self.one.launch, ())
        given = {"out": self.records, "in": self.source, "iterations": passes, **self.one.arguments}
        values = tuple(int(given[name]).to_bytes(8, "little") for name in self.one.probe.parameters)
        return self.device.launcher(self.function, replace(self.one.launch, graph=False), values)

    def cycles(self) -> float:
        """Wait, and return the cycles from the first warp's start to the last one's end, median over SMs."""
        raw = np.empty(self.one.launch.threads * ptx.RECORD, np.uint8)
        self.device.download(self.records, raw)
        return span_cycles(raw)


def span_cycles(raw: NDArray[np.uint8]) -> float:
    """Return the cycles that records tell: last stop less first start on each SM, median over SMs.

    >>> records = np.zeros((2, 16), np.uint64)
    >>> records[:, :3] = [(100, 180, 0), (90, 150, 0)]
    >>> span_cycles(records.view(np.uint8).reshape(-1))
    90.0
    """
    words = raw.view(np.uint64).reshape(-1, ptx.RECORD // 8)
    sms = words[:, 2] & np.uint64(0xFFFFFFFF)
    spans = [int(words[sms == sm, 1].max()) - int(words[sms == sm, 0].min()) for sm in np.unique(sms)]
    return float(np.median(spans))


@contextmanager
def place_on_device(device: Device, module: Any, one: Microbenchmark) -> Iterator[Placed]:
    """Put the buffers of a microbenchmark on a device; they are freed at the end.

    Raises
    ------
    DeviceError
        If the device refuses.
    """
    source = device.allocate(one.buffer)
    records = 0
    try:
        records = device.allocate(max(one.launch.threads * ptx.RECORD if one.probe.parameters else 1, 1))
        _fill(device, source, one)
        if one.constants and one.chain is not None:
            address, _ = device.symbol(module, ptx.CONSTANT_TABLE)
            device.upload(address, constant_chain(one.chain, one.constants))
        yield Placed(device, one, device.function(module, one.probe.name), source, records)
        device.synchronise()
    finally:
        device.free(source)
        if records:
            device.free(records)


def _fill(device: Device, address: int, one: Microbenchmark) -> None:
    """Give the buffer its contents: pointers, zeros, or random numbers in tiles."""
    if one.chain is not None and not one.constants:
        device.upload(address, pointer_chain(one.chain, one.buffer, address))
    elif one.data is Data.ZEROS:
        device.fill(address, 0, one.buffer)
    else:
        tile = random_tile(min(one.buffer, TILE))
        device.upload(address, tile)
        for start in range(tile.nbytes, one.buffer, tile.nbytes):
            device.copy(address + start, address, min(tile.nbytes, one.buffer - start))


def random_tile(nbytes: int) -> NDArray[np.uint8]:
    """Return bytes that are ordinary numbers, of either sign, however they are read.

    As fp32 between 0.5 and 1; as fp16 and bf16 between 0.5 and 2; as fp64 between 2^-15 and 2^-7.
    """
    random = np.random.default_rng(SEED).integers(0, 2**16, -(-nbytes // 2), dtype=np.uint16)
    halves = random & np.uint16(0x807F) | np.uint16(0x3F00)  # as bf16; about ±1.8 as fp16
    low = np.random.default_rng(SEED + 1).integers(0, 2**16, halves.size, dtype=np.uint16)
    halves[::2] = low[::2] & np.uint16(0x83FF) | np.uint16(0x3800)
    return halves.view(np.uint8)[:nbytes]


def pointer_chain(chain: Chain, nbytes: int, base: int) -> NDArray[np.uint64]:
    """Return a buffer of pointers that leads through all its cells and back to the first.

    >>> pointer_chain(Chain(16), 48, 1000)[::2].tolist()
    [1016, 1032, 1000]
    """
    words = np.arange(nbytes // 8, dtype=np.uint64) * np.uint64(8)
    if chain.every_word:
        return (words + np.uint64(chain.stride)) % np.uint64(nbytes) + np.uint64(base)
    buffer = np.zeros(nbytes // 8, np.uint64)
    cells = nbytes // chain.stride
    order = np.arange(cells)
    if chain.in_random_order:
        order[1:] = np.random.default_rng(SEED).permutation(cells - 1) + 1
    starts = order.astype(np.uint64) * np.uint64(chain.stride)
    buffer[(starts // np.uint64(8)).astype(np.int64)] = np.roll(starts, -1) + np.uint64(base)
    return buffer


def constant_chain(chain: Chain, nbytes: int) -> NDArray[np.uint32]:
    """Return offsets in constant memory, each to the next one, over so many bytes.

    >>> constant_chain(Chain(8), 24).tolist()
    [8, 0, 16, 0, 0, 0]
    """
    table = np.zeros(nbytes // 4, np.uint32)
    starts = np.arange(0, nbytes, chain.stride, dtype=np.uint32)
    table[starts // 4] = np.roll(starts, -1)
    return table
