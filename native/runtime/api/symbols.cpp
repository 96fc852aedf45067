// Memory management: variables of modules by the host's symbol.
#include "runtime/api.h"
#include "runtime/call.h"
#include "runtime/copies.h"

namespace warpwatt::runtime {

namespace {

template <typename Body>
cudaError_t call_with(const void* symbol, Body&& body) {
    return call([&](Client& client) {
        Variable* variable = client.modules.variable(symbol);
        if (!variable) return cudaErrorInvalidSymbol;
        client.send_module(*variable->module);
        return body(client, *variable);
    });
}

cudaError_t copy(const void* symbol, void* host, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                 bool to_symbol, bool asynchronous, cudaStream_t handle) {
    return call_with(symbol, [&](Client& client, Variable& variable) {
        Stream* stream = client.stream(handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        if (offset > variable.bytes || bytes > variable.bytes - offset) return cudaErrorInvalidValue;
        Rows inside{variable.address + offset, 0, 0}, outside = linear(host);
        return submit_copy(
            client, *stream,
            {to_symbol ? inside : outside, to_symbol ? outside : inside, bytes, 1, 1, kind, asynchronous});
    });
}

}  // namespace

RUNTIME_API cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return call_with(symbol, [&](Client&, Variable& variable) {
        *pointer = pointer_of(variable.address);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
    return call_with(symbol, [&](Client&, Variable& variable) {
        *bytes = variable.bytes;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
    return copy(symbol, const_cast<void*>(from), bytes, offset, kind, true, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                                std::size_t offset, cudaMemcpyKind kind,
                                                cudaStream_t stream) {
    return copy(symbol, const_cast<void*>(from), bytes, offset, kind, true, true, stream);
}

RUNTIME_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
    return copy(symbol, to, bytes, offset, kind, false, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                                  std::size_t offset, cudaMemcpyKind kind,
                                                  cudaStream_t stream) {
    return copy(symbol, to, bytes, offset, kind, false, true, stream);
}

}  // namespace warpwatt::runtime
