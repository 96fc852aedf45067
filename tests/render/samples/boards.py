"""Two boards, every field filled."""

from __future__ import annotations

from warpwatt.core.gpu import Capability, Gpu, MemoryTimings


def capability(version: str, arch: str, fp64: int) -> Capability:
    return Capability(
        version=version,
        arch=arch,
        warp_size=32,
        max_threads_per_block=1024,
        max_warps_per_sm=64,
        max_threads_per_sm=2048,
        max_blocks_per_sm=32,
        registers_per_sm=65536,
        max_registers_per_block=65536,
        max_registers_per_thread=255,
        register_allocation_granularity=256,
        warp_allocation_granularity=4,
        max_shared_per_sm=233472,
        max_shared_per_block=232448,
        static_shared_limit=49152,
        shared_allocation_granularity=128,
        reserved_shared_per_block=1024,
        shared_carveouts=(0, 8192, 16384, 32768, 65536, 102400, 135168, 167936, 200704, 233472),
        l1_shared_pool=262144,
        shared_banks=32,
        shared_bank_width=4,
        warp_schedulers=4,
        dispatch_units=4,
        fp32_lanes=2 * fp64,
        fp64_lanes=fp64,
        int32_lanes=64,
        sfu_lanes=16,
        lsu_lanes=32,
        tensor_cores=4,
        throughput={
            "fp32_add_mul_fma": 2.0 * fp64,
            "fp64_add_mul_fma": float(fp64),
            "tensor_fp16_fma": 16.0 * fp64,
        },
        sources={"arch": "CUDA C++ Programming Guide"},
    )


def h200() -> Gpu:
    return Gpu(
        name="NVIDIA H200",
        capability=capability("9.0", "Hopper", 64),
        sm_count=132,
        base_clock=1500e6,
        boost_clock=1980e6,
        memory_clock=3186e6,
        memory_bandwidth=4893.7e9,
        memory_type="HBM3e",
        memory_size=141 * 10**9,
        l2_size=62914560,
        l1_shared_per_sm=262144,
        l1_shared_unified=True,
        power_limit=700.0,
        idle_power=70.0,
        pcie_generation=5,
        memory=MemoryTimings(
            dram_latency=658.0,
            l2_bandwidth=7.5e12,
            borrowed_from="NVIDIA H100 PCIe",
            sources=dict.fromkeys(("dram_latency", "l2_bandwidth"), "a paper; measured on NVIDIA H100 PCIe"),
        ),
        aliases=("H200",),
        die="GH100",
        arch="Hopper",
        sources={"sm_count": "data sheet"},
    )


def a100() -> Gpu:
    return Gpu(
        name="NVIDIA A100-SXM4-40GB",
        capability=capability("8.0", "Ampere", 32),
        sm_count=108,
        base_clock=1095e6,
        boost_clock=1410e6,
        memory_clock=1215e6,
        memory_bandwidth=1555.2e9,
        memory_type="HBM2e",
        memory_size=40 * 10**9,
        l2_size=41943040,
        l1_shared_per_sm=196608,
        l1_shared_unified=True,
        power_limit=400.0,
        idle_power=55.0,
        pcie_generation=4,
        memory=MemoryTimings(dram_latency=572.0, l2_bandwidth=4.4e12),
        aliases=("A100",),
        die="GA100",
        arch="Ampere",
        sources={"sm_count": "data sheet"},
    )
