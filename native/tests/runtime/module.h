// A module with one kernel as nvcc's code would register it.
#pragma once

#include "runtime/api.h"
#include "tests/check.h"
#include "tests/runtime/fake_device.h"

namespace warpwatt::test {

// A fat binary of nothing: header (magic, version, its bytes, bytes that follow) in the wrapper of nvcc.
struct RegisteredModule {
    std::uint64_t image[2] = {0x0010'0001'ba55'ed50, 0};
    struct {
        int magic = 0x466243b1, version = 1;
        const void *data, *more = nullptr;
    } wrapper;
    char kernel = 0, variable = 0;  // the host's symbols

    RegisteredModule() {
        wrapper.data = image;
        void** handle = runtime::__cudaRegisterFatBinary(&wrapper);
        runtime::__cudaRegisterFunction(handle, &kernel, &kernel, "scale", -1, 0, 0, 0, 0, 0);
        runtime::__cudaRegisterVar(handle, &variable, &variable, "table", 0, 64, 1, 0);
    }
};

// A kernel of (float* x, int n, double a), needing 1 KiB of static shared memory, at most 512 threads.
inline Answer describe_kernel(const Received&) {
    message::FunctionAttributesReply needs{1024, 0, 0, 32, 512, 90, 90, 3, 0};
    message::Parameter parameters[] = {{0, 8}, {8, 4}, {16, 8}};
    std::string text = text_of(needs);
    for (const message::Parameter& parameter : parameters) text += text_of(parameter);
    return {0, 0, text};
}

}  // namespace warpwatt::test
