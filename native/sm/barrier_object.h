// A barrier object in shared memory (PTX ISA, "mbarrier"): phases that end when all arrivals and bytes have
// come.
//
// What changes it is known when an instruction issues, when its effect comes as well, so that a phase has its
// time of completion as soon as the last change is known.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sm/cycle.h"

namespace warpwatt::sm {

class BarrierObject {
public:
    static constexpr int kRemembered = 16;  // phases

    void make(std::int64_t word) { *this = {}, pending_ = expected_ = word & kCountMask; }

    // A change of the word that the emulator has (emulate/barrier_object.h): arrivals in its lowest 20 bits
    // are subtracted, bytes above them added.
    void change(std::int64_t by, Cycle time, std::int32_t pc) {
        const std::int64_t bytes = (by + kCountMask) >> kCountBits;  // arrivals borrow at most one
        pending_ += by - bytes * (kCountMask + 1);
        bytes_ += bytes;
        settle(time, pc);
    }

    void tell(std::int64_t bytes, Cycle time, std::int32_t pc) {
        bytes_ -= bytes;
        settle(time, pc);
    }

    std::int64_t phases() const { return phases_; }

    struct Completion {
        Cycle time = 0;
        std::int32_t producer = -1;
    };

    // When a phase was over; at once where that is too long ago to remember.
    Completion completion(std::int64_t phase) const {
        const bool remembered = phase >= 0 && phase + kRemembered >= phases_;
        return remembered ? over_[phase % kRemembered] : Completion{};
    }

private:
    static constexpr int kCountBits = 20;
    static constexpr std::int64_t kCountMask = (1 << kCountBits) - 1;

    void settle(Cycle time, std::int32_t pc) {
        if (time >= last_.time) last_ = {time, pc};
        if (pending_ > 0 || bytes_ > 0) return;
        over_[phases_++ % kRemembered] = last_;
        pending_ += expected_;
        last_ = {};
    }

    std::int64_t expected_ = 0, pending_ = 0, bytes_ = 0, phases_ = 0;
    Completion last_;
    std::array<Completion, kRemembered> over_{};
};

// Which phase of a barrier object a warp waits for: of each wait the next, unless another instruction asks
// once more for the same parity. A first wait for parity 1 is over before it begins.
struct PhaseCursor {
    std::int32_t phase = -2;
    std::int32_t pc = -1;
    std::int32_t parity = -1;

    std::int32_t next(std::int32_t wanted, std::int32_t from) {
        const bool again = wanted == parity && from != pc;
        if (parity < 0)
            phase = wanted == 1 ? -1 : 0;
        else if (!again)
            ++phase;
        parity = wanted;
        pc = from;
        return phase;
    }
};

}  // namespace warpwatt::sm
