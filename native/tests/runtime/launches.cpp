// Launches: what the device gets, what is refused, and what memory waits for.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "tests/runtime/module.h"

using namespace warpwatt::runtime;
using namespace warpwatt::test;
using message::Type;

namespace {

struct Arguments {
    void* x;
    int n = 5;
    double a = 2.5;
    void* pointers[3] = {&x, &n, &a};
};

void test_what_the_device_gets(FakeDevice& device, RegisteredModule& module, Arguments& arguments) {
    device.take();
    CHECK(cudaLaunchKernel(&module.kernel, {7, 2, 1}, {64, 1, 1}, arguments.pointers, 2048, nullptr) ==
          cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    auto received = device.take();
    const Received* sent = last_of(received, Type::kLaunch);
    auto launch = sent->record<message::Launch>();
    CHECK(launch.grid[0] == 7 && launch.grid[1] == 2 && launch.block[0] == 64 && launch.cluster[0] == 0);
    CHECK(launch.dynamic_shared_bytes == 2048 && launch.stream == 0);
    std::string parameters = sent->bytes.substr(sizeof launch);
    CHECK(parameters.size() == 24);
    CHECK(std::memcmp(&parameters[0], &arguments.x, 8) == 0 &&
          std::memcmp(&parameters[8], &arguments.n, 4) == 0);
    CHECK(std::memcmp(&parameters[16], &arguments.a, 8) == 0);
    auto function = last_of(received, Type::kFunction);
    CHECK(function->bytes.substr(sizeof(message::Function)) == "scale");
    CHECK(function->record<message::Function>().function == launch.function);
    CHECK(count_of(received, Type::kModule) == 1);
}

bool is_refused(const Received& one) {
    return one.header.type == Type::kLaunch && one.record<message::Launch>().flags == message::kRefused;
}

void test_what_is_refused(FakeDevice& device, RegisteredModule& module, Arguments& arguments) {
    auto launch = [&](dim3 grid, dim3 block, std::size_t shared) {
        return cudaLaunchKernel(&module.kernel, grid, block, arguments.pointers, shared, nullptr);
    };
    device.take();
    CHECK(launch({0, 1, 1}, {32, 1, 1}, 0) == cudaErrorInvalidConfiguration);
    CHECK(launch({1, 65536, 1}, {32, 1, 1}, 0) == cudaErrorInvalidConfiguration);
    CHECK(launch({1, 1, 1}, {1, 1, 65}, 0) == cudaErrorInvalidConfiguration);
    CHECK(launch({1, 1, 1}, {33, 32, 1}, 0) == cudaErrorInvalidConfiguration);
    CHECK(launch({1, 1, 1}, {513, 1, 1}, 0) == cudaErrorLaunchOutOfResources);
    CHECK(launch({1, 1, 1}, {32, 1, 1}, 48 * 1024) == cudaErrorInvalidValue);
    CHECK(launch({1, 1, 1}, {32, 1, 1}, 47 * 1024) == cudaSuccess);
    CHECK(cudaFuncSetAttribute(&module.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448) ==
          cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(&module.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100'000) ==
          cudaSuccess);
    CHECK(launch({1, 1, 1}, {32, 1, 1}, 100'000) == cudaSuccess);
    CHECK(cudaLaunchKernel(&device, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr) ==
          cudaErrorInvalidDeviceFunction);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDeviceFunction);
    CHECK(cudaGetLastError() == cudaErrorInvalidDeviceFunction && cudaGetLastError() == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    auto received = device.take();
    CHECK(count_of(received, Type::kLaunch) == 8);  // the device is told of those that are refused
    CHECK(std::count_if(received.begin(), received.end(), is_refused) == 6);
}

void test_clusters_and_cooperation(FakeDevice& device, RegisteredModule& module, Arguments& arguments) {
    cudaLaunchAttribute cluster{cudaLaunchAttributeClusterDimension, {}, {}};
    cluster.val.clusterDim = {2, 1, 1};
    cudaLaunchConfig_t config{{4, 1, 1}, {32, 1, 1}, 0, nullptr, &cluster, 1};
    CHECK(cudaLaunchKernelExC(&config, &module.kernel, arguments.pointers) == cudaSuccess);
    config.gridDim.x = 5;
    CHECK(cudaLaunchKernelExC(&config, &module.kernel, arguments.pointers) == cudaErrorInvalidConfiguration);
    cluster.val.clusterDim = {16, 1, 1};
    config.gridDim.x = 16;
    CHECK(cudaLaunchKernelExC(&config, &module.kernel, arguments.pointers) == cudaErrorInvalidClusterSize);
    device.on(Type::kOccupancy,
              [](const Received&) { return Answer{0, 0, text_of(message::OccupancyReply{3, 0})}; });
    auto cooperate = [&](unsigned blocks) {
        return cudaLaunchCooperativeKernel(&module.kernel, {blocks, 1, 1}, {32, 1, 1}, arguments.pointers, 0,
                                           nullptr);
    };
    CHECK(cooperate(12) == cudaSuccess);  // 4 SMs of 3 blocks
    CHECK(cooperate(13) == cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    auto received = device.take();
    CHECK(is_refused(*last_of(received, Type::kLaunch)));
    received.erase(std::remove_if(received.begin(), received.end(), is_refused), received.end());
    auto launch = last_of(received, Type::kLaunch)->record<message::Launch>();
    CHECK(launch.flags == message::kCooperative && launch.grid[0] == 12);
    cudaGetLastError();
}

// Memory is asked for once after launches, until the device says that none is pending.
void test_laziness(FakeDevice& device, RegisteredModule& module, Arguments& arguments) {
    char host[16] = {};
    void* other;
    CHECK(cudaMalloc(&other, 1024) == cudaSuccess);
    device.on(Type::kAccess, [&](const Received&) {
        std::memcpy(device.at(arguments.x), "computed", 8);
        return Answer{0, 0, "printed\n", 5'000'000};
    });
    device.take();
    CHECK(cudaLaunchKernel(&module.kernel, {1, 1, 1}, {32, 1, 1}, arguments.pointers, 0, nullptr) ==
          cudaSuccess);
    CHECK(cudaMemcpy(other, arguments.x, 16, cudaMemcpyDeviceToDevice) == cudaSuccess);
    CHECK(cudaMemset(other, 3, 1024) == cudaSuccess);
    CHECK(cudaMemcpy(host, arguments.x, 16, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(std::memcmp(host, "computed", 8) == 0);
    CHECK(cudaMemcpy(host, arguments.x, 16, cudaMemcpyDeviceToHost) == cudaSuccess);
    auto received = device.take();
    CHECK(count_of(received, Type::kAccess) == 1);
    std::vector<message::CopyRecord> copies;
    for (const Received& one : received)
        if (one.header.type == Type::kCopy) copies.push_back(one.record<message::CopyRecord>());
    CHECK(copies.size() == 4);
    CHECK(copies[0].flags == message::kByDevice && copies[1].flags == message::kByDevice);
    CHECK(copies[1].kind == message::Copy::kFill && copies[1].value == 3);
    CHECK(*device.at(other) == 0);  // neither moved nor filled by the client
    CHECK(cudaFree(other) == cudaSuccess);
}

void test_clock(FakeDevice& device) {
    using namespace std::chrono_literals;
    device.on(Type::kSynchronize, [](const Received&) { return Answer{0, 0, "", 3'000'000'000}; });
    auto start = std::chrono::steady_clock::now();
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    auto taken = std::chrono::steady_clock::now() - start;
    CHECK(taken >= 3s && taken < 3100ms);
    auto first = device.take().back().header.host_time_ns;
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    auto later = device.take().back().header.host_time_ns;
    CHECK(later - first >= 3'000'000'000 && later - first < 3'100'000'000);
    device.on(Type::kSynchronize, [](const Received&) { return Answer{}; });
}

// An error of the device stays, until it is reset.
void test_sticky_errors(FakeDevice& device) {
    device.on(Type::kSynchronize, [](const Received&) { return Answer{cudaErrorIllegalAddress, 0, ""}; });
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    void* pointer;
    CHECK(cudaMalloc(&pointer, 1) == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress && cudaGetLastError() == cudaErrorIllegalAddress);
    device.on(Type::kSynchronize, [](const Received&) { return Answer{}; });
    CHECK(cudaDeviceReset() == cudaSuccess && cudaGetLastError() == cudaSuccess);
    CHECK(cudaMalloc(&pointer, 1) == cudaSuccess);
}

void test_variables(FakeDevice& device, RegisteredModule& module) {
    void* pointer;
    CHECK(cudaGetSymbolAddress(&pointer, &module.variable) == cudaSuccess);
    CHECK(std::strcmp(device.at(pointer), "initial") == 0);
    CHECK(cudaMemcpyToSymbol(&module.variable, "changed", 8, 4, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(std::memcmp(device.at(pointer), "initchanged", 11) == 0);
    CHECK(cudaMemcpyToSymbol(&module.variable, "changed", 8, 60, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    CHECK(cudaGetSymbolAddress(&pointer, &device) == cudaErrorInvalidSymbol);
    cudaGetLastError();
}

void test_properties() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
    CHECK(std::strcmp(properties.name, "Test GPU") == 0 && properties.uuid.bytes[15] == char(0xff));
    CHECK(properties.maxThreadsDim[2] == 64 && properties.maxGridSize[1] == 65535 && properties.major == 9);
    int value;
    CHECK(cudaDeviceGetAttribute(&value, 4, 0) == cudaSuccess && value == 64);
    CHECK(cudaDeviceGetAttribute(&value, 13, 0) == cudaSuccess && value == 1500000);
    CHECK(cudaDeviceGetAttribute(&value, 9999, 0) == cudaErrorInvalidValue);
    CHECK(cudaGetDeviceProperties(&properties, 1) == cudaErrorInvalidDevice);
    cudaGetLastError();
}

}  // namespace

int main() {
    FakeDevice device;
    RegisteredModule module;
    device.on(Type::kFunctionAttributes, describe_kernel);
    device.on(Type::kVariable, [&](const Received& received) {
        auto variable = received.record<message::Variable>();
        std::memcpy(device.at(reinterpret_cast<void*>(variable.address)), "initial", 8);
        return Answer{};
    });
    test_properties();
    Arguments arguments;
    CHECK(cudaMalloc(&arguments.x, 1024) == cudaSuccess);
    test_what_the_device_gets(device, module, arguments);
    test_variables(device, module);
    test_what_is_refused(device, module, arguments);
    test_clusters_and_cooperation(device, module, arguments);
    test_laziness(device, module, arguments);
    test_clock(device);
    test_sticky_errors(device);
    return failures();
}
