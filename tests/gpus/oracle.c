/* Answers from NVIDIA's occupancy calculator: one request per line on stdin, one answer per line on stdout. */
#include <cuda_occupancy.h>
#include <stdio.h>

int main(void) {
    int major, minor, max_threads_block, max_threads_sm, regs_block, regs_sm, shared_block, shared_sm, optin, reserved;
    int registers, static_shared, barriers, block, dynamic_shared, carveout, cache;
    while (scanf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", &major, &minor, &max_threads_block,
                 &max_threads_sm, &regs_block, &regs_sm, &shared_block, &shared_sm, &optin, &reserved, &registers,
                 &static_shared, &barriers, &block, &dynamic_shared, &carveout, &cache) == 17) {
        cudaOccDeviceProp device = {0};
        cudaOccFuncAttributes kernel = {0};
        cudaOccDeviceState state = {0};
        cudaOccResult result = {0};
        device.computeMajor = major;
        device.computeMinor = minor;
        device.maxThreadsPerBlock = max_threads_block;
        device.maxThreadsPerMultiprocessor = max_threads_sm;
        device.regsPerBlock = regs_block;
        device.regsPerMultiprocessor = regs_sm;
        device.warpSize = 32;
        device.sharedMemPerBlock = shared_block;
        device.sharedMemPerMultiprocessor = shared_sm;
        device.numSms = 1;
        device.sharedMemPerBlockOptin = optin;
        device.reservedSharedMemPerBlock = reserved;
        kernel.maxThreadsPerBlock = max_threads_block;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = static_shared;
        kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = dynamic_shared;
        kernel.numBlockBarriers = barriers;
        state.carveoutConfig = carveout;
        state.cacheConfig = (cudaOccCacheConfig)cache;
        int status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, block, dynamic_shared);
        printf("%d %d %u %d %d\n", status, result.activeBlocksPerMultiprocessor, result.limitingFactors,
               result.allocatedRegistersPerBlock, (int)result.allocatedSharedMemPerBlock);
    }
    return 0;
}
