// The table of all steps, for Python, which writes their functions' addresses into routines.

#include "emulate/steps.h"

#include "emulate/step_table.h"
#include "record_layout.h"

namespace warpwatt::emulate {

namespace {

StepTable all_steps() {
    StepTable table;
    add_integer_steps(table);
    add_float_steps(table);
    add_conversion_steps(table);
    add_lane_steps(table);
    add_register_steps(table);
    add_memory_steps(table);
    return table;
}

std::vector<NamedCode> codes_of(const StepTable& table) {
    std::vector<NamedCode> codes;
    for (const auto& [name, execute] : table.rows())
        codes.push_back(code("step", name.c_str(), reinterpret_cast<std::intptr_t>(execute)));
    return codes;
}

}  // namespace

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

const void* emulator_steps(std::int64_t* count) {
    static const StepTable table = all_steps();
    static const auto codes = codes_of(table);
    *count = static_cast<std::int64_t>(codes.size());
    return codes.data();
}
