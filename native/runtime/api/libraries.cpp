// Library management: modules loaded while the program runs.
#include "runtime/libraries.h"

#include <fstream>
#include <iterator>

#include "runtime/api.h"
#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

template <typename Body>
cudaError_t call_with(cudaLibrary_t handle, Body&& body) {
    return call([&](Client& client) {
        Module* module = client.modules.find(handle);
        return module ? body(client, *module) : cudaErrorInvalidResourceHandle;
    });
}

std::string_view word(std::string_view& line) {
    std::size_t end = std::min(line.find(' '), line.size());
    std::string_view found = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return found;
}

std::uint64_t number(std::string_view text) { return std::stoull(std::string(text.empty() ? "0" : text)); }

// A line of the answer to kModuleSymbols.
void add_symbol(Client& client, Module& module, std::string_view line) {
    std::string_view kind = word(line);
    std::string name(word(line));
    if (kind == "function") client.modules.add_function(module, name, nullptr);
    if (kind != "variable") return;
    std::uint64_t bytes = number(word(line));
    word(line);  // its alignment, which is never more than that of every range
    client.modules.add_variable(
        module, {&module, name, bytes, static_cast<std::uint32_t>(number(word(line))), nullptr, nullptr, 0});
}

}  // namespace

cudaError_t load_module(Client& client, const void* image, Module** module) {
    std::string_view text = image_of(image);
    Module& loaded = client.modules.add({});
    loaded.owned = text;
    loaded.images = {loaded.owned};
    message::Module record{loaded.number, 1, 0};
    client.connection.send(message::Type::kModule, record, loaded.owned);
    Answer answer =
        client.connection.request(message::Type::kModuleSymbols, message::ModuleSymbols{loaded.number});
    if (answer.error) {
        client.modules.remove(loaded);
        return static_cast<cudaError_t>(answer.error);
    }
    for (std::string_view rest = answer.text(); !rest.empty();) {
        std::size_t end = std::min(rest.find('\n'), rest.size());
        add_symbol(client, loaded, rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    client.send_symbols(loaded);
    *module = &loaded;
    return cudaSuccess;
}

cudaError_t load_file(Client& client, const char* path, Module** module) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return cudaErrorFileNotFound;
    std::string contents{std::istreambuf_iterator<char>(file), {}};
    return load_module(client, contents.c_str(), module);
}

Function* function_of(Module& module, std::string_view name) {
    for (Function& function : module.functions)
        if (function.name == name) return &function;
    return nullptr;
}

Variable* variable_of(Module& module, std::string_view name) {
    for (Variable& variable : module.variables)
        if (variable.name == name) return &variable;
    return nullptr;
}

void unload(Client& client, Module& module) {
    for (Variable& variable : module.variables) {
        client.allocations.remove(variable.address);
        client.arena.release(variable.address, variable.flags & message::kManagedVariable);
    }
    client.modules.remove(module);
}

// Options are about compilers and where data are kept; none changes what kernels do.
RUNTIME_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, int*, void**, unsigned,
                                            int*, void**, unsigned) {
    return call([&](Client& client) {
        return library && code ? load_module(client, code, library) : cudaErrorInvalidValue;
    });
}

RUNTIME_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, int*, void**,
                                                unsigned, int*, void**, unsigned) {
    return call([&](Client& client) {
        return library && path ? load_file(client, path, library) : cudaErrorInvalidValue;
    });
}

RUNTIME_API cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
    return call_with(handle, [](Client& client, Module& module) {
        unload(client, module);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle, const char* name) {
    return call_with(handle, [&](Client&, Module& module) {
        *kernel = function_of(module, name);
        return *kernel ? cudaSuccess : cudaErrorSymbolNotFound;
    });
}

RUNTIME_API cudaError_t cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, cudaLibrary_t handle,
                                             const char* name) {
    return call_with(handle, [&](Client&, Module& module) {
        Variable* variable = variable_of(module, name);
        if (!variable) return cudaErrorSymbolNotFound;
        if (pointer) *pointer = pointer_of(variable->address);
        if (bytes) *bytes = variable->bytes;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaLibraryGetManaged(void** pointer, std::size_t* bytes, cudaLibrary_t handle,
                                              const char* name) {
    return cudaLibraryGetGlobal(pointer, bytes, handle, name);
}

RUNTIME_API cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t handle) {
    return call_with(handle, [&](Client&, Module& module) {
        *count = static_cast<unsigned>(module.functions.size());
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                                    cudaLibrary_t handle) {
    return call_with(handle, [&](Client&, Module& module) {
        for (unsigned i = 0; i < count && i < module.functions.size(); ++i) kernels[i] = &module.functions[i];
        return cudaSuccess;
    });
}

}  // namespace warpwatt::runtime
