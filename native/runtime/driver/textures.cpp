// Driver API: arrays, texture and surface objects.
#include <algorithm>

#include "runtime/driver/driver.h"

namespace warpwatt::runtime {

namespace {

struct Format {  // CUarray_format
    int number, bits, kind;
};
constexpr Format kFormats[] = {{0x01, 8, 1},  {0x02, 16, 1}, {0x03, 32, 1}, {0x08, 8, 0},
                               {0x09, 16, 0}, {0x0a, 32, 0}, {0x10, 16, 2}, {0x20, 32, 2}};

cudaChannelFormatDesc channels_of(int format, unsigned count) {
    auto found = std::ranges::find(kFormats, format, &Format::number);
    if (found == std::end(kFormats)) return {};
    auto bits = [&](unsigned channel) { return channel < count ? found->bits : 0; };
    return {bits(0), bits(1), bits(2), bits(3), found->kind};
}

cudaResourceDesc resource_of(const CUDA_RESOURCE_DESC& resource) {
    cudaResourceDesc found{};
    found.resType = resource.resType;
    switch (static_cast<message::Resource>(resource.resType)) {
        case message::Resource::kArray:
        case message::Resource::kMipmappedArray:
            found.res.array.array = resource.res.array.hArray;
            break;
        case message::Resource::kLinear: {
            const auto& linear = resource.res.linear;
            found.res.linear = {pointer_of(linear.devPtr), channels_of(linear.format, linear.numChannels),
                                linear.sizeInBytes};
            break;
        }
        case message::Resource::kPitch2d: {
            const auto& rows = resource.res.pitch2D;
            found.res.pitch2D = {pointer_of(rows.devPtr), channels_of(rows.format, rows.numChannels),
                                 rows.width, rows.height, rows.pitchInBytes};
            break;
        }
    }
    return found;
}

int channel_kind(Client& client, const cudaResourceDesc& resource) {
    if (resource.resType > 1) return resource.res.linear.desc.f;  // where pitch2D has its own
    Array* array = client.arrays.find(resource.res.array.array);
    return array ? array->channels.f : 0;
}

constexpr unsigned kReadAsInteger = 1, kNormalized = 2, kSrgb = 0x10;  // CU_TRSF_...
constexpr int kFloats = 2;                                             // cudaChannelFormatKindFloat

}  // namespace

RUNTIME_API CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* wanted) {
    cudaChannelFormatDesc channels = channels_of(wanted->Format, wanted->NumChannels);
    return result(
        cudaMalloc3DArray(array, &channels, {wanted->Width, wanted->Height, wanted->Depth}, wanted->Flags));
}

RUNTIME_API CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* wanted) {
    cudaChannelFormatDesc channels = channels_of(wanted->Format, wanted->NumChannels);
    return result(cudaMallocArray(array, &channels, wanted->Width, wanted->Height, 0));
}

RUNTIME_API CUresult cuArrayDestroy(CUarray array) { return result(cudaFreeArray(array)); }

RUNTIME_API CUresult cuTexObjectCreate(cudaTextureObject_t* handle, const CUDA_RESOURCE_DESC* resource,
                                       const CUDA_TEXTURE_DESC* wanted, const cudaResourceViewDesc* view) {
    cudaResourceDesc found = resource_of(*resource);
    cudaTextureDesc texture{};
    std::copy(std::begin(wanted->addressMode), std::end(wanted->addressMode), texture.addressMode);
    std::copy(std::begin(wanted->borderColor), std::end(wanted->borderColor), texture.borderColor);
    texture.filterMode = wanted->filterMode;
    texture.normalizedCoords = (wanted->flags & kNormalized) != 0;
    texture.sRGB = (wanted->flags & kSrgb) != 0;
    CUresult error = driver_call([&](Client& client) {
        texture.readMode = !(wanted->flags & kReadAsInteger) && channel_kind(client, found) != kFloats;
        return cudaSuccess;
    });
    return error ? error : result(cudaCreateTextureObject(handle, &found, &texture, view));
}

RUNTIME_API CUresult cuTexObjectDestroy(cudaTextureObject_t handle) {
    return result(cudaDestroyTextureObject(handle));
}

RUNTIME_API CUresult cuSurfObjectCreate(cudaSurfaceObject_t* handle, const CUDA_RESOURCE_DESC* resource) {
    cudaResourceDesc found = resource_of(*resource);
    return result(cudaCreateSurfaceObject(handle, &found));
}

RUNTIME_API CUresult cuSurfObjectDestroy(cudaSurfaceObject_t handle) {
    return result(cudaDestroySurfaceObject(handle));
}

}  // namespace warpwatt::runtime
