// Driver API: names of errors.
#include <algorithm>
#include <iterator>

#include "runtime/driver/driver.h"

namespace warpwatt::runtime {

namespace {

struct ErrorName {
    int number;
    const char* name;
};

constexpr ErrorName kNames[] = {
#define ERROR(name, number) {number, #name},
#include "runtime/driver/errors.inc"
#undef ERROR
};

}  // namespace

const char* driver_error_name(CUresult error) {
    auto found = std::ranges::find(kNames, static_cast<int>(error), &ErrorName::number);
    return found == std::end(kNames) ? nullptr : found->name;
}

// Nothing is written to logs, so that nobody is called.
RUNTIME_API CUresult cuLogsRegisterCallback(void*, void*, void** handle) {
    if (handle) *handle = nullptr;
    return CUDA_SUCCESS;
}
RUNTIME_API CUresult cuLogsUnregisterCallback(void*) { return CUDA_SUCCESS; }

}  // namespace warpwatt::runtime
