// Which lanes of a warp wait for each other (reconvergence), and which have ended.
#pragma once

#include "emulate/machine.h"

namespace warpwatt::emulate {

// Lets the lanes that wait at the CONVERGE of a basic block go on if all live lanes they wait for stand
// there.
void converge(const Machine& machine, Warp& warp, int block);

// Does so for every basic block where lanes wait.
void converge_all(const Machine& machine, Warp& warp);

}  // namespace warpwatt::emulate
