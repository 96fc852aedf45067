// Instructions and settings that the simulator's tests start from.
#pragma once

#include "sm/instruction.h"
#include "sm/settings.h"

namespace warpwatt::sm::test {

// Needs nothing, waits for nothing.
inline Instruction plain() {
    Instruction instruction{};
    instruction.stall_count = 1;
    instruction.write_barrier = instruction.read_barrier = kNoScoreboard;
    instruction.result_stall = Stall::short_scoreboard;
    instruction.throttle_stall = Stall::math_pipe_throttle;
    instruction.issue_stall = Stall::wait;
    instruction.dram_slowdown = 1.0;
    return instruction;
}

inline Instruction shared_load(double cycles) {
    Instruction load = plain();
    load.operation = Operation::memory;
    load.shared_memory = 1;
    load.lsu_cycles = cycles;
    load.latency = 24.0;
    load.operand_read_latency = 9.0;
    return load;
}

inline Instruction global_load() {
    Instruction load = shared_load(2.0);
    load.shared_memory = 0;
    load.traffic = Traffic::read;
    load.result_stall = Stall::long_scoreboard;
    load.latency = 30.0;
    load.l2_latency = 200.0;
    load.dram_latency = 500.0;
    return load;
}

// One sub-core, one resident block of one warp, ports of 64 bytes per cycle, L2 of 32 and DRAM of 8.
inline Settings settings() {
    Settings s{};
    s.sub_cores = s.resident_blocks = s.warps_per_block = 1;
    s.issue_order = IssueOrder::oldest_block;
    s.queue_depth = 5;
    s.address_cycles = 4;
    s.read_window = 3;
    s.off_cycles = 12;
    s.l0_lines = s.l1i_lines = 1000;
    s.port_bytes = s.write_port_bytes = 64.0;
    s.l2_bytes = 32.0;
    s.dram_bytes = 8.0;
    s.backlog_cycles = 1000.0;
    s.load_window_cycles = 100.0;
    s.burst_after_cycles = 1.0;
    return s;
}

}  // namespace warpwatt::sm::test
