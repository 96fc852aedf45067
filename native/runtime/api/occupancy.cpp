// Occupancy.
#include <algorithm>

#include "runtime/api.h"
#include "runtime/call.h"
#include "runtime/launch.h"

namespace warpwatt::runtime {

namespace {

cudaError_t blocks_of(Client& client, const void* symbol, int block_size, std::size_t shared, int* blocks) {
    Function* function = client.modules.function(symbol);
    if (!function) return cudaErrorInvalidDeviceFunction;
    if (block_size <= 0) return cudaErrorInvalidValue;
    message::OccupancyReply found{};
    cudaError_t error =
        occupancy(client, *function, static_cast<std::uint32_t>(block_size), shared, 0, &found);
    *blocks = static_cast<int>(found.blocks_per_sm);
    return error;
}

std::uint32_t cluster_of(const cudaLaunchConfig_t& config) {
    std::uint32_t blocks = 1;
    for (unsigned i = 0; i < config.numAttrs; ++i)
        if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
            const dim3& size = config.attrs[i].val.clusterDim;
            blocks = size.x * size.y * size.z;
        }
    return blocks;
}

cudaError_t clusters_of(Client& client, const void* symbol, const cudaLaunchConfig_t& config,
                        std::uint32_t blocks, int* clusters) {
    Function* function = client.modules.function(symbol);
    if (!function) return cudaErrorInvalidDeviceFunction;
    auto threads = config.blockDim.x * config.blockDim.y * config.blockDim.z;
    message::OccupancyReply found{};
    cudaError_t error = occupancy(client, *function, threads, config.dynamicSmemBytes, blocks, &found);
    *clusters = static_cast<int>(found.clusters);
    return error;
}

}  // namespace

RUNTIME_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* symbol,
                                                                      int block_size, std::size_t shared) {
    return call([&](Client& client) { return blocks_of(client, symbol, block_size, shared, blocks); });
}

RUNTIME_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                               const void* symbol,
                                                                               int block_size,
                                                                               std::size_t shared, unsigned) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, symbol, block_size, shared);
}

// The most with which as many blocks are resident.
RUNTIME_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* symbol,
                                                                  int blocks, int block_size) {
    return call([&](Client& client) {
        constexpr std::size_t kStep = 128;
        std::size_t few = 0,
                    many = static_cast<std::size_t>(client.device().number("sharedMemPerBlockOptin"));
        int resident = 0;
        if (cudaError_t error = blocks_of(client, symbol, block_size, 0, &resident)) return error;
        if (resident < blocks) return cudaErrorInvalidValue;
        while (few + kStep <= many) {
            std::size_t middle = (few + many + kStep) / 2 / kStep * kStep;
            blocks_of(client, symbol, block_size, middle, &resident);
            if (resident >= blocks)
                few = middle;
            else
                many = middle - kStep;
        }
        *bytes = few;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* symbol,
                                                       const cudaLaunchConfig_t* config) {
    return call(
        [&](Client& client) { return clusters_of(client, symbol, *config, cluster_of(*config), clusters); });
}

RUNTIME_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* symbol,
                                                             const cudaLaunchConfig_t* config) {
    return call([&](Client& client) {
        *size = 0;
        Function* function = client.modules.function(symbol);
        if (!function) return cudaErrorInvalidDeviceFunction;
        for (std::uint32_t blocks = function->non_portable_cluster ? 16 : 8; blocks; blocks /= 2) {
            int clusters = 0;
            if (cudaError_t error = clusters_of(client, symbol, *config, blocks, &clusters)) return error;
            if (clusters == 0) continue;
            *size = static_cast<int>(blocks);
            break;
        }
        return cudaSuccess;
    });
}

}  // namespace warpwatt::runtime
