#include "emulate/await_phase.h"

#include <cstring>

#include "emulate/address_space.h"
#include "emulate/barrier_object.h"
#include "emulate/run_time.h"

namespace warpwatt::emulate {

namespace {

// Whether the phase of a parity is over; true where there is no such memory, so that the access behind the
// wait meets the fault.
bool phase_is_over(const Machine& machine, const Warp& warp, std::uint64_t address, std::uint32_t parity) {
    const Region region = region_of(machine, warp, {}, Space::kShared, address);
    const auto offset = static_cast<std::int64_t>(offset_bits(address));
    if (offset < region.begin || offset + std::int64_t{sizeof(std::uint64_t)} > region.size) return true;
    std::uint64_t word = 0;
    std::memcpy(&word, region.base + offset, sizeof word);
    return phase_parity(word) != (parity & 1);
}

}  // namespace

bool release_finished(Machine& machine, Warp& warp) {
    bool some = false;
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!awaits_phase(warp.next[lane])) continue;
        if (!phase_is_over(machine, warp, warp.awaited[lane], warp.waits_for[lane])) continue;
        warp.next[lane] &= kBlockBits;
        some = true;
    }
    return some;
}

bool release_waiting(Warp& warp) {
    bool some = false;
    for (NextBlock& next : warp.next) {
        some |= awaits_phase(next);
        if (awaits_phase(next)) next &= kBlockBits;
    }
    return some;
}

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

void await_phase(Machine* machine, Warp* warp, std::int32_t target) {
    for_each_lane(warp->active, [&](int lane) {
        warp->awaited[lane] = machine->addresses[lane];
        warp->waits_for[lane] = static_cast<std::uint32_t>(machine->values[0][lane]);
        warp->next[lane] = kAwaiting + target;
    });
    release_finished(*machine, *warp);
}
