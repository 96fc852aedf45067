// Driver API: functions that are not there.
#include "runtime/driver/driver.h"

namespace warpwatt::runtime {

#define REFUSED(chapter, name) \
    RUNTIME_API CUresult name() { return result(refuse(#name, __builtin_return_address(0))); }
#include "runtime/driver/refused.inc"
#undef REFUSED

}  // namespace warpwatt::runtime
