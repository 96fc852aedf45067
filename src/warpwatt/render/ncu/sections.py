"""Sections of the details page: title to labels to metrics, as in the section files of Nsight Compute."""

from __future__ import annotations

from collections.abc import Mapping

COMMAND_LINE = "Command line profiler metrics"
"""Section of metrics that were asked for by name."""
_PEAK = "throughput.avg.pct_of_peak_sustained_elapsed"
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "GPU Speed Of Light Throughput": {
        "DRAM Frequency": "dram__cycles_elapsed.avg.per_second",
        "SM Frequency": "sm__cycles_elapsed.avg.per_second",
        "Elapsed Cycles": "gpc__cycles_elapsed.max",
        "Memory Throughput": f"gpu__compute_memory_{_PEAK}",
        "DRAM Throughput": f"gpu__dram_{_PEAK}",
        "Duration": "gpu__time_duration.sum",
        "L1/TEX Cache Throughput": f"l1tex__{_PEAK}",
        "L2 Cache Throughput": f"lts__{_PEAK}",
        "Compute (SM) Throughput": f"sm__{_PEAK}",
    },
    "Compute Workload Analysis": {
        "Executed Ipc Elapsed": "sm__inst_executed.avg.per_cycle_elapsed",
        "Issue Slots Busy": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    },
    "Memory Workload Analysis": {
        "L1/TEX Hit Rate": "l1tex__t_sector_hit_rate.pct",
        "L2 Hit Rate": "lts__t_sector_hit_rate.pct",
    },
    "Scheduler Statistics": {
        "One or More Eligible": "smsp__issue_active.avg.pct_of_peak_sustained_active",
        "Issued Warp Per Scheduler": "smsp__issue_active.avg.per_cycle_active",
        "Active Warps Per Scheduler": "smsp__warps_active.avg.per_cycle_active",
        "Eligible Warps Per Scheduler": "smsp__warps_eligible.avg.per_cycle_active",
    },
    "Warp State Statistics": {
        "Warp Cycles Per Issued Instruction": "smsp__average_warp_latency_per_inst_issued.ratio",
        "Avg. Active Threads Per Warp": "smsp__thread_inst_executed_per_inst_executed.ratio",
    },
    "Instruction Statistics": {
        "Executed Instructions": "sm__inst_executed.sum",
        "Avg. Executed Instructions Per Scheduler": "smsp__inst_executed.avg",
    },
    "Launch Statistics": {
        "Block Size": "launch__block_size",
        "Grid Size": "launch__grid_size",
        "Registers Per Thread": "launch__registers_per_thread",
        "Shared Memory Configuration Size": "launch__shared_mem_config_size",
        "Dynamic Shared Memory Per Block": "launch__shared_mem_per_block_dynamic",
        "Static Shared Memory Per Block": "launch__shared_mem_per_block_static",
        "Threads": "launch__thread_count",
        "Waves Per SM": "launch__waves_per_multiprocessor",
    },
    "Occupancy": {
        "Block Limit Registers": "launch__occupancy_limit_registers",
        "Block Limit Shared Mem": "launch__occupancy_limit_shared_mem",
        "Block Limit Warps": "launch__occupancy_limit_warps",
        "Block Limit SM": "launch__occupancy_limit_blocks",
        "Theoretical Active Warps per SM": "sm__maximum_warps_avg_per_active_cycle",
        "Theoretical Occupancy": "sm__maximum_warps_per_active_cycle_pct",
        "Achieved Occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
        "Achieved Active Warps Per SM": "sm__warps_active.avg.per_cycle_active",
    },
}
