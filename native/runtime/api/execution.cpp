// Execution control: launches, and what functions need.
#include <vector>

#include "runtime/api.h"
#include "runtime/call.h"
#include "runtime/launch.h"

namespace warpwatt::runtime {

namespace {

struct CallConfiguration {
    dim3 grid, block;
    std::size_t shared;
    cudaStream_t stream;
};
thread_local std::vector<CallConfiguration> configurations;  // of <<<...>>>, not yet launched

template <typename Body>
cudaError_t call_with(const void* symbol, Body&& body) {
    return call([&](Client& client) {
        Function* function = client.modules.function(symbol);
        return function ? body(client, *function) : cudaErrorInvalidDeviceFunction;
    });
}

cudaError_t launch(const void* symbol, cudaStream_t handle, const LaunchRequest& request) {
    return call_in(handle, [&](Client& client, Stream& stream) {
        Function* function = client.modules.function(symbol);
        return function ? launch(client, stream, *function, request) : cudaErrorInvalidDeviceFunction;
    });
}

LaunchRequest request_of(const cudaLaunchConfig_t& config, void** arguments) {
    LaunchRequest request{config.gridDim, config.blockDim, {0, 0, 0}, config.dynamicSmemBytes,
                          arguments,      false,           0};
    for (unsigned i = 0; i < config.numAttrs; ++i) apply(config.attrs[i], &request);
    return request;
}

cudaError_t set(Client& client, Function& function, message::Setting setting, std::int64_t value) {
    client.send_module(*function.module);
    client.connection.send(message::Type::kFunctionSetting,
                           message::FunctionSetting{function.number, value, setting, 0});
    return cudaSuccess;
}

}  // namespace

RUNTIME_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                                 cudaStream_t stream) {
    configurations.push_back({grid, block, shared, stream});
    return 0;
}

RUNTIME_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                                   void* stream) {
    if (configurations.empty()) return note(cudaErrorMissingConfiguration);
    CallConfiguration found = configurations.back();
    configurations.pop_back();
    *grid = found.grid;
    *block = found.block;
    *shared = found.shared;
    *static_cast<cudaStream_t*>(stream) = found.stream;
    return cudaSuccess;
}

RUNTIME_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                         std::size_t shared, cudaStream_t stream) {
    return launch(function, stream, {grid, block, {0, 0, 0}, shared, arguments, false, 0});
}

RUNTIME_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                           std::size_t shared, cudaStream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

RUNTIME_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                                    void** arguments, std::size_t shared,
                                                    cudaStream_t stream) {
    return launch(function, stream, {grid, block, {0, 0, 0}, shared, arguments, true, 0});
}

RUNTIME_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                            void** arguments) {
    if (!config) return note(cudaErrorInvalidValue);
    return launch(function, config->stream, request_of(*config, arguments));
}

RUNTIME_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* symbol) {
    return call_with(symbol, [&](Client& client, Function& function) {
        if (cudaError_t error = client.learn(function)) return error;
        const message::FunctionAttributesReply& needs = function.needs;
        *attributes = {};
        attributes->sharedSizeBytes = needs.static_shared_bytes;
        attributes->constSizeBytes = needs.constant_bytes;
        attributes->localSizeBytes = needs.local_bytes;
        attributes->maxThreadsPerBlock = static_cast<int>(needs.max_threads_per_block);
        attributes->numRegs = static_cast<int>(needs.registers);
        attributes->ptxVersion = static_cast<int>(needs.ptx_version);
        attributes->binaryVersion = static_cast<int>(needs.binary_version);
        attributes->maxDynamicSharedSizeBytes = static_cast<int>(max_dynamic_shared(client, function));
        attributes->preferredShmemCarveout = function.carveout;
        attributes->nonPortableClusterSizeAllowed = function.non_portable_cluster;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaFuncSetAttribute(const void* symbol, cudaFuncAttribute attribute, int value) {
    return call_with(symbol, [&](Client& client, Function& function) {
        switch (attribute) {
            case cudaFuncAttributeMaxDynamicSharedMemorySize: {
                if (cudaError_t error = client.learn(function)) return error;
                auto most = client.device().number("sharedMemPerBlockOptin");
                if (value < 0 || value + static_cast<std::int64_t>(function.needs.static_shared_bytes) > most)
                    return cudaErrorInvalidValue;
                function.max_dynamic_shared = value;
                return set(client, function, message::Setting::kMaxDynamicShared, value);
            }
            case cudaFuncAttributePreferredSharedMemoryCarveout:
                if (value < -1 || value > 100) return cudaErrorInvalidValue;
                function.carveout = value;
                return set(client, function, message::Setting::kCarveout, value);
            case cudaFuncAttributeNonPortableClusterSizeAllowed:
                function.non_portable_cluster = value;
                return set(client, function, message::Setting::kNonPortableCluster, value);
        }
        return cudaErrorInvalidValue;
    });
}

RUNTIME_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                                        int value, int) {
    return cudaFuncSetAttribute(kernel, attribute, value);
}

RUNTIME_API cudaError_t cudaFuncSetCacheConfig(const void* symbol, int config) {
    return call_with(symbol, [&](Client& client, Function& function) {
        return set(client, function, message::Setting::kCacheConfig, config);
    });
}

// Banks have been of four bytes since compute capability 5.0.
RUNTIME_API cudaError_t cudaFuncSetSharedMemConfig(const void* symbol, int) {
    return call_with(symbol, [](Client&, Function&) { return cudaSuccess; });
}

RUNTIME_API cudaError_t cudaFuncGetName(const char** name, const void* symbol) {
    return call_with(symbol, [&](Client&, Function& function) {
        *name = function.name.c_str();
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaFuncGetParamInfo(const void* symbol, std::size_t index, std::size_t* offset,
                                             std::size_t* bytes) {
    return call_with(symbol, [&](Client& client, Function& function) {
        if (cudaError_t error = client.learn(function)) return error;
        if (index >= function.parameters.size()) return cudaErrorInvalidValue;
        *offset = function.parameters[index].offset;
        if (bytes) *bytes = function.parameters[index].bytes;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaFuncGetParamCount(const void* symbol, std::size_t* count) {
    return call_with(symbol, [&](Client& client, Function& function) {
        cudaError_t error = client.learn(function);
        *count = function.parameters.size();
        return error;
    });
}

RUNTIME_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
    if (!function) return note(cudaErrorInvalidValue);
    return call_in(stream, [&](Client& client, Stream& found) {
        return client.submit(found, HostWork{function, argument});
    });
}

RUNTIME_API cudaError_t cudaLaunchHostFunc_v2(cudaStream_t stream, cudaHostFn_t function, void* argument,
                                              unsigned) {
    return cudaLaunchHostFunc(stream, function, argument);
}

}  // namespace warpwatt::runtime
