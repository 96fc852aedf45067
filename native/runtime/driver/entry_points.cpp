// Driver API: functions by name, as programs find them that link nothing.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "runtime/driver/driver.h"

namespace warpwatt::runtime {

namespace {

// What a name means from a version on, where it is not the highest that we have of it.
struct Since {
    const char* name;
    int version;
    const char* function;
};
constexpr Since kSince[] = {
    {"cuCtxCreate", 13000, "cuCtxCreate_v4"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
    {"cuCtxCreate", 0, "cuCtxCreate_v2"},
    {"cuCtxGetDevice", 13000, "cuCtxGetDevice_v2"},
    {"cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"},
    {"cuEventElapsedTime", 12080, "cuEventElapsedTime_v2"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags"},
    {"cuLaunchHostFunc", 13010, "cuLaunchHostFunc_v2"},
    {"cuMemAdvise", 13000, "cuMemAdvise_v2"},
    {"cuMemPrefetchAsync", 13000, "cuMemPrefetchAsync_v2"},
    {"cuStreamGetCtx", 12050, "cuStreamGetCtx_v2"},
};
// Functions whose plain name still is the older one, for older programs.
bool has_plain_form(const char* name) {
    return std::ranges::any_of(kSince,
                               [&](const Since& since) { return std::strcmp(since.name, name) == 0; });
}

void* own(const std::string& name) {
    static void* library = [] {
        Dl_info found;
        dladdr(reinterpret_cast<void*>(&driver_function), &found);
        return dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }();
    return dlsym(library, name.c_str());
}

enum : int { kFound = 0, kNotFound = 1 };     // CUdriverProcAddressQueryResult
constexpr unsigned long long kPerThread = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

}  // namespace

void* driver_function(const char* name, int version, bool per_thread_stream) {
    if (std::strncmp(name, "cu", 2) != 0) return nullptr;
    if (per_thread_stream)
        if (void* found = own(std::string(name) + "_ptsz")) return found;
    for (const Since& since : kSince)
        if (std::strcmp(since.name, name) == 0 && version >= since.version) return own(since.function);
    if (!has_plain_form(name))
        if (void* found = own(std::string(name) + "_v2")) return found;
    if (void* found = own(name)) return found;
    return own(std::string(name) + "_v2");
}

RUNTIME_API CUresult cuGetProcAddress_v2(const char* name, void** function, int version,
                                         unsigned long long flags, int* status) {
    *function = driver_function(name, version, flags & kPerThread);
    if (status) *status = *function ? kFound : kNotFound;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

RUNTIME_API CUresult cuGetProcAddress(const char* name, void** function, int version,
                                      unsigned long long flags) {
    return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

// Tables that no documentation describes.
RUNTIME_API CUresult cuGetExportTable(const void** table, const cudaUUID_t*) {
    *table = nullptr;
    return result(refuse("cuGetExportTable", __builtin_return_address(0)));
}

RUNTIME_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                         unsigned long long flags, int* status) {
    CUresult error = cuGetProcAddress_v2(name, function, static_cast<int>(version), flags, status);
    return error == CUDA_ERROR_NOT_FOUND ? cudaSuccess : static_cast<cudaError_t>(error);
}

RUNTIME_API cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                                int* status) {
    return cudaGetDriverEntryPointByVersion(name, function, 13000, flags, status);
}

RUNTIME_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** function,
                                                              unsigned version, unsigned long long flags,
                                                              int* status) {
    return cudaGetDriverEntryPointByVersion(name, function, version, flags | kPerThread, status);
}

RUNTIME_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function,
                                                     unsigned long long flags, int* status) {
    return cudaGetDriverEntryPoint(name, function, flags | kPerThread, status);
}

}  // namespace warpwatt::runtime
