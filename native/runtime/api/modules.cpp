// What nvcc's code calls before main: modules, functions and variables are registered.
#include "runtime/api.h"
#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

Module& module_of(void** handle) { return *static_cast<Module*>(*handle); }

void add_variable(void** handle, const char* name, std::size_t bytes, std::uint32_t flags, const void* host,
                  void** managed_pointer) {
    Entry entry;
    Client::get().modules.add_variable(module_of(handle),
                                       {&module_of(handle), name, bytes, flags, host, managed_pointer, 0});
}

std::uint32_t flags_of(int is_external, int is_constant) {
    return (is_external ? message::kExternalVariable : 0) | (is_constant ? message::kConstantVariable : 0);
}

}  // namespace

RUNTIME_API void** __cudaRegisterFatBinary(void* wrapper) {
    Entry entry;
    return &Client::get().modules.add(images_of(wrapper)).handle;
}

RUNTIME_API void __cudaRegisterFatBinaryEnd(void**) {}

// Not before the program ends: its destructors may still use what is in it.
RUNTIME_API void __cudaUnregisterFatBinary(void**) {}

RUNTIME_API void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*,
                                        void*, dim3*, dim3*, int*) {
    Entry entry;
    Client::get().modules.add_function(module_of(handle), name, host);
}

RUNTIME_API void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int is_external,
                                   std::size_t bytes, int is_constant, int) {
    add_variable(handle, name, bytes, flags_of(is_external, is_constant), host, nullptr);
}

RUNTIME_API void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name,
                                          int is_external, std::size_t bytes, int is_constant, int) {
    add_variable(handle, name, bytes, flags_of(is_external, is_constant) | message::kManagedVariable,
                 host_pointer, host_pointer);
}

// Host variables that device code reads need memory that both share; no GPU of ours has that.
RUNTIME_API void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}
RUNTIME_API void __cudaRegisterUnifiedTable(void**, void*) {}

// Before the program first uses a managed variable of the module.
RUNTIME_API char __cudaInitModule(void** handle) {
    return call([&](Client& client) {
               client.send_module(module_of(handle));
               return cudaSuccess;
           }) == cudaSuccess;
}

RUNTIME_API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* symbol) {
    Entry entry;
    *kernel = Client::get().modules.function(symbol);
    return *kernel ? cudaSuccess : note(cudaErrorInvalidDeviceFunction);
}

RUNTIME_API cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* symbol) {
    return __cudaGetKernel(kernel, symbol);
}

RUNTIME_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
    return __cudaGetKernel(function, symbol);
}

}  // namespace warpwatt::runtime
