#include <set>

#include "tests/emulate/test_frame.h"

using namespace warpwatt::test;

int main() {
    std::set<std::string> names;
    for (const warpwatt::NamedCode& step : all_steps()) {
        CHECK(std::string(step.table) == "step" && step.value != 0);
        check(names.insert(step.name).second, step.name, __FILE__, __LINE__);
    }
    CHECK(names.contains("add i8") && names.contains("fma f64") && names.contains("select 1") &&
          names.contains("reduce smax i64") && names.contains("barrier results"));
    return failures();
}
