// One streaming multiprocessor: runs a line of blocks, each warp over its trace of the compiler's schedule.
// Rules after Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores" (MICRO 2025).
//
// * A warp belongs to a sub-core, which issues one instruction per cycle (WarpScheduler).
// * A warp is ready when its stall count has passed, the scoreboards in its wait mask are zero (Scoreboards)
// and
//   its next instruction is fetched (L0InstructionCache). It issues when pipes, MIO queue and register banks
//   take the instruction (SubCore).
// * A memory instruction passes its sub-core's MioQueue, then the LoadStoreUnit; what misses L1 passes a
// port,
//   L2 and Dram, each a server with this SM's share of the rate.
//
// A completion time is known when an instruction issues, so time jumps from event to event. StallAccounting
// listens.
#pragma once

#include <cstdint>
#include <vector>

#include "sm/block_dispatcher.h"
#include "sm/constant_cache.h"
#include "sm/instruction.h"
#include "sm/instruction_cache.h"
#include "sm/load_store_unit.h"
#include "sm/pipes.h"
#include "sm/program.h"
#include "sm/settings.h"
#include "sm/stall_accounting.h"
#include "sm/sub_core.h"
#include "sm/trace.h"
#include "sm/wake_times.h"
#include "sm/warp.h"

namespace warpwatt::sm {

// What is simulated.
struct Inputs {
    const Settings* settings;
    const Instruction* instructions;
    std::int64_t instruction_count;
    const std::int64_t* warp_starts;  // step at which each warp's trace starts, and the end of the last one
    const TraceStep* steps;
    const std::int64_t* access_instructions;
    const MemoryAccess* accesses;
    std::int64_t access_count;
    const std::int64_t* blocks;  // the sampled block in each place of the line
    std::int64_t block_count;
};

// What is counted over the whole simulation: cycles, unless the name says otherwise.
struct Counters {
    double cycles;  // from the first dispatch to the last completion
    double issued_instructions;
    double last_issue;
    double warp_cycles;  // that warps were resident
    double lsu_busy;
    double l1_busy;             // of the load-store unit, for L1
    double shared_memory_busy;  // and for shared memory
    double written_bytes;       // that left through the write port, addresses included
    double l2_bytes;
    double dram_bytes;
    double dispatch_busy;
};

// What is found; arrays to be filled in.
struct Outputs {
    Counters* counters;
    double* pipe_busy;     // by Pipe: cycles that it was taken in all sub-cores together
    double* sm_pipe_busy;  // by SmPipe
    StallRow* stalls;      // by instruction
    ProducerRow* producers;
    AwaitedRow* awaited;
    std::int64_t* block_end;  // by place in line: cycle in which the block ended
};

class Sm {
public:
    Sm(const Inputs& inputs, const Outputs& outputs);

    // Finds out too what there would be if the line ended after some blocks, at least as many as are
    // resident. Up to then it is the same, so only their end is simulated twice.
    void end_also_after(std::int64_t blocks, const Outputs& outputs);

    // Runs all blocks to their end.
    void run();

private:
    void run_on();
    void end_copy();

    // Blocks and warps come and go.
    void start_block(int slot, Cycle time);
    void start_warp(int warp, const DispatchedBlock& block, int number);
    void finish_warp(int warp, Cycle time);

    // What a warp does.
    [[gnu::always_inline]] inline bool advance(SubCore& core, int warp, Cycle stall_end,
                                               const Instruction* previous);
    Release awaited(const Warp& warp, const Instruction& instruction) const;

    // A sub-core issues. The compiler is told to inline what happens at every issue, since it takes that for
    // too much.
    [[gnu::always_inline]] inline void step(int sub_core, Cycle time);
    [[gnu::always_inline]] inline void issue(SubCore& core, int position, Cycle time);
    [[gnu::always_inline]] inline void execute(SubCore& core, Warp& warp, const Instruction& instruction,
                                               Cycle time);
    void access_memory(SubCore& core, Warp& warp, const Instruction& instruction, Cycle time);
    void pass_queue(SubCore& core, Warp& warp, const Instruction& instruction, Cycle time);
    [[gnu::always_inline]] inline void set_scoreboards(Warp& warp, const Instruction& instruction, Cycle done,
                                                       Cycle operands_read);
    void multiply(SubCore& core, Warp& warp, const Instruction& instruction, Cycle time);
    void multiply_in_tensor_memory(Warp& warp, const Instruction& instruction, Cycle time);
    void use_object(Warp& warp, const Instruction& instruction, const MemoryAccess& access, Cycle done);
    void release_from_object(int slot, int object);
    bool release_stuck();
    void go_on_behind_object(int warp, BarrierObject::Completion completion);
    void complete_issue();
    void rotate_blocks();

    // Barriers of blocks.
    void arrive(int warp, std::int32_t pc, Cycle time, bool waits);
    void release_if_complete(int slot, int barrier, std::int32_t wanted, Cycle time);
    void release(int warp, Cycle time);

    void count() const;

    const Inputs in_;
    Outputs out_;
    std::int64_t copy_at_ = -1;  // blocks dispatched, at which a copy of this SM gets no more; -1: never
    Outputs copy_out_{};
    const Settings& settings_;
    const Program program_;
    const AccessTrace accesses_;
    std::vector<SubCore> sub_cores_;
    std::vector<Warp> warps_;                // those of a block slot side by side
    std::vector<ReleaseHistory> histories_;  // by warp, where an instruction looks back
    std::vector<BlockSlot> slots_;
    WakeTimes wake_;  // of sub-cores
    BlockDispatcher dispatcher_;
    L1InstructionCache instruction_cache_;
    SharedPipes shared_pipes_;
    ConstantCache constant_cache_;
    LoadStoreUnit load_store_unit_;
    StallAccounting stalls_;
    std::int64_t issued_ = 0;
    std::int64_t next_rotation_;  // issued instructions at which blocks rotate; 0: never
    Cycle last_issue_ = 0;
    Cycle last_completion_ = 0;
};

}  // namespace warpwatt::sm
