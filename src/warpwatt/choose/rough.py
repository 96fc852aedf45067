"""About how long a configuration of the fused mixture of experts takes, in microseconds of CPU.

It orders the thousands of configurations of a space, so that the promising ones are predicted in full: what a
block holds and how many an SM holds of it; a step of the loop as long as its bytes take from DRAM and L2 and
its products take in tensor cores and shared memory, one behind the other as far as nothing else runs
meanwhile; waves of blocks, the last with fewer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from warpwatt.choose.mixture import Experts, Product, products

if TYPE_CHECKING:
    from warpwatt.core.gpu import Gpu

_BYTES = 2
_THREADS = 32
_REGISTERS = 40
"""Registers of a thread beside accumulators and operands (Triton 3, sm_80 and sm_90)."""
_BEGIN = 2.5e-6
"""Seconds of a block around its loop: three loads one behind the other, what it writes."""
_STEP_CYCLES = 80.0
"""Cycles of a step beside its products: a barrier, addresses."""
_L2_BYTES = 26.0
"""Bytes per SM and clock that L2 delivers to all SMs together (gpu-benches: A100 29, H100 25)."""
_LATENCY = 0.8e-6
"""Seconds of a load from DRAM."""
_OF_PEAK, _OF_L2, _OF_TENSOR_PEAK, _OF_WARP_WIDE = 0.92, 0.75, 0.9, 0.62
"""Shares of peak that reading from DRAM and L2 and products reach; of sm_90's tensor cores what a warp's
products do (Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture", 2024)."""
_SCATTER = 25.6
"""Bytes by which a row of a tile is as good as longer: DRAM delivers short runs slower."""
_WARP_GROUP_ROWS = 64
"""Rows from which on sm_90 multiplies from shared memory, with a warp group."""


def rough_seconds(layer: Experts, config: Mapping[str, int], gpu: Gpu) -> float:
    """Return about how long a layer's products take, infinite for what the GPU cannot hold."""
    return sum(rough_product_seconds(product, config, gpu) for product in products(layer))


def rough_product_seconds(product: Product, config: Mapping[str, int], gpu: Gpu) -> float:
    """Return about how long one product takes, infinite for what the GPU cannot hold.

    So it is for accumulators that do not fit the registers: each step writes them to local memory and reads
    them (predicted in full, 256 x 256 with 8 warps on an A100: 165 times the best).
    """
    tile = Tile.of(config, gpu)
    return _seconds(product, tile, gpu) if tile.resident and not tile.spills else math.inf


@dataclass(frozen=True)
class Tile:
    """A configuration on a GPU: ``m`` x ``n`` results of a block, ``k`` deep in a step."""

    m: int
    n: int
    k: int
    warps: int
    stages: int
    gpu: Gpu

    @classmethod
    def of(cls, config: Mapping[str, int], gpu: Gpu) -> Tile:
        """Return the tile of a configuration."""
        m, n, k = (config[f"BLOCK_SIZE_{axis}"] for axis in "MNK")
        return cls(m, n, k, config["num_warps"], config["num_stages"], gpu)

    @property
    def bytes(self) -> int:
        """Bytes that a step reads."""
        return (self.m + self.n) * self.k * _BYTES

    @property
    def by_warp_group(self) -> bool:
        """Whether a warp group multiplies, with operands in shared memory."""
        return self.m >= _WARP_GROUP_ROWS and self.gpu.target.startswith("sm_9")

    @property
    def ahead(self) -> int:
        """Steps by which loads are ahead of their use."""
        return max(1, self.stages - 1)

    @property
    def accumulators(self) -> float:
        """Accumulators of a thread."""
        return self.m * self.n / (_THREADS * self.warps)

    @property
    def spills(self) -> bool:
        """Whether accumulators do not fit the registers."""
        return self.accumulators + _REGISTERS > self.gpu.capability.max_registers_per_thread

    @cached_property
    def resident(self) -> int:
        """Blocks that an SM holds, 0 if not one fits."""
        limits = self.gpu.capability
        shared = (self.stages if self.by_warp_group else self.ahead) * self.bytes
        if shared > limits.max_shared_per_block:
            return 0
        operands = 0 if self.by_warp_group else self.bytes / (4 * _THREADS * self.warps)
        registers = min(limits.max_registers_per_thread, _REGISTERS + self.accumulators + operands)
        return min(
            limits.max_shared_per_sm // (shared + limits.reserved_shared_per_block),
            limits.max_warps_per_sm // self.warps,
            int(limits.registers_per_sm // (registers * _THREADS * self.warps)),
            limits.max_blocks_per_sm,
        )

    @cached_property
    def product_seconds(self) -> float:
        """Seconds of a block's products in a step, alone on its SM: tensor cores or shared memory."""
        clock = self.gpu.observed_clock or self.gpu.boost_clock
        operations = 2 * self.m * self.n * self.k
        return max(operations / _tensor_rate(self), self._shared_bytes / (self._shared_rate * clock))

    @property
    def _shared_rate(self) -> int:
        limits = self.gpu.capability
        return limits.shared_banks * limits.shared_bank_width

    @property
    def _shared_bytes(self) -> float:
        """Bytes that a step moves in shared memory: written once, read by each row or column of warps."""
        if self.by_warp_group:
            return 2 * self.bytes
        beside = self._warps_beside
        below = max(1.0, self.warps / beside)
        return self.bytes + (beside * self.m + below * self.n) * self.k * _BYTES

    @property
    def _warps_beside(self) -> float:
        """Warps beside each other along ``n``, as Triton places them."""
        if self.m <= 32:
            return min(self.warps * 16 / self.m, self.n / 8)
        return 4 if self.warps == 8 and self.n > self.m else 2


def _seconds(product: Product, tile: Tile, gpu: Gpu) -> float:
    """Return about the seconds of a product; never less than its bytes' way from DRAM."""
    used = min(product.experts, product.rows)
    rows = -(-product.rows // product.experts)
    blocks = used * -(-rows // tile.m) * -(-product.width // tile.n)
    steps = -(-product.depth // tile.k)
    scattered = 1 + _SCATTER / (tile.k * _BYTES)
    weights = scattered * used * product.width * product.depth * _BYTES
    others = product.rows * (product.depth / product.repeats + product.width) * _BYTES
    bandwidth = _bandwidth(gpu)
    from_dram = weights / (blocks * steps * tile.bytes)

    def wave(on_sm: float, sms: float) -> float:
        """Return the seconds of blocks that run at one time."""
        rate = min(_l2_rate(gpu), bandwidth / (from_dram * sms))
        return _BEGIN + steps * _step(tile, on_sm, rate)

    whole, rest = divmod(blocks, gpu.sm_count * tile.resident)
    run = whole * wave(tile.resident, gpu.sm_count) if whole else 0.0
    if rest:
        run += wave(math.ceil(rest / gpu.sm_count), min(gpu.sm_count, rest))
    return max(run, (weights + others) / bandwidth)


def _step(tile: Tile, on_sm: float, rate: float) -> float:
    """Return the seconds of a step of all blocks on an SM, to which memory brings so many bytes a second."""
    clock = tile.gpu.observed_clock or tile.gpu.boost_clock
    moving = max(on_sm * tile.bytes / rate, _LATENCY / tile.ahead)
    multiplying = max(on_sm * tile.product_seconds, tile.product_seconds + _STEP_CYCLES / clock)
    alone = min(moving, multiplying) / (on_sm * tile.ahead)
    return math.hypot(moving, multiplying) + alone


def _bandwidth(gpu: Gpu) -> float:
    return _OF_PEAK * gpu.memory_bandwidth


def _l2_rate(gpu: Gpu) -> float:
    """Return the bytes per second that L2 brings to one SM."""
    measured = gpu.memory.l2_bandwidth
    clock = gpu.observed_clock or gpu.boost_clock
    return _OF_L2 * measured / gpu.sm_count if measured else _L2_BYTES * clock


def _tensor_rate(tile: Tile) -> float:
    """Return the operations per second of one SM's tensor cores in bf16; of its FMA pipe without these."""
    gpu = tile.gpu
    known = gpu.capability.throughput
    names = ("tensor_bf16_fma", "tensor_fp16_fma")
    per_clock = max(float(gpu.capability.fp32_lanes), *(known.get(name, 0.0) for name in names))
    warp_wide = gpu.target.startswith("sm_9") and not tile.by_warp_group
    share = _OF_TENSOR_PEAK * (_OF_WARP_WIDE if warp_wide else 1.0)
    return 2 * share * per_clock * (gpu.observed_clock or gpu.boost_clock)
