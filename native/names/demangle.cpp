#include <cxxabi.h>

#include <cstdlib>
#include <string>

#include "c_api.h"

// The C++ form of a name mangled by the Itanium C++ ABI, as the compiler's own run time writes it; null if it
// is none. It lasts until the thread's next call.
WARPWATT_API const char* demangle(const char* name) {
    thread_local std::string result;
    int status = 0;
    char* found = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    if (status != 0) return nullptr;
    result = found;
    std::free(found);
    return result.c_str();
}
