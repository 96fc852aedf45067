#include "emulate/shared_check.h"

#include <algorithm>
#include <cstring>

#include "emulate/address_space.h"

namespace warpwatt::emulate {

namespace {

bool is_checked(const Machine& machine, const Block& block) {
    return machine.check.words != nullptr && block.index_in_run == machine.check.block &&
           machine.check.requests_left > 0;
}

void report(Machine& machine, const Hazard& found) {
    SharedCheck& check = machine.check;
    const bool known =
        std::any_of(check.hazards, check.hazards + check.hazard_count, [&](const Hazard& other) {
            return other.kind == found.kind && other.first == found.first && other.second == found.second;
        });
    if (!known && check.hazard_count < kMostHazards) check.hazards[check.hazard_count++] = found;
}

// Whether a store of one lane changes what is there; not known where nobody needs the value.
bool changes(Machine& machine, const MemoryOperation& operation, const unsigned char* memory, int lane) {
    const std::int64_t size = operation.element_bytes;
    for (int element = 0; element < operation.count; ++element)
        if (std::memcmp(memory + element * size, machine.value_bytes() + (element * kLanes + lane) * size,
                        size) != 0)
            return true;
    return false;
}

void check_word(Machine& machine, const Hazard& here, SharedWord& word, std::uint8_t bytes, std::int16_t warp,
                Touch touch, bool tells_writes_apart) {
    const auto epoch = static_cast<std::uint32_t>(machine.check.epoch);
    Hazard found = here;
    if (touch == Touch::kRead) {
        if (word.write_epoch == epoch && word.write_warp != warp && (word.written & bytes) != 0) {
            found.kind = HazardKind::kReadAfterWrite;
            found.first = word.writer;
            report(machine, found);
        }
        const bool again = word.read_epoch == epoch;
        word.read_warp = again && word.read_warp != warp ? kSeveralWarps : warp;
        word.read = static_cast<std::uint8_t>(again ? word.read | bytes : bytes);
        word.read_epoch = epoch;
        word.reader = here.second;
        return;
    }
    if (word.read_epoch == epoch && word.read_warp != warp && (word.read & bytes) != 0) {
        found.kind = HazardKind::kWriteAfterRead;
        found.first = word.reader;
        report(machine, found);
    }
    const bool again = word.write_epoch == epoch;
    if (tells_writes_apart && again && word.write_warp != warp && (word.written & bytes) != 0) {
        found.kind = HazardKind::kWriteAfterWrite;
        found.first = word.writer;
        report(machine, found);
    }
    word.written = static_cast<std::uint8_t>(again ? word.written | bytes : bytes);
    word.write_epoch = epoch;
    word.write_warp = warp;
    word.writer = here.second;
}

void check_lane(Machine& machine, const Warp& warp, const MemoryOperation& operation, int lane, Touch touch) {
    SharedCheck& check = machine.check;
    const auto first = static_cast<std::int64_t>(offset_bits(machine.addresses[lane]));
    const std::int64_t end = first + operation.bytes;
    if (end > 4 * check.word_count) return;
    const Hazard here{
        HazardKind::kUninitialised, operation.instruction,
        operation.instruction,      static_cast<std::int32_t>(warp.index_in_block * kLanes + lane),
        warp.block->index_in_grid,  first};
    const bool known = touch == Touch::kWrite && !operation.probe;
    bool initialised = false;
    for (std::int64_t at = first & ~std::int64_t{3}; at < end; at += 4)
        initialised |= check.words[at / 4].initialised != 0;
    const bool silent =
        known && initialised && !changes(machine, operation, warp.block->shared + first, lane);
    if (touch == Touch::kRead && !initialised) report(machine, here);
    for (std::int64_t at = first & ~std::int64_t{3}; at < end; at += 4) {
        SharedWord& word = check.words[at / 4];
        const int low = static_cast<int>(std::max<std::int64_t>(first - at, 0));
        const int high = static_cast<int>(std::min<std::int64_t>(end - at, 4));
        const auto bytes = static_cast<std::uint8_t>((0xF << low) & ((1 << high) - 1));
        if (touch != Touch::kAtomic && !silent)
            check_word(machine, here, word, bytes, static_cast<std::int16_t>(warp.index_in_block), touch,
                       known);
        if (touch != Touch::kRead) word.initialised |= bytes;
    }
}

}  // namespace

void start_check(Machine& machine, const Block& block) {
    if (!is_checked(machine, block)) return;
    SharedCheck& check = machine.check;
    std::memset(static_cast<void*>(check.words), 0, check.word_count * sizeof(SharedWord));
    check.epoch = 1;
    check.barrier_target = -1;
}

void check_shared(Machine& machine, const Warp& warp, const MemoryOperation& operation, LaneMask lanes,
                  Touch touch) {
    if (!is_checked(machine, *warp.block)) return;
    if (actual_space(operation.space, machine.addresses[first_lane(lanes)]) != Space::kShared) return;
    --machine.check.requests_left;
    for_each_lane(lanes, [&](int lane) {
        if (actual_space(operation.space, machine.addresses[lane]) == Space::kShared)
            check_lane(machine, warp, operation, lane, touch);
    });
}

void check_arrival(Machine& machine, const Warp& warp, std::int64_t number, std::int64_t expected,
                   std::int32_t target) {
    if (!is_checked(machine, *warp.block) || number != 0 || expected > 0) return;
    SharedCheck& check = machine.check;
    if (check.barrier_target < 0) check.barrier_target = target;
    if (check.barrier_target == target) return;
    report(machine, {HazardKind::kDivergentBarrier, static_cast<std::int32_t>(check.barrier_target), target,
                     static_cast<std::int32_t>(warp.index_in_block * kLanes + first_lane(warp.active)),
                     warp.block->index_in_grid, 0});
}

void check_opening(Machine& machine, const Block& block, std::int64_t number) {
    if (!is_checked(machine, block)) return;
    ++machine.check.epoch;
    if (number == 0) machine.check.barrier_target = -1;
}

}  // namespace warpwatt::emulate
