// Memory of graphs: it has its address from the time when its node is added.
#pragma once

#include "runtime/client.h"

namespace warpwatt::runtime {

cudaError_t allocate_in_graph(Client& client, AllocateWork* work);

}  // namespace warpwatt::runtime
