// What of cuBLAS moves vectors and matrices between host and device, or names a status.
#include "runtime/abi.h"
#include "runtime/api.h"
#include "runtime/closed/call.h"

using namespace warpwatt::runtime;

namespace {

constexpr int kMappingError = 11;  // CUBLAS_STATUS_MAPPING_ERROR

int status_of(cudaError_t error) { return error ? kMappingError : 0; }

int copy(std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* from,
         std::int64_t from_rows, void* to, std::int64_t to_rows, cudaMemcpyKind kind, cudaStream_t stream,
         bool asynchronous) {
    auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    std::size_t to_pitch = size(to_rows * bytes), from_pitch = size(from_rows * bytes),
                width = size(rows * bytes);
    if (asynchronous)
        return status_of(
            cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, size(columns), kind, stream));
    return status_of(cudaMemcpy2D(to, to_pitch, from, from_pitch, width, size(columns), kind));
}

const char* name_of(int status) {
    switch (status) {
        case 0:
            return "CUBLAS_STATUS_SUCCESS";
        case 1:
            return "CUBLAS_STATUS_NOT_INITIALIZED";
        case 3:
            return "CUBLAS_STATUS_ALLOC_FAILED";
        case 7:
            return "CUBLAS_STATUS_INVALID_VALUE";
        case 8:
            return "CUBLAS_STATUS_ARCH_MISMATCH";
        case 11:
            return "CUBLAS_STATUS_MAPPING_ERROR";
        case 13:
            return "CUBLAS_STATUS_EXECUTION_FAILED";
        case 14:
            return "CUBLAS_STATUS_INTERNAL_ERROR";
        case 15:
            return "CUBLAS_STATUS_NOT_SUPPORTED";
        default:
            return "CUBLAS_STATUS_LICENSE_ERROR";
    }
}

}  // namespace

// A vector's elements are rows of one element, `increment` apart.
#define MOVES(suffix, Count, direction, kind)                                                                \
    LIBRARY_API int cublas##direction##Vector##suffix(Count n, Count bytes, const void* x, Count incx,       \
                                                      void* y, Count incy) {                                 \
        return copy(1, n, bytes, x, incx, y, incy, kind, nullptr, false);                                    \
    }                                                                                                        \
    LIBRARY_API int cublas##direction##VectorAsync##suffix(Count n, Count bytes, const void* x, Count incx,  \
                                                           void* y, Count incy, cudaStream_t stream) {       \
        return copy(1, n, bytes, x, incx, y, incy, kind, stream, true);                                      \
    }                                                                                                        \
    LIBRARY_API int cublas##direction##Matrix##suffix(Count rows, Count columns, Count bytes, const void* a, \
                                                      Count lda, void* b, Count ldb) {                       \
        return copy(rows, columns, bytes, a, lda, b, ldb, kind, nullptr, false);                             \
    }                                                                                                        \
    LIBRARY_API int cublas##direction##MatrixAsync##suffix(Count rows, Count columns, Count bytes,           \
                                                           const void* a, Count lda, void* b, Count ldb,     \
                                                           cudaStream_t stream) {                            \
        return copy(rows, columns, bytes, a, lda, b, ldb, kind, stream, true);                               \
    }
MOVES(, int, Set, cudaMemcpyHostToDevice)
MOVES(, int, Get, cudaMemcpyDeviceToHost)
MOVES(_64, std::int64_t, Set, cudaMemcpyHostToDevice)
MOVES(_64, std::int64_t, Get, cudaMemcpyDeviceToHost)

LIBRARY_API const char* cublasGetStatusName(int status) { return name_of(status); }
LIBRARY_API const char* cublasGetStatusString(int status) { return name_of(status); }
