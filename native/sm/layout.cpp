// The fields and codes that Python fills in and reads, by name.
#include <iterator>

#include "c_api.h"
#include "record_layout.h"
#include "sm/sm.h"

namespace warpwatt::sm {
namespace {

constexpr Field kFields[] = {
    RECORD(Instruction),
    FIELD(Instruction, stall_count),
    FIELD(Instruction, yields),
    FIELD(Instruction, wait_mask),
    FIELD(Instruction, write_barrier),
    FIELD(Instruction, read_barrier),
    FIELD(Instruction, operation),
    FIELD(Instruction, pipe),
    FIELD(Instruction, alternative_pipe),
    FIELD(Instruction, sm_pipe),
    FIELD(Instruction, even_bank_reads),
    FIELD(Instruction, odd_bank_reads),
    FIELD(Instruction, traffic),
    FIELD(Instruction, shared_memory),
    FIELD(Instruction, object_use),
    FIELD(Instruction, scoreboard),
    FIELD(Instruction, barrier),
    FIELD(Instruction, result_stall),
    FIELD(Instruction, throttle_stall),
    FIELD(Instruction, issue_stall),
    FIELD(Instruction, pipe_cycles),
    FIELD(Instruction, sm_pipe_cycles),
    FIELD(Instruction, tensor_cycles),
    FIELD(Instruction, outstanding),
    FIELD(Instruction, barrier_warps),
    FIELD(Instruction, cache_line),
    FIELD(Instruction, latency),
    FIELD(Instruction, operand_read_latency),
    FIELD(Instruction, l2_latency),
    FIELD(Instruction, dram_latency),
    FIELD(Instruction, l1_miss_rate),
    FIELD(Instruction, l2_miss_rate),
    FIELD(Instruction, lsu_cycles),
    FIELD(Instruction, dram_slowdown),
    FIELD(Instruction, l2_merging),
    FIELD(Instruction, in_flight_rate),
    FIELD(Instruction, sleep_cycles),

    RECORD(Settings),
    FIELD(Settings, sub_cores),
    FIELD(Settings, resident_blocks),
    FIELD(Settings, warps_per_block),
    FIELD(Settings, issue_order),
    FIELD(Settings, rotation_instructions),
    FIELD(Settings, queue_depth),
    FIELD(Settings, address_cycles),
    FIELD(Settings, read_window),
    FIELD(Settings, barrier_cycles),
    FIELD(Settings, off_cycles),
    FIELD(Settings, block_cycles),
    FIELD(Settings, warp_cycles),
    FIELD(Settings, jump_cycles),
    FIELD(Settings, l0_lines),
    FIELD(Settings, l0_miss_cycles),
    FIELD(Settings, l1i_lines),
    FIELD(Settings, l1i_miss_cycles),
    FIELD(Settings, l1i_ahead),
    FIELD(Settings, dispatch_cycles),
    FIELD(Settings, port_bytes),
    FIELD(Settings, write_port_bytes),
    FIELD(Settings, l2_bytes),
    FIELD(Settings, dram_bytes),
    FIELD(Settings, l2_slot_bytes),
    FIELD(Settings, backlog_cycles),
    FIELD(Settings, load_linear_cycles),
    FIELD(Settings, load_queue_cycles),
    FIELD(Settings, load_window_cycles),
    FIELD(Settings, burst_cycles),
    FIELD(Settings, burst_after_cycles),

    RECORD(TraceStep),
    FIELD(TraceStep, first),
    FIELD(TraceStep, end),
    FIELD(TraceStep, first_access),

    RECORD(MemoryAccess),
    FIELD(MemoryAccess, lsu_cycles),
    FIELD(MemoryAccess, sectors),
    FIELD(MemoryAccess, lines),
    FIELD(MemoryAccess, object),
    FIELD(MemoryAccess, change),

    RECORD(Inputs),
    FIELD(Inputs, settings),
    FIELD(Inputs, instructions),
    FIELD(Inputs, instruction_count),
    FIELD(Inputs, warp_starts),
    FIELD(Inputs, steps),
    FIELD(Inputs, access_instructions),
    FIELD(Inputs, accesses),
    FIELD(Inputs, access_count),
    FIELD(Inputs, blocks),
    FIELD(Inputs, block_count),

    RECORD(Counters),
    FIELD(Counters, cycles),
    FIELD(Counters, issued_instructions),
    FIELD(Counters, last_issue),
    FIELD(Counters, warp_cycles),
    FIELD(Counters, lsu_busy),
    FIELD(Counters, l1_busy),
    FIELD(Counters, shared_memory_busy),
    FIELD(Counters, l2_bytes),
    FIELD(Counters, dram_bytes),
    FIELD(Counters, dispatch_busy),

    RECORD(Outputs),
    FIELD(Outputs, counters),
    FIELD(Outputs, pipe_busy),
    FIELD(Outputs, sm_pipe_busy),
    FIELD(Outputs, stalls),
    FIELD(Outputs, producers),
    FIELD(Outputs, awaited),
    FIELD(Outputs, block_end),
};

constexpr NamedCode kCodes[] = {
    code("Stall", "selected", Stall::selected),
    code("Stall", "not_selected", Stall::not_selected),
    code("Stall", "wait", Stall::wait),
    code("Stall", "long_scoreboard", Stall::long_scoreboard),
    code("Stall", "short_scoreboard", Stall::short_scoreboard),
    code("Stall", "math_pipe_throttle", Stall::math_pipe_throttle),
    code("Stall", "mio_throttle", Stall::mio_throttle),
    code("Stall", "lg_throttle", Stall::lg_throttle),
    code("Stall", "tex_throttle", Stall::tex_throttle),
    code("Stall", "barrier", Stall::barrier),
    code("Stall", "no_instruction", Stall::no_instruction),
    code("Stall", "branch_resolving", Stall::branch_resolving),
    code("Stall", "dispatch", Stall::dispatch),
    code("Stall", "membar", Stall::membar),
    code("Stall", "imc_miss", Stall::imc_miss),
    code("Stall", "sleeping", Stall::sleeping),

    code("Operation", "arithmetic", Operation::arithmetic),
    code("Operation", "memory", Operation::memory),
    code("Operation", "mio_pipe", Operation::mio_pipe),
    code("Operation", "barrier_sync", Operation::barrier_sync),
    code("Operation", "barrier_arrive", Operation::barrier_arrive),
    code("Operation", "depbar", Operation::depbar),
    code("Operation", "copy_fence", Operation::copy_fence),
    code("Operation", "phase_wait", Operation::phase_wait),
    code("Operation", "warpgroup_mma", Operation::warpgroup_mma),
    code("Operation", "tensor_memory_mma", Operation::tensor_memory_mma),
    code("Operation", "tensor_memory_commit", Operation::tensor_memory_commit),
    code("Operation", "warpgroup_wait", Operation::warpgroup_wait),

    code("ObjectUse", "none", ObjectUse::none),
    code("ObjectUse", "make", ObjectUse::make),
    code("ObjectUse", "change", ObjectUse::change),
    code("ObjectUse", "wait", ObjectUse::wait),
    code("ObjectUse", "tell", ObjectUse::tell),
    code("Traffic", "none", Traffic::none),
    code("Traffic", "read", Traffic::read),
    code("Traffic", "write", Traffic::write),
    code("Traffic", "atomic", Traffic::atomic),
    code("Traffic", "async_copy", Traffic::async_copy),
    code("Traffic", "bulk_copy", Traffic::bulk_copy),

    code("Pipe", "none", Pipe::none),
    code("Pipe", "fma", Pipe::fma),
    code("Pipe", "fma_lite", Pipe::fma_lite),
    code("Pipe", "alu", Pipe::alu),
    code("Pipe", "fp16", Pipe::fp16),
    code("Pipe", "xu", Pipe::xu),
    code("Pipe", "fp64", Pipe::fp64),
    code("Pipe", "tensor", Pipe::tensor),
    code("Pipe", "uniform", Pipe::uniform),
    code("Pipe", "branch", Pipe::branch),

    code("SmPipe", "none", SmPipe::none),
    code("SmPipe", "fp64", SmPipe::fp64),
    code("SmPipe", "barrier", SmPipe::barrier),
    code("SmPipe", "tensor", SmPipe::tensor),

    code("IssueOrder", "oldest", IssueOrder::oldest),
    code("IssueOrder", "youngest", IssueOrder::youngest),
    code("IssueOrder", "longest_waiting", IssueOrder::longest_waiting),
    code("IssueOrder", "oldest_block", IssueOrder::oldest_block),
};

}  // namespace
}  // namespace warpwatt::sm

// The fields, as many as `count` then says.
WARPWATT_API const void* sm_fields(std::int64_t* count) {
    *count = std::size(warpwatt::sm::kFields);
    return warpwatt::sm::kFields;
}

// The codes, as many as `count` then says.
WARPWATT_API const void* sm_codes(std::int64_t* count) {
    *count = std::size(warpwatt::sm::kCodes);
    return warpwatt::sm::kCodes;
}
