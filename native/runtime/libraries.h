// Modules that programs load while they run.
#pragma once

#include <string_view>

#include "runtime/client.h"

namespace warpwatt::runtime {

// From an image in memory: fat binary, cubin or PTX.
cudaError_t load_module(Client& client, const void* image, Module** module);
cudaError_t load_file(Client& client, const char* path, Module** module);
Function* function_of(Module& module, std::string_view name);
Variable* variable_of(Module& module, std::string_view name);
void unload(Client& client, Module& module);

}  // namespace warpwatt::runtime
