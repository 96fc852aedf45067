"""Everything that is measured: all probes, and the launches of each for one device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from warpwatt.core.launch import Dim3, Launch
from warpwatt.lab.measure.microbench import instructions, latencies, streams
from warpwatt.lab.measure.microbench.model import Chain, Data, Microbenchmark, Probe, Reading

if TYPE_CHECKING:
    from warpwatt.lab.measure.device import DeviceInfo

WARPS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32)
"""Active warps of one block, on one SM."""
PASSES = 16
"""Passes through the loop in the shorter of the two runs of a reading in cycles."""
KIB = 1024
DATA_BYTES = 64 * KIB
CONSTANT_FOOTPRINTS = tuple(2**e for e in range(8, 17))
SPACINGS = (0, 4, 8, 16, 32, 64, 128)
POWER_WARPS = 16
"""Warps of a block while power is measured; two blocks run on each SM."""
ZEROED = ("fp32_fma", "fp64_fma", "fp16x2_fma", "int_mad", "int_logic", "mma_m16n8k16_f16_f32")
"""Classes whose power is measured with zeros too."""


@cache
def probes() -> tuple[Probe, ...]:
    """Return every generated kernel."""
    return (*instructions.probes(), *latencies.probes(), *streams.probes(), *latencies.barriers())


def microbenchmarks(info: DeviceInfo) -> tuple[Microbenchmark, ...]:
    """Return everything that is measured on a device, curve after curve."""
    target = int(info.target.removeprefix("sm_"))
    return tuple(_Suite(info, {p.name: p for p in probes() if p.exists_on(target)}).all())


@dataclass(frozen=True, slots=True)
class _Suite:
    """The launches for one device."""

    info: DeviceInfo
    probes: dict[str, Probe]

    def all(self) -> Iterator[Microbenchmark]:
        yield from self._instructions()
        yield from self._global_latency()
        yield from self._loaded_latency()
        yield from self._on_chip_latency()
        yield from self._sm_bandwidth()
        yield from self._l2_bandwidth()
        yield from self._dram_bandwidth()
        yield from self._conflicts()
        yield from self._atomics()
        yield from self._barriers()
        yield from self._launches()
        yield from self._power()

    def _group(self, *groups: str) -> Iterator[Probe]:
        return (probe for probe in self.probes.values() if probe.group in groups)

    def _instructions(self) -> Iterator[Microbenchmark]:
        """Latency of one warp; throughput per SM against warps, for each ILP."""
        for probe in self._group("instruction"):
            ilp = int(probe.name[-1])
            if ilp == 1:
                yield _cycles(probe, "latency", 1, {"warps": 1})
            for warps in WARPS:
                rate = 32.0 * warps * probe.steps
                yield _cycles(probe, "throughput", warps, {"ilp": ilp, "warps": warps}, per_pass=rate)

    def _global_latency(self) -> Iterator[Microbenchmark]:
        """Pointer chases in random order against footprint; in order against stride, at three footprints."""
        largest = min(4 * self.info.l2_bytes, self.info.memory_bytes // 8)
        steps = [int(4 * KIB * 2 ** (k / 2)) // 128 * 128 for k in range(60)]
        for name in ("chase_global_ca", "chase_global_cg", "chase_global_nc"):
            for footprint in (f for f in steps if f <= largest):
                yield self._chase(name, "latency", footprint, Chain(128, in_random_order=True))
        for footprint in (16 * KIB, self.info.l2_bytes // 8 // 4096 * 4096, 2 * self.info.l2_bytes):
            for stride in (8, 16, 32, 64, 128, 256, 512, 1024, 4096):
                yield self._chase("chase_global_ca", "latency by stride", footprint, Chain(stride))

    def _chase(self, name: str, quantity: str, footprint: int, chain: Chain) -> Microbenchmark:
        # Every cell is visited once before the clocks run: by the shorter of the two runs.
        probe = self.probes[name]
        passes = max(PASSES, -(-footprint // chain.stride // probe.steps))
        sweep = {"footprint": footprint, "stride": chain.stride}
        made = _cycles(probe, quantity, 1, sweep, {"spacing": 0}, passes=passes, threads=1)
        return replace(made, buffer=footprint, chain=chain)

    def _loaded_latency(self) -> Iterator[Microbenchmark]:
        """Latency against threads in flight, past L1 (Alavani 2023, Table 3.3: nT_b × nB)."""
        for per_sm in (1, 2, 4, 8, 16, 32):
            threads = per_sm * 32 * self.info.sm_count
            sweep = {"blocks": self.info.sm_count, "warps": per_sm, "footprint": 8 * threads * 8}
            made = _cycles(
                self.probes["chase_global_cg"], "loaded latency", per_sm, sweep, {"spacing": 8},
                blocks=self.info.sm_count,
            )  # fmt: skip
            yield replace(made, buffer=8 * threads * 8, chain=Chain(8 * threads, every_word=True))

    def _on_chip_latency(self) -> Iterator[Microbenchmark]:
        """Shared memory, constants, textures."""
        for spacing in (4, 8, 16, 32, 64, 128):
            arguments = {"spacing": spacing}
            yield _cycles(self.probes["chase_shared"], "latency", 1, {"stride": spacing}, arguments)
        for footprint in CONSTANT_FOOTPRINTS:
            made = _cycles(
                self.probes["chase_constant"],
                "latency",
                1,
                {"footprint": footprint},
                {"spacing": 0},
                threads=1,
            )
            yield replace(made, chain=Chain(64), constants=footprint)
        yield _cycles(self.probes["chase_texture"], "latency", 1, {"warps": 1}, {"spacing": 0}, threads=1)

    def _sm_bandwidth(self) -> Iterator[Microbenchmark]:
        """L1 and shared memory against warps, in bytes per cycle and SM; asynchronous copies too."""
        for probe in self._group("bandwidth", "asynchronous copy"):
            if probe.name.startswith("stream_cg"):
                continue
            width = int(probe.name.partition("B_")[0].rpartition("_")[2])
            arguments = dict.fromkeys(probe.parameters[3:], 0)
            if "spacing" in arguments:
                arguments["spacing"] = width
            for warps in WARPS:
                moved = 32.0 * warps * probe.steps * width
                yield _cycles(probe, "bandwidth", warps, {"warps": warps}, arguments, per_pass=moved)

    def _l2_bandwidth(self) -> Iterator[Microbenchmark]:
        """Every block reads the same window of a quarter of L2, each 4 KiB further on than the one before."""
        window = max(self.info.l2_bytes // 4 // (512 * KIB), 1) * 512 * KIB
        for warps in WARPS:
            yield self._stream("stream_cg_16B_16r0w", "l2 bandwidth", warps, 1, window, 4 * KIB)
        yield self._stream("stream_cg_4B_16r0w", "l2 bandwidth", 32, 1, window, 4 * KIB)
        for loads, stores in streams.MIXES[1:]:
            name = f"stream_cg_16B_{loads}r{stores}w"
            yield self._stream(name, "l2 bandwidth", 32, 1, window, 4 * KIB)

    def _dram_bandwidth(self) -> Iterator[Microbenchmark]:
        """Walk over a buffer of many times L2, against warps per SM and mix of loads and stores."""
        for blocks in (1, 2, 4, 8):
            for warps in (1, 2, 4, 8):
                yield self._stream(
                    "stream_cg_16B_16r0w", "dram bandwidth", warps, blocks, self._dram_bytes, None
                )
        for loads, stores in streams.MIXES[1:]:
            yield self._stream(
                f"stream_cg_16B_{loads}r{stores}w", "dram bandwidth", 8, 8, self._dram_bytes, None
            )

    @property
    def _dram_bytes(self) -> int:
        return min(16 * self.info.l2_bytes, self.info.memory_bytes // 8) // (64 * KIB) * 64 * KIB

    def _stream(
        self, name: str, quantity: str, warps: int, per_sm: int, window: int, shift: int | None
    ) -> Microbenchmark:
        """Return a stream; ``shift`` None: the grid shares the window out."""
        probe = self.probes[name]
        width = int(name.split("_")[2].removesuffix("B"))
        loads, stores = (int(part[:-1]) for part in name.split("_")[3].replace("r", "r ").split())
        chunk, blocks = streams.ACCESSES * 32 * width, per_sm * self.info.sm_count
        step = warps * chunk * (blocks if shift is None else 1)
        window = max(window // step, 1) * step
        reach = window + (0 if shift is None else blocks * shift) + warps * chunk
        arguments = {
            "block_stride": warps * chunk if shift is None else shift, "warp_stride": chunk, "spacing": width,
            "step": step, "footprint": window, "target": reach if stores else 0,
        }  # fmt: skip
        passes = window // step if shift is None else 4 * PASSES
        sweep = {"warps": warps, "blocks": blocks, "footprint": window, "loads": loads, "stores": stores}
        return Microbenchmark(
            probe, quantity, Launch(Dim3(blocks), Dim3(32 * warps)), Reading.SECONDS, "B/s", sweep, arguments,
            buffer=reach * (2 if stores else 1), passes=passes, per_pass=float(blocks * warps * chunk),
        )  # fmt: skip

    def _conflicts(self) -> Iterator[Microbenchmark]:
        """Cycles per access of an SM against the spacing of lanes: bank conflicts, lines and sectors."""
        for name, quantity in (("shared_4B_16r0w", "conflicts"), ("strided_4B", "coalescing")):
            for spacing in SPACINGS:
                probe = self.probes[name]
                arguments = {"spacing": spacing, "step": 0}
                yield _cycles(
                    probe, quantity, 16, {"stride": spacing, "warps": 16}, arguments,
                    steps=16 * probe.steps, buffer=8 * 4096 + 4096,
                )  # fmt: skip

    def _atomics(self) -> Iterator[Microbenchmark]:
        """Latency of one thread; cost for an SM, contended (stride 0) and spread; for the chip."""
        for probe in self._group("latency"):
            if probe.name.startswith("atomic"):
                yield _cycles(probe, "latency", 1, {"stride": 4}, {"spacing": 4}, threads=1)
        for probe in self._group("atomics"):
            for spacing in (0, 4, 32):
                for blocks in (1,) if "shared" in probe.name else (1, self.info.sm_count):
                    sweep = {"stride": spacing, "warps": 8, "blocks": blocks}
                    rate = 32.0 * 8 * probe.steps
                    made = _cycles(
                        probe, "atomics", 8, sweep, {"spacing": spacing}, per_pass=rate, blocks=blocks
                    )
                    yield replace(made, buffer=max(32 * 256 * blocks, DATA_BYTES))

    def _barriers(self) -> Iterator[Microbenchmark]:
        for probe in self._group("barrier"):
            for warps in WARPS:
                yield _cycles(probe, "latency", warps, {"warps": warps})

    def _launches(self) -> Iterator[Microbenchmark]:
        """Launch in a stream and in a graph, and a single launch, against grid and block."""
        probe = self.probes[latencies.EMPTY]
        for reading in (Reading.BATCH, Reading.GRAPH, Reading.SECONDS):
            for threads in (32, 256, 1024):
                for blocks in (1, *(self.info.sm_count * k for k in (1, 4, 16, 64, 256))):
                    sweep = {"blocks": blocks, "warps": threads // 32}
                    launch = Launch(Dim3(blocks), Dim3(threads), graph=reading is Reading.GRAPH)
                    name = f"{reading.value} launch, {threads} threads"
                    yield Microbenchmark(probe, name, launch, reading, "s", sweep, passes=0)

    def _power(self) -> Iterator[Microbenchmark]:
        """Energy per instruction and byte; parts of the chip; zeros in place of random data."""
        sms = self.info.sm_count
        for probe in self._group("instruction"):
            name, _, ilp = probe.name.rpartition("_ilp")
            if ilp == "2":
                yield _power(probe, sms, 2, POWER_WARPS, Data.RANDOM)
                if name in ZEROED:
                    yield _power(probe, sms, 2, POWER_WARPS, Data.ZEROS)
        fma = self.probes["fp32_fma_ilp2"]
        for share in (1, 2, 4, 8, 16):
            yield _power(fma, max(sms * share // 16, 1), 1, 32, Data.RANDOM)
        for warps in (1, 2, 4, 8):
            yield _power(fma, sms, 1, warps, Data.RANDOM)
        for one in (*self._sm_bandwidth(), *self._l2_bandwidth(), *self._dram_bandwidth()):
            if one.sweep["warps"] == (8 if one.quantity == "dram bandwidth" else 32):
                for data in Data:
                    yield one.for_power(sms, data)


def _cycles(  # noqa: PLR0913 - what a launch and its meaning take, by name
    probe: Probe, quantity: str, warps: int, sweep: dict[str, int], arguments: dict[str, int] | None = None,
    *, per_pass: float = 0.0, passes: int = PASSES, threads: int | None = None, blocks: int = 1,
    steps: int | None = None, buffer: int = DATA_BYTES,
) -> Microbenchmark:  # fmt: skip
    """Return a reading in cycles: per step, or as a rate of ``per_pass`` on each SM."""
    unit = "1/cycle" if per_pass else "cycle"
    unit = "B/cycle" if quantity == "bandwidth" else unit
    block = Dim3(threads if threads is not None else 32 * warps)
    return Microbenchmark(
        probe, quantity, Launch(Dim3(blocks), block), Reading.CYCLES, unit, sweep, arguments or {},
        passes=passes, per_pass=per_pass, steps=steps or probe.steps, buffer=buffer,
    )  # fmt: skip


def _power(probe: Probe, sms: int, per_sm: int, warps: int, data: Data) -> Microbenchmark:
    """Return the power of an instruction class on ``sms`` SMs."""
    blocks = sms * per_sm
    sweep = {"warps": warps * per_sm, "blocks": blocks, "active_sms": sms}
    return Microbenchmark(
        probe, "power", Launch(Dim3(blocks), Dim3(32 * warps)), Reading.POWER, "W", sweep, data=data,
        passes=4096, per_pass=float(blocks * warps * probe.steps),
    )  # fmt: skip
