// Driver API: modules, libraries, kernels and linking.
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/driver/driver.h"
#include "runtime/launch.h"
#include "runtime/libraries.h"

namespace warpwatt::runtime {

// PTX that is to become a module: of one input, since nobody links several here.
struct Link {
    std::string image;
    int inputs = 0;
};

namespace {

template <typename Body>
CUresult call_with(CUmodule handle, Body&& body) {
    return driver_call([&](Client& client) {
        Module* module = client.modules.find(handle);
        return module ? body(client, *module) : cudaErrorInvalidResourceHandle;
    });
}

template <typename Body>
CUresult call_with(CUfunction handle, Body&& body) {
    return driver_call([&](Client& client) {
        Function* function = client.modules.function(handle);
        return function ? body(client, *function) : cudaErrorInvalidResourceHandle;
    });
}

enum : int {  // CUfunction_attribute
    kMaxThreads = 0,
    kSharedBytes = 1,
    kConstantBytes = 2,
    kLocalBytes = 3,
    kRegisters = 4,
    kPtxVersion = 5,
    kBinaryVersion = 6,
    kMaxDynamicShared = 8,
    kCarveout = 9,
    kNonPortableCluster = 14,
};

cudaError_t attribute_of(Client& client, Function& function, int attribute, int* value) {
    if (cudaError_t error = client.learn(function)) return error;
    const message::FunctionAttributesReply& needs = function.needs;
    auto give = [&](auto number) {
        *value = static_cast<int>(number);
        return cudaSuccess;
    };
    switch (attribute) {
        case kMaxThreads:
            return give(needs.max_threads_per_block);
        case kSharedBytes:
            return give(needs.static_shared_bytes);
        case kConstantBytes:
            return give(needs.constant_bytes);
        case kLocalBytes:
            return give(needs.local_bytes);
        case kRegisters:
            return give(needs.registers);
        case kPtxVersion:
            return give(needs.ptx_version);
        case kBinaryVersion:
            return give(needs.binary_version);
        case kMaxDynamicShared:
            return give(max_dynamic_shared(client, function));
        case kCarveout:
            return give(function.carveout);
        case kNonPortableCluster:
            return give(function.non_portable_cluster);
        default:
            return attribute >= 0 && attribute <= 16 ? give(0) : cudaErrorInvalidValue;
    }
}

// What the compiler would have said: nothing.
void empty_logs(unsigned count, const int* options, void** values) {
    constexpr int kInfoLog = 3, kErrorLog = 5;  // CU_JIT_..._LOG_BUFFER
    for (unsigned i = 0; i < count; ++i)
        if ((options[i] == kInfoLog || options[i] == kErrorLog) && values[i])
            *static_cast<char*>(values[i]) = '\0';
}

}  // namespace

RUNTIME_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    return driver_call([&](Client& client) { return load_module(client, image, module); });
}
RUNTIME_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options,
                                        void** values) {
    empty_logs(count, options, values);
    return cuModuleLoadData(module, image);
}
RUNTIME_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
    return cuModuleLoadData(module, image);
}
RUNTIME_API CUresult cuModuleLoad(CUmodule* module, const char* path) {
    return driver_call([&](Client& client) { return load_file(client, path, module); });
}
RUNTIME_API CUresult cuModuleUnload(CUmodule handle) {
    return call_with(handle, [](Client& client, Module& module) {
        unload(client, module);
        return cudaSuccess;
    });
}

RUNTIME_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
    return call_with(handle, [&](Client&, Module& module) {
        *function = function_of(module, name);
        return *function ? cudaSuccess : cudaErrorSymbolNotFound;
    });
}

RUNTIME_API CUresult cuModuleGetGlobal_v2(CUdeviceptr* pointer, std::size_t* bytes, CUmodule handle,
                                          const char* name) {
    return call_with(handle, [&](Client&, Module& module) {
        Variable* variable = variable_of(module, name);
        if (!variable) return cudaErrorSymbolNotFound;
        if (pointer) *pointer = variable->address;
        if (bytes) *bytes = variable->bytes;
        return cudaSuccess;
    });
}

RUNTIME_API CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
    return result(cudaLibraryGetKernelCount(count, handle));
}
RUNTIME_API CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule handle) {
    return result(cudaLibraryEnumerateKernels(functions, count, handle));
}
RUNTIME_API CUresult cuModuleGetLoadingMode(int* mode) {
    *mode = 1;  // CU_MODULE_EAGER_LOADING
    return CUDA_SUCCESS;
}

RUNTIME_API CUresult cuLibraryLoadData(CUlibrary* library, const void* code, int*, void**, unsigned, int*,
                                       void**, unsigned) {
    return cuModuleLoadData(library, code);
}
RUNTIME_API CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, int*, void**, unsigned, int*,
                                           void**, unsigned) {
    return cuModuleLoad(library, path);
}
RUNTIME_API CUresult cuLibraryUnload(CUlibrary library) { return cuModuleUnload(library); }
RUNTIME_API CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
    return cuModuleGetFunction(kernel, library, name);
}
RUNTIME_API CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
    *module = library;
    return CUDA_SUCCESS;
}
RUNTIME_API CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary library,
                                        const char* name) {
    return cuModuleGetGlobal_v2(pointer, bytes, library, name);
}
RUNTIME_API CUresult cuLibraryGetManaged(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary library,
                                         const char* name) {
    return cuModuleGetGlobal_v2(pointer, bytes, library, name);
}
RUNTIME_API CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
    return cuModuleGetFunctionCount(count, library);
}
RUNTIME_API CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
    return cuModuleEnumerateFunctions(kernels, count, library);
}

RUNTIME_API CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    *function = kernel;
    return CUDA_SUCCESS;
}
RUNTIME_API CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
    *library = kernel->module;
    return CUDA_SUCCESS;
}

RUNTIME_API CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction handle) {
    return call_with(handle, [&](Client& client, Function& function) {
        return attribute_of(client, function, attribute, value);
    });
}
RUNTIME_API CUresult cuKernelGetAttribute(int* value, int attribute, CUkernel kernel, CUdevice) {
    return cuFuncGetAttribute(value, attribute, kernel);
}
RUNTIME_API CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    return result(cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value));
}
RUNTIME_API CUresult cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice) {
    return cuFuncSetAttribute(kernel, attribute, value);
}
RUNTIME_API CUresult cuFuncSetCacheConfig(CUfunction function, int config) {
    return result(cudaFuncSetCacheConfig(function, config));
}
RUNTIME_API CUresult cuFuncSetSharedMemConfig(CUfunction function, int config) {
    return result(cudaFuncSetSharedMemConfig(function, config));
}
RUNTIME_API CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
    *module = function->module;
    return CUDA_SUCCESS;
}
RUNTIME_API CUresult cuFuncGetName(const char** name, CUfunction function) {
    return result(cudaFuncGetName(name, function));
}
RUNTIME_API CUresult cuKernelGetName(const char** name, CUkernel kernel) {
    return cuFuncGetName(name, kernel);
}
RUNTIME_API CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                                        std::size_t* bytes) {
    return result(cudaFuncGetParamInfo(function, index, offset, bytes));
}
RUNTIME_API CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                                          std::size_t* bytes) {
    return cuFuncGetParamInfo(kernel, index, offset, bytes);
}
RUNTIME_API CUresult cuFuncLoad(CUfunction) { return CUDA_SUCCESS; }
RUNTIME_API CUresult cuFuncIsLoaded(int* state, CUfunction) {
    *state = 1;  // CU_FUNCTION_LOADING_STATE_LOADED
    return CUDA_SUCCESS;
}

RUNTIME_API CUresult cuLinkCreate_v2(unsigned count, int* options, void** values, CUlinkState* state) {
    empty_logs(count, options, values);
    *state = new Link;
    return CUDA_SUCCESS;
}
RUNTIME_API CUresult cuLinkAddData_v2(CUlinkState state, int, void* data, std::size_t bytes, const char*,
                                      unsigned, int*, void**) {
    if (state->inputs++)
        return result(refuse("cuLinkAddData of a second input", __builtin_return_address(0)));
    state->image.assign(static_cast<char*>(data), bytes);
    return CUDA_SUCCESS;
}
RUNTIME_API CUresult cuLinkAddFile_v2(CUlinkState state, int kind, const char* path, unsigned, int*, void**) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return static_cast<CUresult>(cudaErrorFileNotFound);
    std::string contents{std::istreambuf_iterator<char>(file), {}};
    return cuLinkAddData_v2(state, kind, contents.data(), contents.size(), path, 0, nullptr, nullptr);
}
RUNTIME_API CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
    *image = state->image.data();
    if (bytes) *bytes = state->image.size();
    return state->inputs ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
RUNTIME_API CUresult cuLinkDestroy(CUlinkState state) {
    delete state;
    return CUDA_SUCCESS;
}

}  // namespace warpwatt::runtime
