// Texture and surface objects: kernels get a number, the device what it stands for.
#include <algorithm>

#include "runtime/api.h"
#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

using message::Resource;

void describe(const Array& array, message::Texture* record) {
    record->address = array.address;
    record->width = array.extent.width;
    record->height = array.extent.height;
    record->depth = array.extent.depth;
    record->pitch = array.pitch;
    record->slice_pitch = array.slice();
    record->levels = array.levels;
    record->flags |= (array.flags & kArrayLayered ? message::kLayered : 0) |
                     (array.flags & kArrayCubemap ? message::kCubemap : 0);
}

void describe(const cudaChannelFormatDesc& channels, message::Texture* record) {
    const int bits[] = {channels.x, channels.y, channels.z, channels.w};
    std::copy(std::begin(bits), std::end(bits), record->channel_bits.begin());
    record->channel_kind = static_cast<std::uint32_t>(channels.f);
}

std::size_t element_bytes(const cudaChannelFormatDesc& channels) {
    return static_cast<std::size_t>(std::max(8, channels.x + channels.y + channels.z + channels.w)) / 8;
}

cudaError_t describe(Client& client, const cudaResourceDesc& resource, message::Texture* record) {
    record->resource = static_cast<Resource>(resource.resType);
    switch (record->resource) {
        case Resource::kArray:
        case Resource::kMipmappedArray: {
            Array* array = client.arrays.find(resource.res.array.array);
            if (!array) return cudaErrorInvalidValue;
            describe(*array, record);
            describe(array->channels, record);
            return cudaSuccess;
        }
        case Resource::kLinear: {
            const auto& linear = resource.res.linear;
            record->address = number_of(linear.devPtr);
            record->width = linear.sizeInBytes / element_bytes(linear.desc);
            describe(linear.desc, record);
            return cudaSuccess;
        }
        case Resource::kPitch2d: {
            const auto& rows = resource.res.pitch2D;
            record->address = number_of(rows.devPtr);
            record->width = rows.width;
            record->height = rows.height;
            record->pitch = rows.pitchInBytes;
            describe(rows.desc, record);
            return cudaSuccess;
        }
    }
    return cudaErrorInvalidValue;
}

void describe(const cudaTextureDesc& texture, message::Texture* record) {
    std::copy(std::begin(texture.addressMode), std::end(texture.addressMode), record->address_modes.begin());
    std::copy(std::begin(texture.borderColor), std::end(texture.borderColor), record->border.begin());
    record->flags |= (texture.normalizedCoords ? message::kNormalizedCoordinates : 0) |
                     (texture.filterMode ? message::kLinearFilter : 0) |
                     (texture.readMode ? message::kNormalizedFloat : 0) | (texture.sRGB ? message::kSrgb : 0);
}

cudaError_t create(Client& client, TextureObject object, std::uint32_t flags, unsigned long long* handle) {
    message::Texture record{};
    record.flags = flags;
    record.device = static_cast<std::uint32_t>(client.device_number());
    if (cudaError_t error = describe(client, object.resource, &record)) return error;
    if (!(flags & message::kSurface)) describe(object.texture, &record);
    record.handle = *handle = ++client.last_number;
    client.textures[record.handle] = object;
    client.connection.send(message::Type::kTexture, record);
    return cudaSuccess;
}

cudaError_t destroy(unsigned long long handle) {
    return call([&](Client& client) {
        if (!client.textures.erase(handle)) return cudaErrorInvalidValue;
        client.connection.send(message::Type::kTextureDestroy, message::TextureDestroy{handle});
        return cudaSuccess;
    });
}

template <typename Body>
cudaError_t call_with(unsigned long long handle, Body&& body) {
    return call([&](Client& client) {
        auto found = client.textures.find(handle);
        if (found == client.textures.end()) return cudaErrorInvalidValue;
        body(found->second);
        return cudaSuccess;
    });
}

}  // namespace

RUNTIME_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* handle, const cudaResourceDesc* resource,
                                                const cudaTextureDesc* texture,
                                                const cudaResourceViewDesc* view) {
    return call([&](Client& client) {
        if (!handle || !resource || !texture) return cudaErrorInvalidValue;
        TextureObject object{*resource, *texture, {}, view != nullptr};
        if (view) object.view = *view;
        return create(client, object, 0, handle);
    });
}

RUNTIME_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* handle,
                                                const cudaResourceDesc* resource) {
    return call([&](Client& client) {
        if (!handle || !resource) return cudaErrorInvalidValue;
        return create(client, {*resource, {}, {}, false}, message::kSurface, handle);
    });
}

RUNTIME_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) { return destroy(handle); }
RUNTIME_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) { return destroy(handle); }

RUNTIME_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                                         cudaTextureObject_t handle) {
    return call_with(handle, [&](const TextureObject& object) { *resource = object.resource; });
}

RUNTIME_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                                         cudaSurfaceObject_t handle) {
    return call_with(handle, [&](const TextureObject& object) { *resource = object.resource; });
}

RUNTIME_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture,
                                                        cudaTextureObject_t handle) {
    return call_with(handle, [&](const TextureObject& object) { *texture = object.texture; });
}

RUNTIME_API cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                             cudaTextureObject_t handle) {
    return call_with(handle, [&](const TextureObject& object) { *view = object.view; });
}

}  // namespace warpwatt::runtime
