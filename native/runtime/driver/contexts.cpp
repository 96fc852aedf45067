// Driver API: initialisation, errors, devices and contexts.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/driver/driver.h"

namespace warpwatt::runtime {

struct Context {
    int device;
    unsigned flags;
    bool is_primary;
};

namespace {

thread_local std::vector<Context*> current;  // a thread's stack of contexts

std::vector<Context*>& primary_contexts() {
    static std::vector<Context*> contexts;
    return contexts;
}

Context* primary(Client& client, int device) {
    auto& contexts = primary_contexts();
    while (contexts.size() < client.devices.size())
        contexts.push_back(new Context{static_cast<int>(contexts.size()), 0, true});
    return contexts[static_cast<std::size_t>(device)];
}

void make_current(Context* context) {
    if (current.empty()) current.push_back(nullptr);
    current.back() = context;
    if (context) Client::get().set_device_number(context->device);
}

template <typename Body>
CUresult call_on(CUdevice device, Body&& body) {
    return driver_call([&](Client& client) {
        if (device < 0 || static_cast<std::size_t>(device) >= client.devices.size())
            return cudaErrorInvalidDevice;
        body(client);
        return cudaSuccess;
    });
}

}  // namespace

// What the Runtime API tells apart and the Driver API does not.
CUresult result(cudaError_t error) {
    if (error) last_error(true);  // the Driver API keeps none
    switch (error) {
        case cudaErrorInvalidConfiguration:
        case cudaErrorInvalidPitchValue:
        case cudaErrorInvalidMemcpyDirection:
            return CUDA_ERROR_INVALID_VALUE;
        case cudaErrorInvalidDeviceFunction:
            return CUDA_ERROR_INVALID_HANDLE;
        case cudaErrorInvalidSymbol:
            return CUDA_ERROR_NOT_FOUND;
        default:
            return static_cast<CUresult>(error);
    }
}

RUNTIME_API CUresult cuInit(unsigned) {
    return driver_call([](Client&) { return cudaSuccess; });
}

RUNTIME_API CUresult cuDriverGetVersion(int* version) { return result(cudaDriverGetVersion(version)); }

RUNTIME_API CUresult cuGetErrorString(CUresult error, const char** text) {
    *text = cudaGetErrorString(static_cast<cudaError_t>(error));
    return CUDA_SUCCESS;
}

RUNTIME_API CUresult cuGetErrorName(CUresult error, const char** text) {
    *text = driver_error_name(error);
    return CUDA_SUCCESS;
}

RUNTIME_API CUresult cuDeviceGetCount(int* count) { return result(cudaGetDeviceCount(count)); }

RUNTIME_API CUresult cuDeviceGet(CUdevice* device, int number) {
    return call_on(number, [&](Client&) { *device = number; });
}

RUNTIME_API CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
    return call_on(device, [&](Client& client) {
        std::string text(client.devices[static_cast<std::size_t>(device)].text("name"));
        std::strncpy(name, text.c_str(), static_cast<std::size_t>(length));
        if (length) name[length - 1] = '\0';
    });
}

RUNTIME_API CUresult cuDeviceGetUuid(cudaUUID_t* uuid, CUdevice device) {
    cudaDeviceProp properties;
    CUresult error = result(cudaGetDeviceProperties(&properties, device));
    *uuid = properties.uuid;
    return error;
}
RUNTIME_API CUresult cuDeviceGetUuid_v2(cudaUUID_t* uuid, CUdevice device) {
    return cuDeviceGetUuid(uuid, device);
}

RUNTIME_API CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
    return call_on(device, [&](Client& client) {
        const Device& found = client.devices[static_cast<std::size_t>(device)];
        *bytes = static_cast<std::size_t>(found.number("totalGlobalMem"));
    });
}

RUNTIME_API CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
    constexpr int kVirtualMemory = 102;  // ..._VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: ours, whatever the device
    constexpr int kCompression = 107;    // ..._GENERIC_COMPRESSION_SUPPORTED: since compute capability 8.0
    if (attribute == kVirtualMemory && value) return call_on(device, [&](Client&) { *value = 1; });
    if (attribute == kCompression && value)
        return call_on(device, [&](Client& client) {
            *value = client.devices[static_cast<std::size_t>(device)].number("major") >= 8;
        });
    return result(cudaDeviceGetAttribute(value, attribute, device));
}

RUNTIME_API CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
    CUresult error = cuDeviceGetAttribute(major, 75, device);
    return error ? error : cuDeviceGetAttribute(minor, 76, device);
}

RUNTIME_API CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
    return result(cudaDeviceGetPCIBusId(text, length, device));
}

RUNTIME_API CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
    return result(cudaDeviceGetByPCIBusId(device, text));
}

RUNTIME_API CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
    return result(cudaDeviceCanAccessPeer(can, device, peer));
}

RUNTIME_API CUresult cuDeviceGetP2PAttribute(int* value, int attribute, CUdevice device, CUdevice peer) {
    return result(cudaDeviceGetP2PAttribute(value, attribute, device, peer));
}

RUNTIME_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    return call_on(device, [&](Client& client) { *context = primary(client, device); });
}

RUNTIME_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    return call_on(device, [](Client&) {});
}

RUNTIME_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    return call_on(device, [](Client&) { cudaDeviceReset(); });
}

RUNTIME_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    return call_on(device, [&](Client& client) { primary(client, device)->flags = flags; });
}

RUNTIME_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
    return call_on(device, [&](Client& client) {
        *flags = primary(client, device)->flags;
        *is_active = 1;
    });
}

RUNTIME_API CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
    return call_on(device, [&](Client&) {
        *context = new Context{device, flags, false};
        current.push_back(*context);
        make_current(*context);
    });
}

RUNTIME_API CUresult cuCtxCreate_v3(CUcontext* context, const void*, int, unsigned flags, CUdevice device) {
    return cuCtxCreate_v2(context, flags, device);
}

RUNTIME_API CUresult cuCtxCreate_v4(CUcontext* context, const void*, unsigned flags, CUdevice device) {
    return cuCtxCreate_v2(context, flags, device);
}

RUNTIME_API CUresult cuCtxDestroy_v2(CUcontext context) {
    return driver_call([&](Client&) {
        if (!context || context->is_primary) return cudaErrorInvalidValue;
        std::erase(current, context);
        make_current(current.empty() ? nullptr : current.back());
        delete context;
        return cudaSuccess;
    });
}

// The names of CUDA 3.2, under which programs that load the driver themselves look for them.
RUNTIME_API CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }

RUNTIME_API CUresult cuCtxSetCurrent(CUcontext context) {
    return driver_call([&](Client&) {
        make_current(context);
        return cudaSuccess;
    });
}

// A thread that called the Runtime API has its device's primary context.
RUNTIME_API CUresult cuCtxGetCurrent(CUcontext* context) {
    *context = current.empty() ? nullptr : current.back();
    if (*context || !current.empty() || !has_called_runtime()) return CUDA_SUCCESS;
    return cuDevicePrimaryCtxRetain(context, Client::get().device_number());
}

RUNTIME_API CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return driver_call([&](Client&) {
        current.push_back(context);
        make_current(context);
        return cudaSuccess;
    });
}

RUNTIME_API CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxPushCurrent_v2(context); }

RUNTIME_API CUresult cuCtxPopCurrent_v2(CUcontext* context) {
    return driver_call([&](Client&) {
        if (current.empty()) return cudaErrorDeviceUninitialized;
        if (context) *context = current.back();
        current.pop_back();
        if (!current.empty()) make_current(current.back());
        return cudaSuccess;
    });
}

RUNTIME_API CUresult cuCtxPopCurrent(CUcontext* context) { return cuCtxPopCurrent_v2(context); }

RUNTIME_API CUresult cuCtxGetDevice(CUdevice* device) { return result(cudaGetDevice(device)); }
RUNTIME_API CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
    if (!context) return cuCtxGetDevice(device);
    *device = context->device;
    return CUDA_SUCCESS;
}
RUNTIME_API CUresult cuCtxGetFlags(unsigned* flags) {
    *flags = current.empty() || !current.back() ? 0 : current.back()->flags;
    return CUDA_SUCCESS;
}
RUNTIME_API CUresult cuCtxGetId(CUcontext context, unsigned long long* number) {
    *number = number_of(context ? context : current.empty() ? nullptr : current.back());
    return CUDA_SUCCESS;
}
RUNTIME_API CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
    *version = 3020;  // as every driver since says
    return CUDA_SUCCESS;
}
RUNTIME_API CUresult cuCtxSynchronize() { return result(cudaDeviceSynchronize()); }
RUNTIME_API CUresult cuCtxSynchronize_v2(CUcontext) { return cuCtxSynchronize(); }
RUNTIME_API CUresult cuCtxGetLimit(std::size_t* value, int limit) {
    return result(cudaDeviceGetLimit(value, limit));
}
RUNTIME_API CUresult cuCtxSetLimit(int limit, std::size_t value) {
    return result(cudaDeviceSetLimit(limit, value));
}
RUNTIME_API CUresult cuCtxGetCacheConfig(int* config) { return result(cudaDeviceGetCacheConfig(config)); }
RUNTIME_API CUresult cuCtxSetCacheConfig(int config) { return result(cudaDeviceSetCacheConfig(config)); }
RUNTIME_API CUresult cuCtxGetSharedMemConfig(int* config) {
    return result(cudaDeviceGetSharedMemConfig(config));
}
RUNTIME_API CUresult cuCtxSetSharedMemConfig(int config) {
    return result(cudaDeviceSetSharedMemConfig(config));
}
RUNTIME_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return result(cudaDeviceGetStreamPriorityRange(least, greatest));
}
RUNTIME_API CUresult cuCtxResetPersistingL2Cache() { return result(cudaCtxResetPersistingL2Cache()); }
RUNTIME_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    return result(cudaDeviceEnablePeerAccess(peer ? peer->device : -1, flags));
}
RUNTIME_API CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    return result(cudaDeviceDisablePeerAccess(peer ? peer->device : -1));
}

RUNTIME_API CUresult cuProfilerStart() { return result(cudaProfilerStart()); }
RUNTIME_API CUresult cuProfilerStop() { return result(cudaProfilerStop()); }

}  // namespace warpwatt::runtime
