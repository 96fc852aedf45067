// What a request's addresses have in common wherever it begins: loops and warps repeat the same few shapes,
// which are remembered.
#pragma once

#include <array>
#include <cstdint>

#include "emulate/address_pattern.h"
#include "emulate/memory_operation.h"
#include "emulate/touched_lines.h"

namespace warpwatt::emulate {

struct RequestShape {
    AddressPattern pattern;
    int distinct;          // addresses
    int wavefronts;        // see shared_banks.h
    std::int64_t lowest;   // distance of the lowest address from that of the first lane
    std::int64_t highest;  // of the highest
};

// The shape of lanes that are in global or shared memory, `bytes` each; adds the lines of global memory that
// they touch to `touched`, which is empty. `hint` tells operations apart.
RequestShape shape_of(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes, std::int64_t bytes,
                      Space space, std::int32_t hint, TouchedLines& touched);

}  // namespace warpwatt::emulate
