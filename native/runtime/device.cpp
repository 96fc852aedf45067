#include "runtime/device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace warpwatt::runtime {

namespace {

struct Attribute {
    int number;
    const char* key;
    std::size_t index;
};

// cudaDeviceAttr by the property that says the same, else by its own name.
constexpr Attribute kAttributes[] = {
#define ATTRIBUTE(number, key, index) {number, #key, index},
#include "runtime/attributes.inc"
#undef ATTRIBUTE
};

std::string_view next_line(std::string_view& text) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

template <typename T>
void fill_bytes(std::string_view hexadecimal, T* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count && 2 * i + 1 < hexadecimal.size(); ++i) {
        std::string digits(hexadecimal.substr(2 * i, 2));
        bytes[i] = static_cast<T>(std::strtol(digits.c_str(), nullptr, 16));
    }
}

}  // namespace

Device::Device(std::string_view properties) {
    while (!properties.empty()) {
        std::string_view line = next_line(properties);
        std::size_t equals = line.find('=');
        if (equals != line.npos) values_.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    limits = {{0, 1024}, {1, 1 << 20}, {2, 8 << 20}, {3, 2}, {4, 2048}, {5, 64}, {6, 0}};  // cudaLimit
}

std::string_view Device::text(const std::string& key) const {
    auto found = values_.find(key);
    return found == values_.end() ? std::string_view() : found->second;
}

std::int64_t Device::number(const std::string& key, std::size_t index) const {
    auto found = values_.find(key);
    if (found == values_.end()) return 0;
    const char* at = found->second.c_str();
    for (; index; --index) {
        at = std::strchr(at, ',');
        if (!at) return 0;
        ++at;
    }
    return std::strtoll(at, nullptr, 10);
}

bool Device::attribute(int number, int* value) const {
    auto found = std::ranges::find(kAttributes, number, &Attribute::number);
    if (found == std::end(kAttributes)) return false;
    *value = static_cast<int>(std::min<std::int64_t>(this->number(found->key, found->index), 0x7fffffff));
    return true;
}

void Device::fill(cudaDeviceProp* properties) const {
    *properties = {};
    std::string_view name = text("name");
    std::memcpy(properties->name, name.data(), std::min(name.size(), sizeof properties->name - 1));
    fill_bytes(text("uuid"), properties->uuid.bytes, sizeof properties->uuid.bytes);
#define FIELD(type, name) properties->name = static_cast<type>(number(#name));
#define ARRAY(type, name, count) \
    for (std::size_t i = 0; i < count; ++i) properties->name[i] = static_cast<type>(number(#name, i));
    DEVICE_PROPERTIES(FIELD, ARRAY)
#undef FIELD
#undef ARRAY
}

std::vector<Device> devices_of(std::string_view text) {
    std::vector<Device> found;
    std::string lines;
    while (!text.empty()) {
        std::string_view line = next_line(text);
        if (!line.empty()) lines.append(line).append("\n");
        if ((line.empty() || text.empty()) && !lines.empty()) {
            found.emplace_back(lines);
            lines.clear();
        }
    }
    return found;
}

}  // namespace warpwatt::runtime
