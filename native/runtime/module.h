// What programs register or load: modules with their functions and variables. The device hears of a module
// when something in it is first used.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/abi.h"
#include "runtime/messages.h"

namespace warpwatt::runtime {

class Client;

struct Function {
    Module* module;
    std::uint64_t number;
    std::string name;
    const void* host = nullptr;

    // Asked for once, by Client::attributes.
    bool is_known = false;
    cudaError_t error = cudaSuccess;
    message::FunctionAttributesReply needs{};
    std::vector<message::Parameter> parameters;

    std::int64_t max_dynamic_shared = -1;  // as set by the program; -1: the default
    int carveout = -1;
    bool non_portable_cluster = false;

    std::uint64_t parameter_bytes() const {
        return parameters.empty() ? 0 : parameters.back().offset + parameters.back().bytes;
    }
};

struct Variable {
    Module* module;
    std::string name;
    std::uint64_t bytes;
    std::uint32_t flags;
    const void* host = nullptr;
    void** managed_pointer = nullptr;  // what the program reads a managed variable through
    std::uint64_t address = 0;
};

struct Module {
    std::uint64_t number;
    std::vector<std::string_view> images;
    std::string owned;  // the image, where the program may free its own
    bool is_sent = false;
    void* handle = this;             // what nvcc's code passes the address of
    std::deque<Function> functions;  // what points to them stays good
    std::deque<Variable> variables;
};

// The fat binaries that the wrapper which nvcc writes points to.
std::vector<std::string_view> images_of(const void* fat_binary_wrapper);
// An image of unknown kind: fat binary, cubin or PTX, by what it begins with.
std::string_view image_of(const void* data);

class Modules {
public:
    Module& add(std::vector<std::string_view> images);
    Module* find(const void* handle);
    void remove(Module& module);
    Function& add_function(Module& module, std::string name, const void* host);
    Variable& add_variable(Module& module, const Variable& variable);
    // By the host's symbol, or a handle.
    Function* function(const void* symbol);
    Variable* variable(const void* symbol);

private:
    std::vector<std::unique_ptr<Module>> modules_;
    std::unordered_map<const void*, Function*> functions_;
    std::unordered_map<const void*, Variable*> variables_;
    std::uint64_t last_ = 0;
};

}  // namespace warpwatt::runtime
