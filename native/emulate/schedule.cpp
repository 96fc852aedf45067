#include "emulate/schedule.h"

#include <algorithm>

#include "emulate/start_block.h"

namespace warpwatt::emulate {

namespace {

constexpr std::int64_t kTurn = 4096;  // instructions; warpwatt.emulate.run.TURN

bool can_run(const Warp& warp) { return *std::min_element(warp.next.begin(), warp.next.end()) < kConverging; }

class Schedule {
public:
    explicit Schedule(Machine& machine) : machine_(machine) {}

    // Starts some of the run's blocks, from number `first` on, and runs them until they end.
    Stop run_together(std::int64_t first, std::int64_t count) {
        for (std::int64_t place = 0; place < count; ++place)
            start_block(machine_, place, first + place, machine_.launch.blocks[first + place]);
        blocks_ = count;
        Stop outcome = Stop::kDone;
        while (outcome == Stop::kDone && note_ready_warps()) outcome = run_round();
        return outcome == Stop::kDone && some_thread_lives() ? Stop::kDeadlock : outcome;
    }

private:
    std::int64_t warps() const { return blocks_ * machine_.launch.warps_per_block; }

    bool some_thread_lives() const {
        const Block* blocks = machine_.residents.blocks;
        return std::any_of(blocks, blocks + blocks_, [](const Block& block) { return block.live != 0; });
    }

    bool note_ready_warps() {
        bool some = false;
        for (std::int64_t i = 0; i < warps(); ++i) {
            Warp& warp = machine_.warp(i);
            warp.ready = can_run(warp);
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
        const std::int64_t turn = std::min(kTurn, machine_.budget);
        warp.turn = turn;
        machine_.clock += turn;
        machine_.code.dispatch(&machine_, &warp);
        machine_.clock -= warp.turn;
        machine_.budget -= turn - warp.turn;
    }

    Machine& machine_;
    std::int64_t blocks_ = 0;  // resident
};

}  // namespace

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

std::int64_t run_blocks(Machine* machine) {
    const Launch& launch = machine->launch;
    Schedule schedule(*machine);
    Stop outcome = Stop::kDone;
    for (std::int64_t first = 0; first < launch.block_count && outcome == Stop::kDone;
         first += launch.resident_blocks)
        outcome = schedule.run_together(first, std::min(launch.resident_blocks, launch.block_count - first));
    return static_cast<std::int64_t>(outcome);
}
