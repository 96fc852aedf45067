// What of cuSPARSE names a status.
#include "runtime/closed/call.h"

namespace {

const char* name_of(int status) {
    constexpr const char* kNames[] = {"CUSPARSE_STATUS_SUCCESS",
                                      "CUSPARSE_STATUS_NOT_INITIALIZED",
                                      "CUSPARSE_STATUS_ALLOC_FAILED",
                                      "CUSPARSE_STATUS_INVALID_VALUE",
                                      "CUSPARSE_STATUS_ARCH_MISMATCH",
                                      "CUSPARSE_STATUS_MAPPING_ERROR",
                                      "CUSPARSE_STATUS_EXECUTION_FAILED",
                                      "CUSPARSE_STATUS_INTERNAL_ERROR",
                                      "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                      "CUSPARSE_STATUS_ZERO_PIVOT",
                                      "CUSPARSE_STATUS_NOT_SUPPORTED",
                                      "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
    return status >= 0 && status < 12 ? kNames[status] : "unknown";
}

}  // namespace

LIBRARY_API const char* cusparseGetErrorName(int status) { return name_of(status); }
LIBRARY_API const char* cusparseGetErrorString(int status) { return name_of(status); }
