// The device's memory: one shared file, mapped twice. At its fixed address, where device pointers point, only
// what the host may touch is accessible; the other mapping is for the runtime's own copies.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "runtime/messages.h"

namespace warpwatt::runtime {

struct Allocation {
    std::uint64_t address = 0, size = 0;  // as asked for
    message::Memory kind = message::Memory::kDevice;
    int device = 0;
    unsigned flags = 0;          // of cudaHostAlloc, cudaMallocManaged, cudaHostRegister
    void* registered = nullptr;  // the host's own pages, of cudaHostRegister
    std::uint64_t stream = 0;
    void* pool = nullptr;
    bool of_module = false;  // a variable

    // Whether it is the device's memory; pinned memory is the host's.
    bool is_counted() const { return kind != message::Memory::kPinned; }
    // Device pointers that are not the host's.
    bool is_device_only() const {
        return kind != message::Memory::kManaged && kind != message::Memory::kPinned;
    }
};

class Arena {
public:
    // Takes the file. Returns whether it could be mapped.
    bool map(int file, std::uint64_t bytes);
    bool is_mapped() const { return alias_ != nullptr; }
    int file() const { return file_; }

    // Returns the address of a new range, or 0: `bytes` of any size, at a multiple of kAlignment or, for what
    // the host may touch, on pages of its own.
    std::uint64_t reserve(std::uint64_t bytes, bool host_may_touch);
    // Gives back the memory of a range and, with it, its contents.
    void release(std::uint64_t address, bool host_may_touch);
    // Makes a range accessible to the host, or not.
    void protect(std::uint64_t address, std::uint64_t bytes, bool host_may_touch);

    bool contains(std::uint64_t address) const { return address - message::kArenaAddress < bytes_; }
    std::uint64_t offset(std::uint64_t address) const { return address - message::kArenaAddress; }
    // Where the runtime itself may read and write what a pointer points to: pointers that are not the arena's
    // are the host's own.
    char* host(std::uint64_t address) const {
        return contains(address) ? alias_ + offset(address) : reinterpret_cast<char*>(address);
    }

    static constexpr std::uint64_t kAlignment = 512;
    static constexpr std::uint64_t kPage = 4096;

private:
    int file_ = -1;
    std::uint64_t bytes_ = 0;
    char* alias_ = nullptr;
    std::map<std::uint64_t, std::uint64_t> free_;      // address to bytes
    std::map<std::uint64_t, std::uint64_t> reserved_;  // address to bytes, rounded
};

// What is allocated, by address.
class Allocations {
public:
    void add(const Allocation& allocation) { by_address_[allocation.address] = allocation; }
    void remove(std::uint64_t address) { by_address_.erase(address); }
    Allocation* at(std::uint64_t address);
    // The allocation that an address lies in.
    Allocation* around(std::uint64_t address);
    const std::map<std::uint64_t, Allocation>& all() const { return by_address_; }

private:
    std::map<std::uint64_t, Allocation> by_address_;
};

}  // namespace warpwatt::runtime
