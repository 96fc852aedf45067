#include "runtime/module.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace warpwatt::runtime {

namespace {

// fatbinary_section.h: what nvcc puts into the section .nvFatBinSegment.
struct FatBinaryWrapper {
    int magic, version;
    const void* data;
    const void* more;  // version 2: a list of further fat binaries that ends with 0
};
constexpr int kWrapperMagic = 0x466243b1;

struct FatBinaryHeader {
    std::uint32_t magic;
    std::uint16_t version, header_bytes;
    std::uint64_t bytes;
};
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;

std::string_view elf_image(const char* data) {
    Elf64_Ehdr header;
    std::memcpy(&header, data, sizeof header);
    // Section headers or program headers come last.
    std::uint64_t sections = header.e_shoff + std::uint64_t{header.e_shentsize} * header.e_shnum;
    std::uint64_t segments = header.e_phoff + std::uint64_t{header.e_phentsize} * header.e_phnum;
    return {data, std::max(sections, segments)};
}

}  // namespace

std::string_view image_of(const void* data) {
    auto text = static_cast<const char*>(data);
    if (std::memcmp(text, ELFMAG, SELFMAG) == 0) return elf_image(text);
    FatBinaryHeader header;
    std::uint32_t magic;
    std::memcpy(&magic, text, sizeof magic);
    if (magic != kFatBinaryMagic) return text;
    std::memcpy(&header, text, sizeof header);
    return {text, header.header_bytes + header.bytes};
}

std::vector<std::string_view> images_of(const void* fat_binary_wrapper) {
    FatBinaryWrapper wrapper;
    std::memcpy(&wrapper, fat_binary_wrapper, sizeof wrapper);
    if (wrapper.magic != kWrapperMagic) return {};
    std::vector<std::string_view> found{image_of(wrapper.data)};
    if (wrapper.version == 2 && wrapper.more) {
        auto more = static_cast<const void* const*>(wrapper.more);
        for (; *more; ++more) found.push_back(image_of(*more));
    }
    return found;
}

Module& Modules::add(std::vector<std::string_view> images) {
    modules_.push_back(std::make_unique<Module>());
    modules_.back()->number = ++last_;
    modules_.back()->images = std::move(images);
    return *modules_.back();
}

Module* Modules::find(const void* handle) {
    auto found =
        std::ranges::find(modules_, handle, [](auto& module) -> const void* { return module.get(); });
    return found == modules_.end() ? nullptr : found->get();
}

void Modules::remove(Module& module) {
    std::erase_if(functions_, [&](auto& entry) { return entry.second->module == &module; });
    std::erase_if(variables_, [&](auto& entry) { return entry.second->module == &module; });
    std::erase_if(modules_, [&](auto& entry) { return entry.get() == &module; });
}

Function& Modules::add_function(Module& module, std::string name, const void* host) {
    Function& added = module.functions.emplace_back();
    added.module = &module;
    added.number = ++last_;
    added.name = std::move(name);
    added.host = host;
    functions_[&added] = &added;
    if (host) functions_[host] = &added;
    return added;
}

Variable& Modules::add_variable(Module& module, const Variable& variable) {
    Variable& added = module.variables.emplace_back(variable);
    if (variable.host) variables_[variable.host] = &added;
    return added;
}

Function* Modules::function(const void* symbol) {
    auto found = functions_.find(symbol);
    return found == functions_.end() ? nullptr : found->second;
}

Variable* Modules::variable(const void* symbol) {
    auto found = variables_.find(symbol);
    return found == variables_.end() ? nullptr : found->second;
}

}  // namespace warpwatt::runtime
