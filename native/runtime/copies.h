// From what a program says of a copy or a fill to work for a stream.
#pragma once

#include "runtime/client.h"

namespace warpwatt::runtime {

// Checks addresses and the direction, and submits; work of no bytes is nothing.
cudaError_t submit_copy(Client& client, Stream& stream, CopyWork work);
cudaError_t submit_fill(Client& client, Stream& stream, FillWork work);
// The same checks, for a graph's node.
cudaError_t check_copy(Client& client, CopyWork* work);
cudaError_t check_fill(Client& client, const FillWork& work);
// Work of cudaMemcpy3D's parameters.
cudaError_t copy_of(Client& client, const cudaMemcpy3DParms& parameters, CopyWork* work);
// Where elements of an array lie.
Rows rows_of(const Array& array, std::size_t x_bytes, std::size_t y, std::size_t z);

inline Rows linear(const void* pointer) { return {reinterpret_cast<std::uint64_t>(pointer), 0, 0}; }
inline Rows pitched(const void* pointer, std::size_t pitch) {
    return {reinterpret_cast<std::uint64_t>(pointer), pitch, 0};
}

}  // namespace warpwatt::runtime
