#include "runtime/launch.h"

#include <algorithm>

namespace warpwatt::runtime {

namespace {

std::uint64_t product(const dim3& size) { return std::uint64_t{size.x} * size.y * size.z; }

bool fits(const dim3& size, const Device& device, const char* key) {
    const unsigned sizes[] = {size.x, size.y, size.z};
    for (std::size_t i = 0; i < 3; ++i)
        if (sizes[i] == 0 || sizes[i] > device.number(key, i)) return false;
    return true;
}

cudaError_t check_cluster(const Device& device, const Function& function, const LaunchRequest& request) {
    const dim3 &cluster = request.cluster, &grid = request.grid;
    if (product(cluster) == 0) return cudaSuccess;
    if (!device.number("clusterLaunch")) return cudaErrorNotSupported;
    constexpr std::uint64_t kPortable = 8, kMost = 16;  // CUDA Programming Guide, thread block clusters
    if (product(cluster) > (function.non_portable_cluster ? kMost : kPortable))
        return cudaErrorInvalidClusterSize;
    bool divides = grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
    return divides ? cudaSuccess : cudaErrorInvalidConfiguration;
}

cudaError_t check(Client& client, Function& function, const LaunchRequest& request) {
    Device& device = client.device();
    auto threads = product(request.block);
    if (!fits(request.grid, device, "maxGridSize") || !fits(request.block, device, "maxThreadsDim") ||
        threads > static_cast<std::uint64_t>(device.number("maxThreadsPerBlock")))
        return cudaErrorInvalidConfiguration;
    if (threads > function.needs.max_threads_per_block) return cudaErrorLaunchOutOfResources;
    if (request.dynamic_shared_bytes > max_dynamic_shared(client, function)) return cudaErrorInvalidValue;
    if (cudaError_t error = check_cluster(device, function, request)) return error;
    if (!request.cooperative) return cudaSuccess;
    if (!device.number("cooperativeLaunch")) return cudaErrorNotSupported;
    message::OccupancyReply found;
    if (cudaError_t error = occupancy(client, function, static_cast<std::uint32_t>(threads),
                                      request.dynamic_shared_bytes, 0, &found))
        return error;
    auto resident = std::uint64_t{found.blocks_per_sm} * device.number("multiProcessorCount");
    return product(request.grid) > resident ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
}

}  // namespace

std::uint64_t max_dynamic_shared(Client& client, const Function& function) {
    if (function.max_dynamic_shared >= 0) return static_cast<std::uint64_t>(function.max_dynamic_shared);
    auto default_limit = static_cast<std::uint64_t>(client.device().number("sharedMemPerBlock"));
    return default_limit - std::min(default_limit, function.needs.static_shared_bytes);
}

cudaError_t occupancy(Client& client, Function& function, std::uint32_t threads,
                      std::size_t dynamic_shared_bytes, std::uint32_t blocks_per_cluster,
                      message::OccupancyReply* found) {
    if (cudaError_t error = client.learn(function)) return error;
    message::Occupancy record{function.number, dynamic_shared_bytes, threads, blocks_per_cluster};
    Answer answer = client.connection.request(message::Type::kOccupancy, record);
    *found = answer.record<message::OccupancyReply>();
    return static_cast<cudaError_t>(answer.error);
}

void apply(const cudaLaunchAttribute& attribute, LaunchRequest* request) {
    if (attribute.id == cudaLaunchAttributeCooperative) request->cooperative = attribute.val.number;
    if (attribute.id == cudaLaunchAttributeClusterDimension) request->cluster = attribute.val.clusterDim;
    if (attribute.id == cudaLaunchAttributePriority) request->priority = attribute.val.number;
}

cudaError_t prepare(Client& client, Function& function, const LaunchRequest& request, KernelWork* work) {
    if (cudaError_t error = client.learn(function)) return error;
    if (cudaError_t error = check(client, function, request)) return error;
    if (!function.parameters.empty() && !request.arguments) return cudaErrorInvalidValue;
    work->function = &function;
    work->grid = request.grid;
    work->block = request.block;
    work->cluster = request.cluster;
    work->dynamic_shared_bytes = request.dynamic_shared_bytes;
    work->cooperative = request.cooperative;
    work->priority = request.priority;
    work->parameters.assign(function.parameter_bytes(), '\0');
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        auto [offset, bytes] = function.parameters[i];
        if (!request.arguments[i]) return cudaErrorInvalidValue;
        work->parameters.replace(offset, bytes, static_cast<const char*>(request.arguments[i]), bytes);
    }
    return cudaSuccess;
}

namespace {

// Tells the device of a launch that the client refuses, which programs often overlook.
cudaError_t refuse(Client& client, const Stream& stream, const Function& function,
                   const LaunchRequest& request, cudaError_t error) {
    const auto &grid = request.grid, &block = request.block, &cluster = request.cluster;
    message::Launch record{function.number,
                           stream.number,
                           request.dynamic_shared_bytes,
                           {grid.x, grid.y, grid.z},
                           {block.x, block.y, block.z},
                           {cluster.x, cluster.y, cluster.z},
                           message::kRefused,
                           static_cast<std::uint32_t>(stream.device),
                           static_cast<std::uint32_t>(error)};
    client.connection.send(message::Type::kLaunch, record);
    return error;
}

}  // namespace

cudaError_t launch(Client& client, Stream& stream, Function& function, const LaunchRequest& request) {
    KernelWork work;
    cudaError_t error = prepare(client, function, request, &work);
    return error ? refuse(client, stream, function, request, error) : client.submit(stream, std::move(work));
}

}  // namespace warpwatt::runtime
