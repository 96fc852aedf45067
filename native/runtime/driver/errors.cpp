// Driver API: names of errors.
#include <algorithm>
#include <iterator>

#include "runtime/driver/driver.h"

namespace warpwatt::runtime {

namespace {

struct ErrorName {
    int number;
    const char* name;
};

constexpr ErrorName kNames[] = {
#define ERROR(name, number) {number, #name},
#include "runtime/driver/errors.inc"
#undef ERROR
};

}  // namespace

const char* driver_error_name(CUresult error) {
    auto found = std::ranges::find(kNames, static_cast<int>(error), &ErrorName::number);
    return found == std::end(kNames) ? nullptr : found->name;
}

}  // namespace warpwatt::runtime
