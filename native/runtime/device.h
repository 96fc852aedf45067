// A GPU as the device describes it, and what the program set of it.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi.h"

namespace warpwatt::runtime {

class Device {
public:
    // From lines `key=value`.
    explicit Device(std::string_view properties);

    // Element `index` of a property or attribute, 0 where the device said none.
    std::int64_t number(const std::string& key, std::size_t index = 0) const;
    std::string_view text(const std::string& key) const;
    // By number; false if there is none of that number.
    bool attribute(int number, int* value) const;
    void fill(cudaDeviceProp* properties) const;

    std::uint64_t used_bytes = 0;  // of its memory
    unsigned flags = 0;
    int cache_config = 0, shared_config = 1;
    std::map<int, std::size_t> limits;
    std::set<int> peers;
    Pool* pool = nullptr;

private:
    std::map<std::string, std::string, std::less<>> values_;
};

// Devices of a text in which an empty line ends each.
std::vector<Device> devices_of(std::string_view text);

}  // namespace warpwatt::runtime
