// A machine for unit tests: resident blocks with shared and local memory, one buffer in slot 2, a constant
// bank that bank 0 and 3 name, and one memory operation at a time.
#pragma once

#include <cstring>
#include <vector>

#include "emulate/address_space.h"
#include "emulate/machine.h"
#include "emulate/start_block.h"

namespace warpwatt::test {

using namespace warpwatt::emulate;

inline constexpr std::int64_t kBufferSlot = 2;
inline constexpr std::uint64_t kBuffer = std::uint64_t{kBufferSlot} << kSlotShift;
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{kSharedSlot} << kSlotShift;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{kLocalSlot} << kSlotShift;

class TestMachine {
public:
    explicit TestMachine(std::int64_t threads = 32, std::int64_t blocks = 1) {
        const std::int64_t warps = (threads + kLanes - 1) / kLanes;
        for (std::int64_t i = 0; i < blocks; ++i) numbers.push_back(i);
        machine.launch = {{threads, 1, 1}, {blocks, 1, 1}, {1, 1, 1}, threads,        warps, 4,
                          blocks,          blocks,         0,         numbers.data(), blocks};
        block_records.resize(blocks);
        warp_records.resize(blocks * warps);
        shared.resize(blocks * kSharedBytes);
        local.resize(blocks * warps * kLanes * kLocalBytes);
        machine.residents = {
            block_records.data(), bytes(warp_records), sizeof(Warp), shared.data(), kSharedBytes,
            kSharedBytes,         local.data(),        kLocalBytes,  kLocalBytes,   &special};
        bases[kBufferSlot] = buffer.data();
        sizes[kBufferSlot] = kBufferBytes;
        machine.global = {bases.data(),   sizes.data(), flags.data(), kinds.data(), keys.data(),
                          factors.data(), nullptr,      nullptr,      nullptr,      0};
        banks.fill(constants.data());
        bank_sizes[kParameterBank] = bank_sizes[kConstantBank] = constants.size();
        machine.constant = {banks.data(), bank_sizes.data()};
        machine.code.operations = &operation;
        machine.totals.requests = counters.data();
        machine.trace.steps = steps.data();
        machine.trace.requests = requests.data();
        machine.trace.lines = lines.data();
        machine.trace.step_room = steps.size();
        machine.trace.request_room = requests.size();
        machine.trace.line_room = lines.size();
        machine.trace.enabled = 1;
        for (std::int64_t i = 0; i < blocks; ++i) start_block(machine, i, i, i);
    }

    void set_operation(Space space, int element_bytes, int count = 1) {
        operation = {};
        operation.space = space;
        operation.element_bytes = element_bytes;
        operation.count = count;
        operation.bytes = element_bytes * count;
        operation.instruction = 7;
    }

    // Lane l accesses `first + l * stride`.
    void set_addresses(std::uint64_t first, std::uint64_t stride) {
        for (int lane = 0; lane < kLanes; ++lane) machine.addresses[lane] = first + lane * stride;
    }

    RequestCounters& counted(Space space) { return counters[static_cast<int>(space)]; }
    Warp& warp(std::int64_t place = 0) { return machine.warp(place); }
    Block& block(std::int64_t place = 0) { return block_records[place]; }

    template <typename T>
    T read(const unsigned char* from) const {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }

    static constexpr std::int64_t kSharedBytes = 8192, kLocalBytes = 64, kBufferBytes = 65536;

    Machine machine{};
    MemoryOperation operation{};
    std::array<RequestCounters, kSpaces> counters{};
    std::array<TraceStep, 64> steps{};
    std::array<TraceRequest, 64> requests{};
    std::array<std::uint64_t, 1024> lines{};
    std::vector<unsigned char> buffer = std::vector<unsigned char>(kBufferBytes);
    std::vector<unsigned char> constants = std::vector<unsigned char>(256);
    std::array<unsigned char*, kSlots> bases{}, flags{};
    std::array<std::int64_t, kSlots> sizes{}, kinds{};
    std::array<std::uint64_t, kSlots> keys{};
    std::array<double, kSlots> factors{};
    std::array<unsigned char*, 32> banks{};
    std::array<std::int64_t, 32> bank_sizes{};
    SpecialRegisters special{};

private:
    static unsigned char* bytes(std::vector<Warp>& warps) {
        return reinterpret_cast<unsigned char*>(warps.data());
    }

    std::vector<std::int64_t> numbers;
    std::vector<Block> block_records;
    std::vector<Warp> warp_records;
    std::vector<unsigned char> shared, local;
};

}  // namespace warpwatt::test
