// Waiting for a phase of a barrier object to end.
#pragma once

#include "emulate/machine.h"

namespace warpwatt::emulate {

// Lets lanes of a warp go on whose phase is over; whether there were any.
bool release_finished(Machine& machine, Warp& warp);

// Lets all lanes go on that wait, as after a time-out; whether there were any.
bool release_waiting(Warp& warp);

}  // namespace warpwatt::emulate
