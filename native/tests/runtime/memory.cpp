// Allocations and copies: what programs see, and that the device sees the same bytes.
#include <cstring>
#include <set>
#include <vector>

#include "tests/runtime/module.h"

using namespace warpwatt::runtime;
using namespace warpwatt::test;
using message::Type;

namespace {

std::vector<char> pattern(std::size_t bytes) {
    std::vector<char> found(bytes);
    for (std::size_t i = 0; i < bytes; ++i) found[i] = static_cast<char>(i * 7 + i / 251);
    return found;
}

void test_linear_copies(FakeDevice& device) {
    auto bytes = pattern(100'000);
    void *one, *other;
    CHECK(cudaMalloc(&one, bytes.size()) == cudaSuccess);
    CHECK(cudaMalloc(&other, bytes.size()) == cudaSuccess);
    CHECK(reinterpret_cast<std::uint64_t>(one) % 256 == 0);
    CHECK(cudaMemcpy(one, bytes.data(), bytes.size(), cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(std::memcmp(device.at(one), bytes.data(), bytes.size()) == 0);
    CHECK(cudaMemcpy(other, one, bytes.size(), cudaMemcpyDefault) == cudaSuccess);
    std::vector<char> back(bytes.size());
    CHECK(cudaMemcpy(back.data(), other, back.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(back == bytes);
    auto copy = last_of(device.take(), Type::kCopy)->record<message::CopyRecord>();
    CHECK(copy.kind == message::Copy::kDeviceToHost && copy.size == bytes.size() &&
          copy.flags == message::kPageable);
    CHECK(cudaMemcpy(one, bytes.data(), bytes.size() + 512, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(back.data(), bytes.data(), 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(one, bytes.data(), 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaFree(one) == cudaSuccess && cudaFree(other) == cudaSuccess);
    CHECK(cudaFree(one) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(one, bytes.data(), 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
}

void test_rows(FakeDevice& device) {
    constexpr std::size_t kWidth = 100, kHeight = 7;
    auto bytes = pattern(kWidth * kHeight);
    void* rows;
    std::size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, kWidth, kHeight) == cudaSuccess);
    CHECK(pitch % 512 == 0 && pitch >= kWidth);
    CHECK(cudaMemset2D(rows, pitch, 0x5a, pitch, kHeight) == cudaSuccess);
    CHECK(cudaMemcpy2D(rows, pitch, bytes.data(), kWidth, kWidth, kHeight, cudaMemcpyHostToDevice) ==
          cudaSuccess);
    for (std::size_t y = 0; y < kHeight; ++y) {
        CHECK(std::memcmp(device.at(rows) + y * pitch, &bytes[y * kWidth], kWidth) == 0);
        CHECK(device.at(rows)[y * pitch + kWidth] == 0x5a);
    }
    CHECK(cudaMemcpy2D(rows, 10, bytes.data(), kWidth, kWidth, 2, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidPitchValue);
    CHECK(cudaFree(rows) == cudaSuccess);
}

// A box of a 3-D array, element by element.
void test_3d_arrays() {
    constexpr std::size_t kX = 5, kY = 4, kZ = 3;
    cudaChannelFormatDesc floats{32, 0, 0, 0, 2};
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &floats, {kX, kY, kZ}, 0) == cudaSuccess);
    std::vector<float> in(kX * kY * kZ), out(2 * 2 * 2);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
    cudaMemcpy3DParms into{};
    into.srcPtr = {in.data(), kX * sizeof(float), kX, kY};
    into.dstArray = array;
    into.extent = {kX, kY, kZ};
    into.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&into) == cudaSuccess);
    cudaMemcpy3DParms from{};
    from.srcArray = array;
    from.srcPos = {1, 2, 1};
    from.dstPtr = {out.data(), 2 * sizeof(float), 2, 2};
    from.extent = {2, 2, 2};
    from.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&from) == cudaSuccess);
    for (std::size_t z = 0; z < 2; ++z)
        for (std::size_t y = 0; y < 2; ++y)
            for (std::size_t x = 0; x < 2; ++x)
                CHECK(out[(z * 2 + y) * 2 + x] == in[((z + 1) * kY + y + 2) * kX + x + 1]);
    CHECK(cudaFreeArray(array) == cudaSuccess);
}

void test_host_memory(FakeDevice& device) {
    void *managed, *pinned, *seen;
    CHECK(cudaMallocManaged(&managed, 10, 1) == cudaSuccess);
    std::memcpy(managed, "managed", 8);
    CHECK(std::strcmp(device.at(managed), "managed") == 0);
    CHECK(cudaHostAlloc(&pinned, 10, 2) == cudaSuccess);
    std::memcpy(pinned, "pinned", 7);
    CHECK(cudaHostGetDevicePointer(&seen, pinned, 0) == cudaSuccess && seen == pinned);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, static_cast<char*>(managed) + 3) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeManaged && attributes.device == 0);
    CHECK(cudaPointerGetAttributes(&attributes, &attributes) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeUnregistered && !attributes.devicePointer);
    CHECK(cudaFree(managed) == cudaSuccess && cudaFreeHost(pinned) == cudaSuccess);

    std::vector<char> own(10'000, 'a');
    CHECK(cudaHostRegister(own.data() + 100, 5'000, 0) == cudaSuccess);
    CHECK(cudaHostGetDevicePointer(&seen, own.data() + 100, 0) == cudaSuccess);
    CHECK(*device.at(seen) == 'a');
    own[100] = 'b';
    CHECK(*device.at(seen) == 'b');
    *device.at(seen) = 'c';
    CHECK(own[100] == 'c');
    CHECK(cudaHostUnregister(own.data() + 100) == cudaSuccess);
    CHECK(own[100] == 'c' && own[99] == 'a' && own[9'999] == 'a');
    CHECK(cudaHostUnregister(own.data() + 100) == cudaErrorHostMemoryNotRegistered);
}

// The same as a set of ranges that never overlap, and all memory comes back.
void test_allocator() {
    std::size_t before, after, total;
    CHECK(cudaMemGetInfo(&before, &total) == cudaSuccess && total == 1 << 30);
    std::vector<std::pair<char*, std::size_t>> live;
    std::set<char*> begins;
    for (std::size_t step = 0; step < 400; ++step) {
        std::size_t bytes = step * 7919 % 5000 + 1;
        void* pointer;
        CHECK(cudaMalloc(&pointer, bytes) == cudaSuccess);
        live.emplace_back(static_cast<char*>(pointer), bytes);
        for (std::size_t i = 0; i + 1 < live.size(); ++i)
            CHECK(live[i].first + live[i].second <= live.back().first ||
                  live.back().first + bytes <= live[i].first);
        if (step % 3 == 0) {
            CHECK(cudaFree(live[step / 3 % live.size()].first) == cudaSuccess);
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(step / 3 % live.size()));
        }
    }
    for (auto& [pointer, bytes] : live) CHECK(cudaFree(pointer) == cudaSuccess);
    CHECK(cudaMemGetInfo(&after, &total) == cudaSuccess && after == before);
    void* pointer;
    CHECK(cudaMalloc(&pointer, total + 1) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaMalloc(&pointer, total) == cudaSuccess && cudaFree(pointer) == cudaSuccess);
}

}  // namespace

int main() {
    FakeDevice device;
    test_linear_copies(device);
    test_rows(device);
    test_3d_arrays();
    test_host_memory(device);
    cudaGetLastError();
    test_allocator();
    return failures();
}
