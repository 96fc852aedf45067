// Error handling.
#include <algorithm>
#include <iterator>

#include "runtime/api.h"
#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

struct ErrorText {
    cudaError_t error;
    const char *name, *text;
};

constexpr ErrorText kErrors[] = {
#define ERROR(name, number, text) {name, #name, text},
#include "runtime/errors.inc"
#undef ERROR
};

const ErrorText* find(cudaError_t error) {
    auto found = std::ranges::find(kErrors, error, &ErrorText::error);
    return found == std::end(kErrors) ? nullptr : found;
}

}  // namespace

RUNTIME_API const char* cudaGetErrorName(cudaError_t error) {
    const ErrorText* found = find(error);
    return found ? found->name : "unrecognized error code";
}

RUNTIME_API const char* cudaGetErrorString(cudaError_t error) {
    const ErrorText* found = find(error);
    return found ? found->text : "unrecognized error code";
}

RUNTIME_API cudaError_t cudaGetLastError() { return last_error(true); }
RUNTIME_API cudaError_t cudaPeekAtLastError() { return last_error(false); }

}  // namespace warpwatt::runtime
