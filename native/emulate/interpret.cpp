// Runs a routine's basic blocks step by step, with the same ends as generated code has.

#include <algorithm>

#include "emulate/run_time.h"
#include "emulate/steps.h"

namespace warpwatt::emulate {

namespace {

constexpr NextBlock kNowhere = -1;

class Interpreter {
public:
    Interpreter(Machine& machine, Warp& warp)
        : machine_(machine), warp_(warp), frame_{machine, warp, 0, machine.code.frame} {}

    void run() {
        NextBlock next = pick_block();
        while (next != kNowhere) {
            if (warp_.turn <= 0) return park(frame_.active, next);
            if (machine_.code.patience[0] < 0) return go_on_compiled(next);
            next = run_block(next);
        }
    }

private:
    // Activates the lanes of the lowest block that one is to execute; its number.
    NextBlock pick_block() {
        const NextBlock low = *std::min_element(warp_.next.begin(), warp_.next.end());
        if (low >= kConverging) return kNowhere;
        LaneMask here = 0;
        for (int lane = 0; lane < kLanes; ++lane) here |= LaneMask{warp_.next[lane] == low} << lane;
        warp_.active = frame_.active = here;
        return low;
    }

    NextBlock run_block(NextBlock number) {
        const StepBlock& block = machine_.code.steps[number];
        warp_.turn -= block.length;
        machine_.code.patience[0] -= block.count + 1;
        machine_.totals.executions[number] += 1;
        machine_.totals.lanes[number] += lane_count(frame_.active);
        if (machine_.trace.enabled) record_step(&machine_, &warp_, number);
        const Step* end = block.steps + block.count;
        for (const Step* step = block.steps; step != end; ++step) step->execute(frame_, *step);
        if (block.may_fail && failed()) return kNowhere;
        if (block.leaves) converge_waiting_lanes(&machine_, &warp_);
        return end_block(number, block);
    }

    NextBlock end_block(NextBlock number, const StepBlock& block) {
        switch (block.end) {
            case StepEnd::kJump:
                return jump(block.targets[0]);
            case StepEnd::kBranch:
                return branch(block);
            case StepEnd::kIndirect:
                if (block.condition >= 0) park(frame_.active, block.targets[0]);
                branch_indirect(&machine_, &warp_, chosen(block), block.instruction);
                return failed() ? kNowhere : pick_block();
            case StepEnd::kExit:
                return exit(block);
            case StepEnd::kBarrier:
                return wait_at_barrier(block);
            case StepEnd::kConverge:
                return converge_at(number, block);
            case StepEnd::kAwait:
                await_phase(&machine_, &warp_, block.targets[0]);
                return pick_block();
            case StepEnd::kTrap:
                if (block.targets[0] >= 0) park(frame_.active, block.targets[0]);
                trap_lanes(&machine_, &warp_, chosen(block), block.instruction);
                return failed() ? kNowhere : pick_block();
        }
        return kNowhere;
    }

    // While all live lanes are together, nothing is written down.
    NextBlock jump(NextBlock target) {
        if (together()) return target;
        park(frame_.active, target);
        return pick_block();
    }

    NextBlock branch(const StepBlock& block) {
        const auto [yes, no] = block.targets;
        const LaneMask taken = chosen(block);
        if (yes == no || taken == frame_.active) return jump(yes);
        if (taken == 0) return jump(no);
        park(taken, yes);
        park(frame_.active & ~taken, no);
        return pick_block();
    }

    NextBlock exit(const StepBlock& block) {
        const LaneMask gone = chosen(block);
        if (block.condition >= 0) {
            if (gone == 0) return jump(block.targets[0]);
            park(frame_.active, block.targets[0]);
        }
        exit_lanes(&machine_, &warp_, gone);
        return pick_block();
    }

    NextBlock wait_at_barrier(const StepBlock& block) {
        const int first = first_lane(frame_.active);
        const auto number = static_cast<std::int64_t>(machine_.addresses[first]);
        const auto expected = block.expected ? static_cast<std::int64_t>(machine_.values[0][first]) : -1;
        const LaneMask holding = block.condition < 0 ? 0 : chosen(block);
        arrive_at_barrier(&machine_, &warp_, number, expected, block.arrive, holding, block.targets[0]);
        return pick_block();
    }

    NextBlock converge_at(NextBlock number, const StepBlock& block) {
        const auto* masks = reinterpret_cast<const std::uint32_t*>(frame_.values + block.value);
        bool alike = true;  // levels of a function that calls itself meet one after the other
        for_each_lane(frame_.active,
                      [&](int lane) { alike &= masks[lane] == masks[first_lane(frame_.active)]; });
        if (alike && together()) return block.targets[0];
        for_each_lane(frame_.active, [&](int lane) { warp_.waits_for[lane] = masks[lane]; });
        park(frame_.active, kConverging + number);
        converge_lanes(&machine_, &warp_, number);
        return pick_block();
    }

    // Has the routine compiled, which runs it from now on.
    void go_on_compiled(NextBlock next) {
        park(frame_.active, next);
        machine_.code.compile(0, 0);
        if (!failed()) machine_.code.dispatch(&machine_, &warp_);
    }

    bool together() const { return frame_.active == warp_.live; }
    bool failed() const { return machine_.fault.reason != FaultReason::kNone; }

    LaneMask chosen(const StepBlock& block) const {
        if (block.condition < 0) return frame_.active;
        return frame_.active & *reinterpret_cast<const LaneMask*>(frame_.values + block.condition);
    }

    void park(LaneMask lanes, NextBlock next) {
        for_each_lane(lanes, [&](int lane) { warp_.next[lane] = next; });
    }

    Machine& machine_;
    Warp& warp_;
    Frame frame_;
};

}  // namespace

}  // namespace warpwatt::emulate

void interpret(Machine* machine, Warp* warp) { warpwatt::emulate::Interpreter(*machine, *warp).run(); }
