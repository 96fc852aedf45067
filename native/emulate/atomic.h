// What an atomic writes (PTX ISA, "atom").
#pragma once

#include <cstdint>

#include "emulate/memory_operation.h"

namespace warpwatt::emulate {

// The bits that an atomic leaves in an element, from those that are there and its operands; elements below 64
// bits come with zeros above, and only their own bits of the result count.
std::uint64_t atomic_result(const MemoryOperation& operation, std::uint64_t old, std::uint64_t operand,
                            std::uint64_t second_operand);

}  // namespace warpwatt::emulate
