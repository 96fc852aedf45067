// The types of the CUDA Driver API, as its documentation describes them, and how its functions are made of
// those of the Runtime API: handles are the same objects, errors have other numbers in a few cases.
#pragma once

#include "runtime/api.h"
#include "runtime/call.h"
#include "runtime/driver/abi.h"

namespace warpwatt::runtime {

extern "C" CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);

// The driver's number of an error of the runtime.
CUresult result(cudaError_t error);

// CUDA_ERROR_..., in the words of the driver.
const char* driver_error_name(CUresult error);

// Makes a call that has no counterpart in the Runtime API.
template <typename Body>
CUresult driver_call(Body&& body) {
    return result(call(body));
}

// The function of this library that a program means by a documented name, or none; `version` as in
// CUDA_VERSION.
void* driver_function(const char* name, int version, bool per_thread_stream);

}  // namespace warpwatt::runtime
