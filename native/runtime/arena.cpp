#include "runtime/arena.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <iterator>

namespace warpwatt::runtime {

namespace {

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t granularity) {
    return (bytes + granularity - 1) / granularity * granularity;
}

}  // namespace

bool Arena::map(int file, std::uint64_t bytes) {
    void* at = reinterpret_cast<void*>(message::kArenaAddress);
    int flags = MAP_SHARED | MAP_NORESERVE;
    if (mmap(at, bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, file, 0) != at) return false;
    void* alias = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (alias == MAP_FAILED) return false;
    madvise(alias, bytes, MADV_DONTDUMP);
    file_ = file;
    bytes_ = bytes;
    alias_ = static_cast<char*>(alias);
    // Nothing lies at the arena's own address: a pointer to it would be a handle's 0 to those who subtract.
    free_[message::kArenaAddress + kPage] = bytes - kPage;
    return true;
}

std::uint64_t Arena::reserve(std::uint64_t bytes, bool host_may_touch) {
    std::uint64_t granularity = host_may_touch ? kPage : kAlignment;
    std::uint64_t size = round_up(std::max<std::uint64_t>(bytes, 1), granularity);
    if (size < bytes) return 0;
    for (auto range = free_.begin(); range != free_.end(); ++range) {
        auto [begin, room] = *range;
        std::uint64_t address = round_up(begin, granularity), skipped = address - begin;
        if (room < skipped || room - skipped < size) continue;
        free_.erase(range);
        if (skipped) free_[begin] = skipped;
        if (room > skipped + size) free_[address + size] = room - skipped - size;
        reserved_[address] = size;
        if (host_may_touch) protect(address, size, true);
        return address;
    }
    return 0;
}

void Arena::release(std::uint64_t address, bool host_may_touch) {
    auto found = reserved_.find(address);
    if (found == reserved_.end()) return;
    std::uint64_t size = found->second;
    reserved_.erase(found);
    if (host_may_touch) protect(address, size, false);
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset(address)),
              static_cast<off_t>(size));
    auto next = free_.lower_bound(address);
    if (next != free_.begin()) {
        auto before = std::prev(next);
        if (before->first + before->second == address) {
            address = before->first;
            size += before->second;
            free_.erase(before);
        }
    }
    if (next != free_.end() && address + size == next->first) {
        size += next->second;
        free_.erase(next);
    }
    free_[address] = size;
}

void Arena::protect(std::uint64_t address, std::uint64_t bytes, bool host_may_touch) {
    mprotect(reinterpret_cast<void*>(address), round_up(bytes, kPage),
             host_may_touch ? PROT_READ | PROT_WRITE : PROT_NONE);
}

Allocation* Allocations::at(std::uint64_t address) {
    auto found = by_address_.find(address);
    return found == by_address_.end() ? nullptr : &found->second;
}

Allocation* Allocations::around(std::uint64_t address) {
    auto after = by_address_.upper_bound(address);
    if (after == by_address_.begin()) return nullptr;
    Allocation& found = std::prev(after)->second;
    return address - found.address < std::max<std::uint64_t>(found.size, 1) ? &found : nullptr;
}

}  // namespace warpwatt::runtime
