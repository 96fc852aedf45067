// Device management, versions and the profiler.
#include <cstdio>
#include <cstring>

#include "runtime/api.h"
#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

constexpr int kRuntimeVersion = 13050;

template <typename Body>
cudaError_t call_on(int number, Body&& body) {
    return call([&](Client& client) {
        if (number < 0 || static_cast<std::size_t>(number) >= client.devices.size())
            return cudaErrorInvalidDevice;
        return body(client.devices[static_cast<std::size_t>(number)]);
    });
}

cudaError_t synchronize_device(Client& client) {
    auto number = static_cast<std::uint32_t>(client.device_number());
    return client.ask(message::Type::kSynchronize, message::Synchronize{0, 1, number});
}

template <typename T>
cudaError_t give(T* place, T value) {
    if (!place) return cudaErrorInvalidValue;
    *place = value;
    return cudaSuccess;
}

}  // namespace

RUNTIME_API cudaError_t cudaGetDeviceCount(int* count) {
    if (count) *count = 0;
    return call([&](Client& client) { return give(count, static_cast<int>(client.devices.size())); });
}

RUNTIME_API cudaError_t cudaGetDevice(int* number) {
    return call([&](Client& client) { return give(number, client.device_number()); });
}

RUNTIME_API cudaError_t cudaSetDevice(int number) {
    return call_on(number, [&](Device&) {
        Client::get().set_device_number(number);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaInitDevice(int number, unsigned, unsigned) {
    return call_on(number, [](Device&) { return cudaSuccess; });
}

RUNTIME_API cudaError_t cudaSetValidDevices(int*, int) {
    return call([](Client&) { return cudaSuccess; });
}

RUNTIME_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int number) {
    return call_on(number, [&](Device& device) {
        device.fill(properties);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaDeviceGetAttribute(int* value, int attribute, int number) {
    return call_on(number, [&](Device& device) {
        return value && device.attribute(attribute, value) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

// The device with the most in common; ours are told apart by compute capability only.
RUNTIME_API cudaError_t cudaChooseDevice(int* number, const cudaDeviceProp* wanted) {
    return call([&](Client& client) {
        int best = 0;
        for (std::size_t i = client.devices.size(); i--;)
            if (client.devices[i].number("major") >= wanted->major) best = static_cast<int>(i);
        return give(number, best);
    });
}

RUNTIME_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
    return call([&](Client& client) {
        client.device().flags = flags;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
    constexpr unsigned kMapHost = 8;  // cudaDeviceMapHost, always set
    return call([&](Client& client) { return give(flags, client.device().flags | kMapHost); });
}

RUNTIME_API cudaError_t cudaDeviceSynchronize() { return call(synchronize_device); }
RUNTIME_API cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

RUNTIME_API cudaError_t cudaDeviceReset() {
    Entry entry;
    Client& client = Client::get();
    if (cudaError_t error = client.start()) return note(error);
    synchronize_device(client);
    client.sticky = cudaSuccess;
    last_error(true);
    auto number = client.device_number();
    std::vector<std::uint64_t> addresses;
    for (auto& [address, allocation] : client.allocations.all())
        if (allocation.device == number && !client.is_variable(address)) addresses.push_back(address);
    for (std::uint64_t address : addresses) client.free(address);
    return note(client.ask(message::Type::kReset, message::Reset{static_cast<std::uint32_t>(number), 0}));
}
RUNTIME_API cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

RUNTIME_API cudaError_t cudaDeviceGetLimit(std::size_t* value, int limit) {
    return call([&](Client& client) {
        auto found = client.device().limits.find(limit);
        return found == client.device().limits.end() ? cudaErrorUnsupportedLimit : give(value, found->second);
    });
}

RUNTIME_API cudaError_t cudaDeviceSetLimit(int limit, std::size_t value) {
    return call([&](Client& client) {
        auto found = client.device().limits.find(limit);
        if (found == client.device().limits.end()) return cudaErrorUnsupportedLimit;
        found->second = value;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaDeviceGetCacheConfig(int* config) {
    return call([&](Client& client) { return give(config, client.device().cache_config); });
}

RUNTIME_API cudaError_t cudaDeviceSetCacheConfig(int config) {
    return call([&](Client& client) {
        client.device().cache_config = config;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaDeviceGetSharedMemConfig(int* config) {
    return call([&](Client& client) { return give(config, client.device().shared_config); });
}

RUNTIME_API cudaError_t cudaDeviceSetSharedMemConfig(int) {
    return call([](Client&) { return cudaSuccess; });
}

RUNTIME_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    constexpr int kGreatest = -5;
    return call([&](Client&) {
        if (least) *least = 0;
        if (greatest) *greatest = kGreatest;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int number) {
    return call_on(number, [&](Device& device) {
        auto part = [&](const char* key) { return static_cast<unsigned>(device.number(key)); };
        std::snprintf(text, static_cast<std::size_t>(length), "%04X:%02X:%02X.0", part("pciDomainID"),
                      part("pciBusID"), part("pciDeviceID"));
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaDeviceGetByPCIBusId(int* number, const char* text) {
    return call([&](Client& client) {
        unsigned domain = 0, bus = 0, slot = 0;
        if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < client.devices.size(); ++i) {
            const Device& device = client.devices[i];
            if (device.number("pciBusID") == bus && device.number("pciDeviceID") == slot)
                return give(number, static_cast<int>(i));
        }
        return cudaErrorInvalidDevice;
    });
}

RUNTIME_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const cudaChannelFormatDesc*,
                                                             int number) {
    return call_on(number, [&](Device& device) {
        return give(width, static_cast<std::size_t>(device.number("MaxTexture1DLinearWidth")));
    });
}

RUNTIME_API cudaError_t cudaDeviceCanAccessPeer(int* can, int number, int peer) {
    return call([&](Client& client) {
        auto count = static_cast<int>(client.devices.size());
        if (number < 0 || peer < 0 || number >= count || peer >= count) return cudaErrorInvalidDevice;
        return give(can, number == peer ? 0 : 1);
    });
}

RUNTIME_API cudaError_t cudaDeviceGetP2PAttribute(int* value, int, int number, int peer) {
    return cudaDeviceCanAccessPeer(value, number, peer);
}

RUNTIME_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
    return call_on(peer, [&](Device&) {
        Client& client = Client::get();
        if (peer == client.device_number()) return cudaErrorInvalidDevice;
        return client.device().peers.insert(peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
    });
}

RUNTIME_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return call_on(peer, [&](Device&) {
        return Client::get().device().peers.erase(peer) ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
    });
}

RUNTIME_API cudaError_t cudaCtxResetPersistingL2Cache() {
    return call([](Client&) { return cudaSuccess; });
}

RUNTIME_API cudaError_t cudaRuntimeGetVersion(int* version) { return note(give(version, kRuntimeVersion)); }

RUNTIME_API cudaError_t cudaDriverGetVersion(int* version) {
    Entry entry;
    Client& client = Client::get();
    auto said = client.start() ? 0 : static_cast<int>(client.device().number("driverVersion"));
    return note(give(version, said ? said : kRuntimeVersion));
}

RUNTIME_API cudaError_t cudaProfilerStart() {
    return call([](Client& client) { return client.ask(message::Type::kProfiler, message::Profiler{1, 0}); });
}

RUNTIME_API cudaError_t cudaProfilerStop() {
    return call([](Client& client) { return client.ask(message::Type::kProfiler, message::Profiler{0, 0}); });
}

}  // namespace warpwatt::runtime
