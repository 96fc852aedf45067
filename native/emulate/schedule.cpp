#include "emulate/schedule.h"

#include <algorithm>
#include <numeric>

#include "emulate/await_phase.h"
#include "emulate/instruction_counts.h"
#include "emulate/start_block.h"

namespace warpwatt::emulate {

namespace {

constexpr std::int64_t kTurn = 4096;  // instructions; warpwatt.emulate.run.TURN
constexpr int kTimeOuts = 64;         // rounds in a row in which waits for barrier objects only run out
constexpr int kPatience = 64;  // rounds after which blocks that run may wait for one that has not begun

bool can_run(const Warp& warp) { return *std::min_element(warp.next.begin(), warp.next.end()) < kConverging; }

class Schedule {
public:
    explicit Schedule(Machine& machine) : machine_(machine) {}

    // Starts some of the run's blocks, from number `first` on, and runs them until they end.
    Stop run_together(std::int64_t first) {
        blocks_ = 0;
        const std::int64_t first_turn = machine_.launch.first_turn;
        turn_ = first_turn ? first_turn : kTurn;
        start_more(first, machine_.launch.resident_blocks);
        Stop outcome = Stop::kDone;
        for (int round = 1; outcome == Stop::kDone && note_ready_warps(); ++round) {
            outcome = run_round();
            turn_ = std::min(kTurn, 2 * turn_);
            if (round % kPatience == 0) start_more(first, std::min(2 * blocks_, machine_.launch.places));
        }
        return outcome == Stop::kDone && some_thread_lives() ? Stop::kDeadlock : outcome;
    }

    // Blocks that were started together.
    std::int64_t blocks() const { return blocks_; }

private:
    void start_more(std::int64_t first, std::int64_t count) {
        const Launch& launch = machine_.launch;
        const std::int64_t end = std::min(count, launch.block_count - first);
        for (; blocks_ < end; ++blocks_)
            start_block(machine_, blocks_, first + blocks_, launch.blocks[first + blocks_]);
    }

    std::int64_t warps() const { return blocks_ * machine_.launch.warps_per_block; }

    bool some_thread_lives() const {
        const Block* blocks = machine_.residents.blocks;
        return std::any_of(blocks, blocks + blocks_, [](const Block& block) { return block.live != 0; });
    }

    bool note_ready_warps() {
        bool some = false;
        for (std::int64_t i = 0; i < warps(); ++i) {
            Warp& warp = machine_.warp(i);
            if (release_finished(machine_, warp)) time_outs_ = 0;
            warp.ready = can_run(warp);
            some |= warp.ready != 0;
        }
        return some || run_out();
    }

    // Ends all waits for barrier objects where nothing else can go on; whether there were any.
    bool run_out() {
        if (++time_outs_ > kTimeOuts) return false;
        bool some = false;
        for (std::int64_t i = 0; i < warps(); ++i) {
            Warp& warp = machine_.warp(i);
            warp.ready = release_waiting(warp);
            some |= warp.ready != 0;
        }
        return some;
    }

    Stop run_round() {
        for (std::int64_t i = 0; i < warps(); ++i) {
            Warp& warp = machine_.warp(i);
            if (!warp.ready || !can_run(warp)) continue;
            if (machine_.budget <= 0) return Stop::kInstructions;
            run_turn(warp);
            if (machine_.fault.reason != FaultReason::kNone) return Stop::kFault;
        }
        return Stop::kDone;
    }

    void run_turn(Warp& warp) {
        const std::int64_t turn = std::min(turn_, machine_.budget);
        warp.turn = turn;
        machine_.clock += turn;
        warp.clock += turn;
        machine_.code.dispatch(&machine_, &warp);
        machine_.clock -= warp.turn;
        warp.clock -= warp.turn;
        machine_.budget -= turn - warp.turn;
    }

    Machine& machine_;
    std::int64_t blocks_ = 0;  // resident
    std::int64_t turn_ = kTurn;
    int time_outs_ = 0;  // in a row
};

// Room for the events of one more run, a third of the bytes for each kind.
void make_room(Trace& trace, const Trace& whole, std::int64_t bytes) {
    const auto room = [&](std::int64_t used, std::int64_t all, std::size_t size) {
        return std::min(all, used + bytes / 3 / static_cast<std::int64_t>(size));
    };
    trace.step_room = room(trace.step_count, whole.step_room, sizeof(TraceStep));
    trace.request_room = room(trace.request_count, whole.request_room, sizeof(TraceRequest));
    trace.line_room = room(trace.line_count, whole.line_room, sizeof(std::uint64_t));
    trace.dropped = 0;
}

// Whether one more run finds the room that it would have if it were the first.
bool has_room(const Trace& trace, const Trace& whole, std::int64_t bytes) {
    const auto fits = [&](std::int64_t used, std::int64_t all, std::size_t size) {
        return used + bytes / 3 / static_cast<std::int64_t>(size) <= all;
    };
    return fits(trace.step_count, whole.step_room, sizeof(TraceStep)) &&
           fits(trace.request_count, whole.request_room, sizeof(TraceRequest)) &&
           fits(trace.line_count, whole.line_room, sizeof(std::uint64_t));
}

void clear(const Code& code, const Totals& totals) {
    std::fill_n(totals.executions, code.block_count, 0);
    std::fill_n(totals.lanes, code.block_count, 0);
    std::fill_n(totals.guarded, code.guard_count, 0);
    std::fill_n(totals.requests, code.operation_count * kSpaces, RequestCounters{});
}

// What a trace takes in Python, about; warpwatt.emulate.budget.trace_bytes.
std::int64_t bytes_of(const Trace& trace) { return 8 * (trace.line_count + trace.step_count); }

}  // namespace

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

std::int64_t run_blocks(Machine* machine) {
    const Launch& launch = machine->launch;
    Schedule schedule(*machine);
    Stop outcome = Stop::kDone;
    for (std::int64_t first = 0; first < launch.block_count && outcome == Stop::kDone;
         first += schedule.blocks())
        outcome = schedule.run_together(first);
    return static_cast<std::int64_t>(outcome);
}

void run_each_block(Machine* machine, std::int64_t instructions, std::int64_t trace_bytes, std::int64_t total,
                    std::int64_t* stops, std::int64_t* spent) {
    const Trace whole = machine->trace;
    std::int64_t dropped = 0;
    for (std::int64_t block = 0; block < machine->launch.block_count && total > 0; ++block) {
        machine->budget = instructions;
        machine->clock = 0;
        machine->fault.reason = FaultReason::kNone;
        make_room(machine->trace, whole, trace_bytes);
        stops[block] = static_cast<std::int64_t>(Schedule(*machine).run_together(block));
        total -= spent[block] = instructions - machine->budget;
        dropped |= machine->trace.dropped;
        if (machine->fault.reason == FaultReason::kPythonError) break;
    }
    machine->trace.dropped = dropped;
}

std::int64_t run_in_turn(Machine* machine, const Budget* budget, std::int64_t instructions, BlockEnd* ends,
                         std::int64_t* executions, std::int64_t* lanes, RequestSums* sums) {
    Trace& trace = machine->trace;
    const Trace whole = trace;
    Budget left = *budget;
    std::int64_t block = 0, written = 0;
    while (block < machine->launch.block_count) {
        const std::int64_t room = left.trace_bytes / 4, before = bytes_of(trace);
        if (block > 0 && (left.is_spent() || !has_room(trace, whole, room))) break;
        machine->budget = std::max<std::int64_t>(1, left.instructions);
        machine->clock = 0;
        machine->check.block = block;
        make_room(trace, whole, room);
        clear(machine->code, machine->totals);
        const Stop stop = Schedule(*machine).run_together(block);
        std::int64_t* executed = executions + block * instructions;
        count_instructions(machine, executed, lanes + block * instructions);
        written += sum_requests(machine, sums + written);
        ends[block++] = {stop, trace.dropped, written};
        if (stop != Stop::kDone) break;
        left.instructions -= std::accumulate(executed, executed + instructions, std::int64_t{0});
        left.trace_bytes -= bytes_of(trace) - before;
        --left.fewest;
    }
    return block;
}
