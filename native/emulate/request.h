// One execution of a memory instruction by a warp ("request" in Nsight Compute), and how it is counted.
#pragma once

#include <array>
#include <cstdint>

#include "emulate/machine.h"
#include "emulate/touched_lines.h"

namespace warpwatt::emulate {

struct Request {
    Machine& machine;
    Warp& warp;
    const MemoryOperation& operation;
    RequestCounters* counters;  // by space

    Request(Machine& machine_, Warp& warp_, std::int64_t row)
        : machine(machine_),
          warp(warp_),
          operation(machine_.code.operations[row]),
          counters(machine_.totals.requests + row * kSpaces) {}

    RequestCounters& counters_of(Space space) const { return counters[static_cast<int>(space)]; }
};

// Which of a request's lanes are in each space.
using LanesBySpace = std::array<LaneMask, kSpaces>;

// All lanes side by side from `first` on, in global or shared memory; by formula.
void count_contiguous(const Request& request, Space space, std::uint64_t first);

// Lanes that all load one address, not in local memory.
void count_uniform(const Request& request, Space space, LaneMask lanes, std::uint64_t address);

// Any lanes with the machine's addresses, in any spaces; one event of the trace.
void count_lanes(const Request& request, LaneMask lanes, const LanesBySpace& by_space);

}  // namespace warpwatt::emulate
