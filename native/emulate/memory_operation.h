// What a LOAD, STORE or ATOMIC of a routine does: warpwatt.emulate.ir.Memory, one row per operation.
#pragma once

#include <cstdint>

namespace warpwatt::emulate {

enum class Space : std::int32_t { kGlobal, kShared, kLocal, kConstant, kGeneric };
inline constexpr int kSpaces = 4;  // generic addresses lie in one of the others

inline constexpr int kMostBytes = 64;  // per lane

enum class AtomicOperation : std::int32_t {
    kNone,
    kAdd,
    kMin,
    kMax,
    kUnsignedMin,
    kUnsignedMax,
    kAnd,
    kOr,
    kXor,
    kExchange,
    kCompareAndSwap,
    kIncrement,
    kDecrement,
    kBarrierObject,    // adds to a barrier object (barrier_object.h); begins its next phase if that completes
                       // one
    kNewBarrierObject  // writes one
};

// What a BULK operation moves, by the tensor memory accelerator.
enum class BulkCopy : std::int32_t { kNone, kLoad, kStore, kReduce, kPrefetch, kBetweenBlocks };

enum class ElementKind : std::int32_t { kInteger, kHalf, kSingle, kDouble };

struct MemoryOperation {
    Space space;
    std::int32_t element_bytes;
    std::int32_t count;  // elements side by side, per lane
    std::int32_t bytes;  // per lane
    std::int32_t instruction;
    std::int32_t bank;   // of constant memory
    std::int32_t probe;  // nobody needs what is moved: check and count only
    AtomicOperation atomic;
    BulkCopy bulk;
    std::int32_t rank;  // of the tensor that a bulk copy moves a box of; 0: bytes side by side
    ElementKind element;
};

}  // namespace warpwatt::emulate
