#include "sm/sm.h"

#include <algorithm>
#include <numeric>

namespace warpwatt::sm {
namespace {

int warps_of(const Settings& settings) { return settings.resident_blocks * settings.warps_per_block; }

Cycle whole(double cycles) { return static_cast<Cycle>(cycles); }

}  // namespace

Sm::Sm(const Inputs& in, const Outputs& out)
    : in_(in),
      out_(out),
      settings_(*in.settings),
      program_(in.instructions, in.instruction_count, settings_),
      accesses_{in.access_instructions, in.accesses, in.access_count},
      sub_cores_(settings_.sub_cores, SubCore(settings_, program_.cache_lines())),
      warps_(warps_of(settings_)),
      histories_(program_.looks_back() ? warps_.size() : 0),
      slots_(settings_.resident_blocks),
      wake_(settings_.sub_cores),
      dispatcher_(in.blocks, in.block_count, settings_),
      instruction_cache_(program_.cache_lines(), settings_),
      constant_cache_(in.instruction_count),
      load_store_unit_(in.instruction_count, settings_),
      stalls_(warps_of(settings_), out.stalls, out.producers, out.awaited),
      next_rotation_(settings_.rotation_instructions) {}

void Sm::run() {
    for (int slot = 0; slot < settings_.resident_blocks; ++slot) start_block(slot, 0);
    run_on();
}

void Sm::run_on() {
    do
        for (int core = wake_.advance(); wake_.now() < kNever; core = wake_.advance())
            step(core, wake_.now());
    while (release_stuck());
    count();
}

void Sm::end_also_after(std::int64_t blocks, const Outputs& outputs) {
    copy_at_ = blocks;
    copy_out_ = outputs;
}

// Runs a copy of this SM, which stands at the end of an issue, to its end without further blocks.
void Sm::end_copy() {
    const Outputs out = copy_out_;
    copy_at_ = -1;
    std::copy_n(out_.stalls[0], in_.instruction_count * kStalls, out.stalls[0]);
    std::copy_n(out_.producers[0], in_.instruction_count * kProducers, out.producers[0]);
    std::copy_n(out_.awaited[0], in_.instruction_count * kProducers, out.awaited[0]);
    std::copy_n(out_.block_end, dispatcher_.dispatched(), out.block_end);
    Sm copy(*this);
    copy.out_ = out;
    copy.stalls_.count_in(out.stalls, out.producers, out.awaited);
    for (std::size_t warp = 0; warp < copy.histories_.size(); ++warp)
        copy.warps_[warp].scoreboards.keep_history_in(&copy.histories_[warp]);
    copy.dispatcher_.close();
    copy.complete_issue();
    copy.run_on();
}

// -- blocks and warps come and go ------------------------------------------------------------------------

void Sm::start_block(int slot, Cycle time) {
    while (true) {
        if (dispatcher_.dispatched() == copy_at_) end_copy();
        const auto block = dispatcher_.next(time);
        if (!block) return;
        slots_[slot] = {block->ordinal, settings_.warps_per_block, {}, {}};
        for (int number = 0; number < settings_.warps_per_block; ++number) {
            start_warp(slot * settings_.warps_per_block + number, *block, number);
        }
        if (slots_[slot].live_warps > 0) return;
        out_.block_end[block->ordinal] = time = block->time;
    }
}

void Sm::start_warp(int warp, const DispatchedBlock& block, int number) {
    const std::int64_t traced = block.traced * settings_.warps_per_block + number;
    Warp& state = warps_[warp];
    state.state = Warp::State::active;
    state.sub_core = warp % settings_.sub_cores;
    state.block_slot = warp / settings_.warps_per_block;
    state.trace =
        TraceCursor::at_start(in_.steps + in_.warp_starts[traced], in_.steps + in_.warp_starts[traced + 1]);
    state.copies = state.products = {};
    state.object = -1;
    state.phases.fill({});
    state.scoreboards.reset(histories_.empty() ? nullptr : &histories_[warp]);
    state.waiting_since = block.time + settings_.block_cycles + number * Cycle{settings_.warp_cycles};
    SubCore& core = sub_cores_[state.sub_core];
    if (!advance(core, warp, state.waiting_since, nullptr)) {  // it has nothing to do
        state.state = Warp::State::exited;
        --slots_[state.block_slot].live_warps;
        return;
    }
    core.scheduler.add({state.ready, state.waiting_since, program_[state.trace.pc].needs,
                        static_cast<std::int16_t>(warp), static_cast<std::int16_t>(state.block_slot)});
    wake_.wake_by(state.sub_core, state.ready);
}

// Ends a warp. Barriers do not wait for it any more; the last of a block makes room for the next block.
void Sm::finish_warp(int warp, Cycle time) {
    Warp& state = warps_[warp];
    BlockSlot& slot = slots_[state.block_slot];
    state.state = Warp::State::exited;
    WarpScheduler& scheduler = sub_cores_[state.sub_core].scheduler;
    scheduler.remove(scheduler.queue().position_of(warp));
    if (--slot.live_warps == 0) {
        out_.block_end[slot.block] = time;
        start_block(state.block_slot, time);
        return;
    }
    for (int barrier = 0; barrier < BlockBarriers::kBarriers; ++barrier) {
        release_if_complete(state.block_slot, barrier, 0, time);
    }
}

// -- what a warp does ------------------------------------------------------------------------------------

// Moves a warp to its next instruction and finds out when that is ready; false if there is none. `stall_end`:
// when the stall count of the one before has passed.
bool Sm::advance(SubCore& core, int warp, Cycle stall_end, const Instruction* previous) {
    Warp& state = warps_[warp];
    const std::int32_t previous_pc = state.trace.pc;
    if (!state.trace.advance()) return false;
    const ProgramInstruction& next = program_[state.trace.pc];
    Wait wait{state.trace.pc, previous ? previous->issue_stall : Stall::wait, stall_end, awaited(state, next),
              0};
    const bool sequential = !previous || previous_pc + 1 == state.trace.pc;
    if (!sequential) wait.fetched = stall_end + settings_.jump_cycles;
    if (!previous || previous->cache_line != next.cache_line) {
        const Cycle there =
            core.instruction_cache.fetch(next.cache_line, sequential, stall_end, instruction_cache_);
        wait.fetched = std::max(wait.fetched, there);
    }
    state.ready = std::max({stall_end, wait.result.time, wait.fetched});
    const bool waits = previous && (previous->operation == Operation::barrier_sync || state.object >= 0);
    if (waits) {
        state.behind_barrier = wait;
    } else {
        stalls_.on_next(warp, state.waiting_since, wait);
    }
    return true;
}

// Returns the last result that the warp's next instruction waits for.
Release Sm::awaited(const Warp& warp, const Instruction& instruction) const {
    return warp.scoreboards.awaited(instruction);
}

// -- a sub-core issues -----------------------------------------------------------------------------------

void Sm::step(int number, Cycle time) {
    SubCore& core = sub_cores_[number];
    const Choice choice = core.scheduler.choose(
        time, [&](std::int32_t needs) { return core.units_free(program_.needs(needs), shared_pipes_); },
        [&](int blocked, const UnitsFree& units) { stalls_.on_blocked(blocked, time, units); });
    wake_.sleep_until(number, choice.position == kNoPosition ? choice.look_again : time + 1);
    if (choice.position != kNoPosition) issue(core, choice.position, time);
}

void Sm::issue(SubCore& core, int position, Cycle time) {
    const int warp = core.scheduler.queue()[position].warp;
    Warp& state = warps_[warp];
    const std::int32_t pc = state.trace.pc;
    const ProgramInstruction& instruction = program_[pc];
    stalls_.on_issue(warp, pc, instruction.throttle_stall, time);
    core.take_units(instruction, program_.needs(instruction.needs), shared_pipes_, time);
    core.scheduler.issued(position);
    last_issue_ = time;
    execute(core, state, instruction, time);
    state.waiting_since = time + 1;
    const Cycle constants =
        instruction.reads_constants ? constant_cache_.read(instruction, pc, time) - time : 0;
    const Cycle stall_count = std::max<Cycle>(
        {instruction.yields ? 2 : 1, instruction.stall_count, whole(instruction.sleep_cycles), constants});
    const bool goes_on = advance(core, warp, time + stall_count, &instruction);
    const bool at_object = goes_on && state.object >= 0;
    const bool waits = goes_on && (instruction.operation == Operation::barrier_sync || at_object);
    if (goes_on) {
        core.scheduler.update(position, waits ? kNever : state.ready, state.waiting_since,
                              program_[state.trace.pc].needs);
    }
    if (instruction.operation == Operation::barrier_sync ||
        instruction.operation == Operation::barrier_arrive) {
        arrive(warp, pc, time, waits);
    }
    if (at_object) {
        state.state = Warp::State::at_object;
        const BarrierObject& object = slots_[state.block_slot].objects[state.object];
        if (object.phases() > state.phase) go_on_behind_object(warp, object.completion(state.phase));
    }
    if (!goes_on) finish_warp(warp, time);
    complete_issue();
}

void Sm::complete_issue() {
    ++issued_;
    if (issued_ == next_rotation_) rotate_blocks();
}

void Sm::execute(SubCore& core, Warp& warp, const Instruction& instruction, Cycle time) {
    switch (instruction.operation) {
        case Operation::memory:
        case Operation::phase_wait:
        case Operation::tensor_memory_commit:
            return access_memory(core, warp, instruction, time);
        case Operation::mio_pipe:
            return pass_queue(core, warp, instruction, time);
        case Operation::copy_fence:
            return warp.scoreboards.set(instruction.write_barrier, std::max(time, warp.copies.done),
                                        warp.copies.producer, instruction.result_stall);
        case Operation::warpgroup_mma:
            return multiply(core, warp, instruction, time);
        case Operation::tensor_memory_mma:
            return multiply_in_tensor_memory(warp, instruction, time);
        default:
            set_scoreboards(warp, instruction, time + whole(instruction.latency),
                            time + whole(instruction.operand_read_latency));
    }
}

void Sm::access_memory(SubCore& core, Warp& warp, const Instruction& instruction, Cycle time) {
    const MemoryAccess* access = accesses_.take(warp.trace);
    const Cycle addressed = core.mio_queue.address(time);
    const AccessTimes times = load_store_unit_.access(instruction, warp.trace.pc, addressed, access);
    core.mio_queue.leave(times.accepted);
    if (instruction.traffic == Traffic::async_copy) warp.copies.add(times.done, warp.trace.pc);
    // A copy by the tensor memory accelerator has its registers read when the unit takes it.
    const Cycle written = instruction.traffic == Traffic::bulk_copy ? times.operands_read : times.done;
    set_scoreboards(warp, instruction, written, times.operands_read);
    last_completion_ = std::max(last_completion_, times.done);
    const bool commits = instruction.operation == Operation::tensor_memory_commit;
    const Cycle told = commits ? std::max(times.done, warp.products.done) : times.done;
    if (access && access->object >= 0.0) use_object(warp, instruction, *access, told);
}

// Queues a warp group's product at the tensor pipe, behind those before it.
void Sm::multiply(SubCore& core, Warp& warp, const Instruction& instruction, Cycle time) {
    const Cycle begun = core.pipes[Pipe::tensor].take(time, instruction.tensor_cycles);
    const Cycle done = begun + whole(instruction.latency);
    if (instruction.scoreboard == kWarpgroupBoard)
        warp.scoreboards.set(kWarpgroupBoard, done, warp.trace.pc, instruction.result_stall);
    last_completion_ = std::max(last_completion_, done);
}

// Queues a product of a block, or a copy to tensor memory, at the SM's tensor cores.
void Sm::multiply_in_tensor_memory(Warp& warp, const Instruction& instruction, Cycle time) {
    const Cycle begun = shared_pipes_[SmPipe::tensor].take(time, instruction.tensor_cycles);
    const Cycle done = begun + whole(instruction.latency);
    warp.products.add(done, warp.trace.pc);
    last_completion_ = std::max(last_completion_, done);
}

// -- barrier objects -------------------------------------------------------------------------------------

void Sm::use_object(Warp& warp, const Instruction& instruction, const MemoryAccess& access, Cycle done) {
    const int number = static_cast<int>(access.object);
    const auto change = static_cast<std::int64_t>(access.change);
    BarrierObject& object = slots_[warp.block_slot].objects[number];
    switch (instruction.object_use) {
        case ObjectUse::make:
            return object.make(change);
        case ObjectUse::wait:
            warp.object = number;
            warp.phase = warp.phases[number].next(static_cast<std::int32_t>(change), warp.trace.pc);
            return;
        case ObjectUse::change:
            object.change(change, done, warp.trace.pc);
            break;
        case ObjectUse::tell:
            object.tell(change, done, warp.trace.pc);
            break;
        default:
            return;
    }
    release_from_object(warp.block_slot, number);
}

void Sm::release_from_object(int slot, int number) {
    const BarrierObject& object = slots_[slot].objects[number];
    const int first = slot * settings_.warps_per_block;
    for (int warp = first; warp < first + settings_.warps_per_block; ++warp) {
        const Warp& state = warps_[warp];
        const bool here = state.state == Warp::State::at_object && state.object == number;
        if (here && object.phases() > state.phase) go_on_behind_object(warp, object.completion(state.phase));
    }
}

void Sm::go_on_behind_object(int warp, BarrierObject::Completion completion) {
    Warp& state = warps_[warp];
    Wait& wait = state.behind_barrier;
    if (completion.time > wait.result.time)
        wait.result = {completion.time, completion.producer, Stall::long_scoreboard};
    state.ready = std::max({state.ready, wait.result.time, last_issue_ + 1});
    state.state = Warp::State::active;
    state.object = -1;
    stalls_.on_next(warp, state.waiting_since, wait);
    SubCore& core = sub_cores_[state.sub_core];
    core.scheduler.update(core.scheduler.queue().position_of(warp), state.ready, state.waiting_since,
                          program_[state.trace.pc].needs);
    wake_.wake_by(state.sub_core, state.ready);
}

// Lets warps go on that nothing can release any more: loops cut short may leave them behind. Whether there
// were any.
bool Sm::release_stuck() {
    bool some = false;
    for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
        if (warps_[warp].state != Warp::State::at_object) continue;
        go_on_behind_object(static_cast<int>(warp), {});
        some = true;
    }
    return some;
}

void Sm::pass_queue(SubCore& core, Warp& warp, const Instruction& instruction, Cycle time) {
    const bool shared = instruction.sm_pipe != SmPipe::none;
    const Cycle taken =
        shared ? core.mio_queue.pass_to(shared_pipes_[instruction.sm_pipe], instruction.sm_pipe_cycles, time)
               : core.mio_queue.pass_to_special(core.pipes[instruction.pipe], instruction.pipe_cycles, time);
    const Cycle done = taken + whole(instruction.latency);
    set_scoreboards(warp, instruction, done, taken + whole(instruction.operand_read_latency));
    last_completion_ = std::max(last_completion_, done);
}

void Sm::set_scoreboards(Warp& warp, const Instruction& instruction, Cycle done, Cycle operands_read) {
    warp.scoreboards.set(instruction.write_barrier, done, warp.trace.pc, instruction.result_stall);
    warp.scoreboards.set(instruction.read_barrier, operands_read, warp.trace.pc, instruction.result_stall);
}

void Sm::rotate_blocks() {
    next_rotation_ += settings_.rotation_instructions;
    for (SubCore& core : sub_cores_) core.scheduler.rotate_oldest_block();
}

// -- barriers of blocks ----------------------------------------------------------------------------------

void Sm::arrive(int warp, std::int32_t pc, Cycle time, bool waits) {
    Warp& state = warps_[warp];
    const Instruction& instruction = program_[pc];
    slots_[state.block_slot].barriers.arrive(instruction.barrier);
    if (waits) {
        state.state = Warp::State::at_barrier;
        state.barrier_pc = pc;
    }
    release_if_complete(state.block_slot, instruction.barrier, instruction.barrier_warps, time);
}

void Sm::release_if_complete(int slot, int barrier, std::int32_t wanted, Cycle time) {
    if (!slots_[slot].barriers.complete(barrier, slots_[slot].live_warps, wanted)) return;
    const int first = slot * settings_.warps_per_block;
    for (int warp = first; warp < first + settings_.warps_per_block; ++warp) {
        const Warp& state = warps_[warp];
        if (state.state != Warp::State::at_barrier) continue;
        if (program_[state.barrier_pc].barrier == barrier) release(warp, time);
    }
}

// Lets a warp go on behind its barrier, some cycles after the last one has come.
void Sm::release(int warp, Cycle time) {
    Warp& state = warps_[warp];
    const Cycle free = time + settings_.barrier_cycles;
    stalls_.on_barrier_release(warp, state.barrier_pc, state.waiting_since, free, state.behind_barrier);
    state.state = Warp::State::active;
    state.waiting_since = std::max(state.waiting_since, free);
    state.ready = std::max(state.ready, free);
    WarpScheduler& scheduler = sub_cores_[state.sub_core].scheduler;
    scheduler.update(scheduler.queue().position_of(warp), state.ready, state.waiting_since,
                     program_[state.trace.pc].needs);
    wake_.wake_by(state.sub_core, std::max(time + 1, state.ready));
}

// -- results ---------------------------------------------------------------------------------------------

void Sm::count() const {
    Cycle warp_cycles = 0;
    for (std::int64_t pc = 0; pc < in_.instruction_count; ++pc)
        warp_cycles = std::accumulate(out_.stalls[pc], out_.stalls[pc] + kStalls, warp_cycles);
    const L2& l2 = load_store_unit_.l1().l2();
    *out_.counters = {
        .cycles = static_cast<double>(std::max(last_completion_, last_issue_)),
        .issued_instructions = static_cast<double>(issued_),
        .last_issue = static_cast<double>(last_issue_),
        .warp_cycles = static_cast<double>(warp_cycles),
        .lsu_busy = load_store_unit_.busy_cycles(),
        .l1_busy = load_store_unit_.l1_busy_cycles(),
        .shared_memory_busy = load_store_unit_.shared_memory_busy_cycles(),
        .written_bytes = load_store_unit_.l1().written_bytes(),
        .l2_bytes = l2.bandwidth().bytes(),
        .dram_bytes = l2.dram().bytes(),
        .dispatch_busy = dispatcher_.busy_cycles(),
    };
    for (int pipe = 0; pipe < kPipes; ++pipe) {
        std::int64_t busy = 0;
        for (const SubCore& core : sub_cores_) busy += core.pipes[static_cast<Pipe>(pipe)].busy_cycles;
        out_.pipe_busy[pipe] = static_cast<double>(busy);
    }
    for (int pipe = 0; pipe < kSmPipes; ++pipe) {
        out_.sm_pipe_busy[pipe] = static_cast<double>(shared_pipes_[static_cast<SmPipe>(pipe)].busy_cycles);
    }
}

}  // namespace warpwatt::sm
