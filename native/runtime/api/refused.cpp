// Functions that are not there.
#include "runtime/call.h"

namespace warpwatt::runtime {

#define REFUSED(chapter, name) \
    RUNTIME_API cudaError_t name() { return refuse(#name, __builtin_return_address(0)); }
#include "runtime/refused.inc"
#undef REFUSED

}  // namespace warpwatt::runtime
