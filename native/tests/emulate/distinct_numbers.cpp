#include "emulate/distinct_numbers.h"

#include "tests/check.h"

using namespace warpwatt::emulate;

namespace {

void a_number_is_new_once_in_whatever_order() {
    DistinctNumbers<8> seen;
    for (const std::uint64_t number : {5, 9, 2, 0, 7}) CHECK(seen.insert(number));
    for (const std::uint64_t number : {0, 9, 5, 7, 2}) CHECK(!seen.insert(number));
    CHECK(seen.insert(8));
    CHECK(seen.insert(~std::uint64_t{0}));
    CHECK(!seen.insert(8));
}

}  // namespace

int main() {
    a_number_is_new_once_in_whatever_order();
    return warpwatt::test::failures();
}
