// Where the fields of the records lie, for generated code and for Python: name, offset, type and count of
// each.

#include <cstddef>
#include <type_traits>
#include <utility>

#include "c_api.h"
#include "emulate/barrier.h"
#include "emulate/machine.h"
#include "emulate/request_sums.h"
#include "emulate/schedule.h"

namespace warpwatt::emulate {

namespace {

// `kind` is that of a NumPy type: signed, unsigned (pointers too) or void (a record of its own).
struct Field {
    const char* record;
    const char* name;  // empty: the record itself
    char kind;
    std::int64_t offset, element_bytes, bytes;
};

template <typename T>
struct ElementOf {
    using Type = T;
};
template <typename T, std::size_t n>
struct ElementOf<std::array<T, n>> : ElementOf<T> {};

template <typename T>
constexpr char kind_of() {
    if constexpr (std::is_enum_v<T>)
        return kind_of<std::underlying_type_t<T>>();
    else if constexpr (std::is_pointer_v<T> || std::is_unsigned_v<T>)
        return 'u';
    else
        return std::is_integral_v<T> ? 'i' : 'V';
}

template <typename T>
constexpr Field field(const char* record, const char* name, std::int64_t offset) {
    using Element = ElementOf<T>::Type;
    return {record, name, kind_of<Element>(), offset, sizeof(Element), sizeof(T)};
}

#define RECORD(record) field<record>(#record, "", 0)
#define FIELD(record, member)                                                              \
    field<std::remove_cvref_t<decltype(std::declval<record&>().member)>>(#record, #member, \
                                                                         offsetof(record, member))

constexpr Field kFields[] = {
    RECORD(Machine),
    FIELD(Machine, fault.reason),
    FIELD(Machine, fault.instruction),
    FIELD(Machine, fault.block),
    FIELD(Machine, fault.thread),
    FIELD(Machine, fault.address),
    FIELD(Machine, fault.bytes),
    FIELD(Machine, budget),
    FIELD(Machine, clock),
    FIELD(Machine, launch.block.x),
    FIELD(Machine, launch.block.y),
    FIELD(Machine, launch.block.z),
    FIELD(Machine, launch.grid.x),
    FIELD(Machine, launch.grid.y),
    FIELD(Machine, launch.grid.z),
    FIELD(Machine, launch.cluster.x),
    FIELD(Machine, launch.cluster.y),
    FIELD(Machine, launch.cluster.z),
    FIELD(Machine, launch.threads_per_block),
    FIELD(Machine, launch.warps_per_block),
    FIELD(Machine, launch.sms),
    FIELD(Machine, launch.resident_blocks),
    FIELD(Machine, launch.blocks),
    FIELD(Machine, launch.block_count),
    FIELD(Machine, global.bases),
    FIELD(Machine, global.sizes),
    FIELD(Machine, global.page_flags),
    FIELD(Machine, global.fill_kinds),
    FIELD(Machine, global.fill_keys),
    FIELD(Machine, global.make_pages),
    FIELD(Machine, constant.bases),
    FIELD(Machine, constant.sizes),
    FIELD(Machine, residents.blocks),
    FIELD(Machine, residents.warps),
    FIELD(Machine, residents.warp_bytes),
    FIELD(Machine, residents.shared),
    FIELD(Machine, residents.shared_bytes),
    FIELD(Machine, residents.shared_stride),
    FIELD(Machine, residents.local),
    FIELD(Machine, residents.local_bytes),
    FIELD(Machine, residents.local_stride),
    FIELD(Machine, residents.special),
    FIELD(Machine, code.dispatch),
    FIELD(Machine, code.converge_targets),
    FIELD(Machine, code.converge_leavers),
    FIELD(Machine, code.branch_targets),
    FIELD(Machine, code.branch_target_count),
    FIELD(Machine, code.call),
    FIELD(Machine, code.operations),
    FIELD(Machine, code.operation_count),
    FIELD(Machine, code.block_instructions),
    FIELD(Machine, code.block_count),
    FIELD(Machine, code.guarded_instructions),
    FIELD(Machine, code.guard_count),
    FIELD(Machine, totals.executions),
    FIELD(Machine, totals.lanes),
    FIELD(Machine, totals.guarded),
    FIELD(Machine, totals.requests),
    FIELD(Machine, trace.enabled),
    FIELD(Machine, trace.steps),
    FIELD(Machine, trace.step_room),
    FIELD(Machine, trace.step_count),
    FIELD(Machine, trace.requests),
    FIELD(Machine, trace.request_room),
    FIELD(Machine, trace.request_count),
    FIELD(Machine, trace.lines),
    FIELD(Machine, trace.line_room),
    FIELD(Machine, trace.line_count),
    FIELD(Machine, trace.dropped),
    FIELD(Machine, addresses),
    FIELD(Machine, values),
    FIELD(Machine, old_values),
    RECORD(Block),
    FIELD(Block, index_in_grid),
    RECORD(Warp),
    FIELD(Warp, block),
    FIELD(Warp, index_in_block),
    FIELD(Warp, turn),
    FIELD(Warp, active),
    FIELD(Warp, live),
    FIELD(Warp, next),
    FIELD(Warp, waits_for),
    FIELD(Warp, tid),
    FIELD(Warp, special),
    RECORD(SpecialRegisters),
    FIELD(SpecialRegisters, ntid.x),
    FIELD(SpecialRegisters, ntid.y),
    FIELD(SpecialRegisters, ntid.z),
    FIELD(SpecialRegisters, ctaid.x),
    FIELD(SpecialRegisters, ctaid.y),
    FIELD(SpecialRegisters, ctaid.z),
    FIELD(SpecialRegisters, nctaid.x),
    FIELD(SpecialRegisters, nctaid.y),
    FIELD(SpecialRegisters, nctaid.z),
    FIELD(SpecialRegisters, warpid),
    FIELD(SpecialRegisters, nwarpid),
    FIELD(SpecialRegisters, smid),
    FIELD(SpecialRegisters, nsmid),
    FIELD(SpecialRegisters, gridid),
    FIELD(SpecialRegisters, clusterid.x),
    FIELD(SpecialRegisters, clusterid.y),
    FIELD(SpecialRegisters, clusterid.z),
    FIELD(SpecialRegisters, nclusterid.x),
    FIELD(SpecialRegisters, nclusterid.y),
    FIELD(SpecialRegisters, nclusterid.z),
    FIELD(SpecialRegisters, cluster_ctaid.x),
    FIELD(SpecialRegisters, cluster_ctaid.y),
    FIELD(SpecialRegisters, cluster_ctaid.z),
    FIELD(SpecialRegisters, cluster_nctaid.x),
    FIELD(SpecialRegisters, cluster_nctaid.y),
    FIELD(SpecialRegisters, cluster_nctaid.z),
    FIELD(SpecialRegisters, cluster_ctarank),
    FIELD(SpecialRegisters, cluster_nctarank),
    FIELD(SpecialRegisters, dynamic_smem_size),
    FIELD(SpecialRegisters, total_smem_size),
    RECORD(MemoryOperation),
    FIELD(MemoryOperation, space),
    FIELD(MemoryOperation, element_bytes),
    FIELD(MemoryOperation, count),
    FIELD(MemoryOperation, bytes),
    FIELD(MemoryOperation, instruction),
    FIELD(MemoryOperation, bank),
    FIELD(MemoryOperation, probe),
    FIELD(MemoryOperation, atomic),
    FIELD(MemoryOperation, element),
    RECORD(RequestCounters),
    RECORD(RequestSums),
    FIELD(RequestSums, instruction),
    FIELD(RequestSums, space),
    FIELD(RequestSums, counters.requests),
    FIELD(RequestSums, counters.lanes),
    FIELD(RequestSums, counters.sectors),
    FIELD(RequestSums, counters.lines),
    FIELD(RequestSums, counters.tag_passes),
    FIELD(RequestSums, counters.wavefronts),
    FIELD(RequestSums, counters.ideal),
    FIELD(RequestSums, counters.collisions),
    FIELD(RequestSums, counters.uniform),
    FIELD(RequestSums, counters.stride),
    FIELD(RequestSums, counters.stride_state),
    FIELD(RequestSums, counters.slot),
    RECORD(TraceStep),
    FIELD(TraceStep, warp),
    FIELD(TraceStep, block),
    FIELD(TraceStep, active),
    RECORD(TraceRequest),
    FIELD(TraceRequest, warp),
    FIELD(TraceRequest, instruction),
    FIELD(TraceRequest, lanes),
    FIELD(TraceRequest, wavefronts),
    FIELD(TraceRequest, lines),
    FIELD(TraceRequest, step),
};

// Numbers that Python writes into records or reads from them, by the words that Python has for them.
struct NamedCode {
    const char* table;
    const char* name;
    std::int64_t value;
};

template <typename T>
constexpr NamedCode code(const char* table, const char* name, T value) {
    return {table, name, static_cast<std::int64_t>(value)};
}

constexpr NamedCode kCodes[] = {
    code("space", "global", Space::kGlobal),
    code("space", "shared", Space::kShared),
    code("space", "local", Space::kLocal),
    code("space", "const", Space::kConstant),
    code("space", "generic", Space::kGeneric),
    code("atomic", "", AtomicOperation::kNone),
    code("atomic", "add", AtomicOperation::kAdd),
    code("atomic", "min", AtomicOperation::kMin),
    code("atomic", "max", AtomicOperation::kMax),
    code("atomic", "umin", AtomicOperation::kUnsignedMin),
    code("atomic", "umax", AtomicOperation::kUnsignedMax),
    code("atomic", "and", AtomicOperation::kAnd),
    code("atomic", "or", AtomicOperation::kOr),
    code("atomic", "xor", AtomicOperation::kXor),
    code("atomic", "exch", AtomicOperation::kExchange),
    code("atomic", "cas", AtomicOperation::kCompareAndSwap),
    code("atomic", "inc", AtomicOperation::kIncrement),
    code("atomic", "dec", AtomicOperation::kDecrement),
    code("element", "integer", ElementKind::kInteger),
    code("element", "f16", ElementKind::kHalf),
    code("element", "f32", ElementKind::kSingle),
    code("element", "f64", ElementKind::kDouble),
    code("stride", "unknown", StrideState::kUnknown),
    code("stride", "regular", StrideState::kRegular),
    code("stride", "irregular", StrideState::kIrregular),
    code("barrier_result", "popc", BarrierReduction::kCount),
    code("barrier_result", "and", BarrierReduction::kAnd),
    code("barrier_result", "or", BarrierReduction::kOr),
    code("fault", "none", FaultReason::kNone),
    code("fault", "out of bounds", FaultReason::kOutOfBounds),
    code("fault", "misaligned", FaultReason::kMisaligned),
    code("fault", "no such memory", FaultReason::kNoMemory),
    code("fault", "jump to an address that is no instruction", FaultReason::kNoInstruction),
    code("fault", "trap", FaultReason::kTrap),
    code("fault", "python", FaultReason::kPythonError),
    code("stop", "done", Stop::kDone),
    code("stop", "instructions", Stop::kInstructions),
    code("stop", "deadlock", Stop::kDeadlock),
    code("stop", "fault", Stop::kFault),
    code("lane", "converging", kConverging),
    code("lane", "exited", kExited),
    code("lane", "block bits", kBlockBits),
    code("request", "most bytes", kMostBytes),
};

}  // namespace

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

using namespace warpwatt::emulate;

// The fields, as many as `count` then says.
WARPWATT_API const void* emulator_fields(std::int64_t* count) {
    *count = std::size(kFields);
    return kFields;
}

// The codes, as many as `count` then says.
WARPWATT_API const void* emulator_codes(std::int64_t* count) {
    *count = std::size(kCodes);
    return kCodes;
}
