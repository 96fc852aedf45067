// What the simulator knows about one SM and its share of the chip. Times are cycles of the SM clock.
#pragma once

#include <cstdint>

namespace warpwatt::sm {

// Which ready warp a sub-core issues when it cannot go on with the last one.
enum class IssueOrder : std::int32_t {
    oldest,
    youngest,
    longest_waiting,
    oldest_block,  // the longest waiting one of the oldest block that has one ready
};

struct Settings {
    std::int32_t sub_cores;
    std::int32_t resident_blocks;
    std::int32_t warps_per_block;
    IssueOrder issue_order;
    std::int64_t rotation_instructions;  // after so many issued, the oldest block is the youngest; 0: never

    std::int32_t queue_depth;     // memory instructions that wait in a sub-core's MIO queue
    std::int32_t address_cycles;  // of a sub-core's address unit, per memory instruction
    std::int32_t read_window;     // cycles in which an instruction may read its registers
    std::int32_t barrier_cycles;  // from the last arrival at a block barrier on
    std::int32_t off_cycles;      // of a memory instruction whose lanes are all off
    std::int32_t block_cycles;    // from a free slot to the first instruction of the next block
    std::int32_t warp_cycles;     // between the first instructions of the warps of a block

    std::int32_t jump_cycles;  // until a warp has its next instruction, where that does not follow in memory

    std::int32_t l0_lines;
    std::int32_t l0_miss_cycles;
    std::int32_t l1i_lines;
    std::int32_t l1i_miss_cycles;
    std::int32_t l1i_ahead;  // lines that a miss brings beyond its own

    double dispatch_cycles;  // between the blocks that the chip's distributor has for this SM

    // Bytes per cycle that this SM gets.
    double port_bytes;
    double write_port_bytes;
    double l2_bytes;
    double dram_bytes;

    double l2_slot_bytes;  // that a slice of L2 moves at once: part of a line takes no less

    double backlog_cycles;      // that queues beyond L1 may grow to before the load-store unit stops
    double load_linear_cycles;  // see Dram
    double load_queue_cycles;
    double load_window_cycles;
    double burst_cycles;
    double burst_after_cycles;
};

}  // namespace warpwatt::sm
