// From what a program says of a launch to work for a stream: checked as the driver checks it.
#pragma once

#include "runtime/client.h"

namespace warpwatt::runtime {

struct LaunchRequest {
    dim3 grid, block, cluster{0, 0, 0};
    std::size_t dynamic_shared_bytes = 0;
    void** arguments = nullptr;
    bool cooperative = false;
    int priority = 0;
};

// Takes one attribute of a launch (cudaLaunchKernelExC, cuLaunchKernelEx).
void apply(const cudaLaunchAttribute& attribute, LaunchRequest* request);
// Fills in `work`, or says what is wrong.
cudaError_t prepare(Client& client, Function& function, const LaunchRequest& request, KernelWork* work);
// The same, and then it is submitted.
cudaError_t launch(Client& client, Stream& stream, Function& function, const LaunchRequest& request);

// The most dynamic shared memory that a launch of the function may ask for.
std::uint64_t max_dynamic_shared(Client& client, const Function& function);
// Blocks that are resident on one SM, or clusters on the device.
cudaError_t occupancy(Client& client, Function& function, std::uint32_t threads,
                      std::size_t dynamic_shared_bytes, std::uint32_t blocks_per_cluster,
                      message::OccupancyReply* found);

}  // namespace warpwatt::runtime
