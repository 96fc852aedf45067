#include "c_api.h"

#include "sm/sm.h"

// Simulates one SM. Reads the inputs and writes the outputs only, so that many may run at once.
WARPWATT_API void simulate_sm(const warpwatt::sm::Inputs* inputs, const warpwatt::sm::Outputs* outputs) {
    warpwatt::sm::Sm(*inputs, *outputs).run();
}
