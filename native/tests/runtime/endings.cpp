// A device that ends, a program that forks, threads that all call at once, and no device at all.
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "tests/runtime/module.h"

using namespace warpwatt::runtime;
using namespace warpwatt::test;

namespace {

template <typename Body>
int status_of_child(Body&& body) {
    pid_t child = fork();
    if (child == 0) {
        alarm(20);  // a child that hangs fails
        body();
        std::_Exit(failures());
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

void test_no_device() {
    unsetenv(message::kSocketVariable);
    int count = -1;
    CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0);
    void* pointer;
    CHECK(cudaMalloc(&pointer, 1) == cudaErrorNoDevice && cudaGetLastError() == cudaErrorNoDevice);
}

void test_device_that_ends() {
    auto device = std::make_unique<FakeDevice>();
    void* pointer;
    CHECK(cudaMalloc(&pointer, 1) == cudaSuccess);
    device->leave();
    CHECK(cudaDeviceSynchronize() == cudaErrorDevicesUnavailable);
    CHECK(cudaMalloc(&pointer, 1) == cudaErrorDevicesUnavailable);
    CHECK(cudaGetLastError() == cudaErrorDevicesUnavailable);
}

void test_fork() {
    FakeDevice device;
    void* pointer;
    CHECK(cudaMalloc(&pointer, 1) == cudaSuccess);
    CHECK(status_of_child([&] { CHECK(cudaMalloc(&pointer, 1) == cudaErrorInitializationError); }) == 0);
    CHECK(cudaMalloc(&pointer, 1) == cudaSuccess);
}

void test_threads() {
    FakeDevice device;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([] {
            for (int step = 0; step < 200; ++step) {
                void* pointer;
                char byte = static_cast<char>(step), back = 0;
                CHECK(cudaMalloc(&pointer, 100) == cudaSuccess);
                CHECK(cudaMemcpy(pointer, &byte, 1, cudaMemcpyHostToDevice) == cudaSuccess);
                CHECK(cudaMemcpy(&back, pointer, 1, cudaMemcpyDeviceToHost) == cudaSuccess && back == byte);
                CHECK(cudaFree(pointer) == cudaSuccess);
                CHECK(cudaFree(&byte) == cudaErrorInvalidValue &&
                      cudaGetLastError() == cudaErrorInvalidValue);
                CHECK(cudaGetLastError() == cudaSuccess);  // the other threads' errors are theirs
            }
        });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

// Each in a process of its own, which has one device for ever.
int main() {
    CHECK(status_of_child(test_no_device) == 0);
    CHECK(status_of_child(test_device_that_ends) == 0);
    CHECK(status_of_child(test_fork) == 0);
    CHECK(status_of_child(test_threads) == 0);
    return failures();
}
