// The record of a resident thread block and of its barriers.
#pragma once

#include <array>
#include <cstdint>

namespace warpwatt::emulate {

inline constexpr int kBarriers = 16;  // CUDA C++ Programming Guide: barriers per thread block

// One named barrier. The results are those of the last time it opened: of `bar.red`.
struct Barrier {
    std::int64_t arrived;   // threads
    std::int64_t expected;  // threads; 0 or less: all that live
    std::int64_t holding;   // arrived threads whose predicate holds
    std::int64_t result_holding;
    std::int64_t result_arrived;
};

struct Block {
    std::int64_t index_in_grid;
    std::int64_t index_in_run;
    std::int64_t live;  // threads that have not ended
    unsigned char* shared;
    unsigned char* warps;  // record of its first warp
    std::array<Barrier, kBarriers> barriers;
};

}  // namespace warpwatt::emulate
