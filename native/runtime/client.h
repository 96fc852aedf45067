// The program's side of a run: everything that it created, and the device that it talks to.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>

#include "runtime/arena.h"
#include "runtime/clock.h"
#include "runtime/connection.h"
#include "runtime/device.h"
#include "runtime/graph.h"
#include "runtime/module.h"
#include "runtime/stream.h"
#include "runtime/work.h"

namespace warpwatt::runtime {

HostClock& host_clock();

struct Pool {
    int device = 0;
    std::map<int, std::uint64_t> attributes;  // cudaMemPoolAttr
    cudaMemPoolProps properties{};
};

// Objects of one kind that programs hold handles of.
template <typename T>
class Handles {
public:
    T* add(T object) {
        auto owned = std::make_unique<T>(std::move(object));
        T* handle = owned.get();
        objects_.emplace(handle, std::move(owned));
        return handle;
    }
    T* find(const T* handle) const {
        auto found = objects_.find(const_cast<T*>(handle));
        return found == objects_.end() ? nullptr : found->second.get();
    }
    bool remove(T* handle) { return objects_.erase(handle) != 0; }
    template <typename Each>
    void for_each(Each&& each) {
        for (auto& [handle, object] : objects_) each(*object);
    }

private:
    std::map<T*, std::unique_ptr<T>> objects_;
};

constexpr unsigned kArrayLayered = 1, kArrayCubemap = 4;  // cudaArrayLayered, cudaArrayCubemap

struct Array {
    cudaChannelFormatDesc channels;
    cudaExtent extent;  // in elements; 0 for dimensions that are not there
    unsigned flags = 0, levels = 1;
    std::uint64_t address = 0;
    std::size_t pitch = 0;
    int device = 0;
    bool is_level = false;  // of a mipmapped array, which owns the memory

    std::size_t element_bytes() const {
        return static_cast<std::size_t>(channels.x + channels.y + channels.z + channels.w) / 8;
    }
    std::size_t rows() const { return extent.height ? extent.height : 1; }
    std::size_t slices() const { return extent.depth ? extent.depth : 1; }
    std::size_t slice() const { return pitch * rows(); }
};

struct TextureObject {
    cudaResourceDesc resource;
    cudaTextureDesc texture;
    cudaResourceViewDesc view;
    bool has_view = false;
};

class Client {
public:
    // The one of this process.
    static Client& get();

    // Connects at the first call. Returns cudaSuccess, or why nothing can be done.
    cudaError_t start();
    bool is_started() const { return arena.is_mapped(); }
    // Says goodbye, and writes what kernels printed last.
    void end();
    // In the child of a fork: there is no device for it.
    void forget();

    int device_number() const;
    void set_device_number(int number);
    Device& device() { return devices[static_cast<std::size_t>(device_number())]; }

    // Asks the device, and takes its error and what kernels printed.
    template <typename Record>
    cudaError_t ask(message::Type type, const Record& record, std::string_view more = {}) {
        return take(connection.request(type, record, more));
    }
    cudaError_t take(const Answer& answer);
    void take_flags(const Answer& answer);

    // Memory. `allocate` returns 0 where there is none left.
    std::uint64_t allocate(std::uint64_t bytes, message::Memory kind, unsigned flags = 0,
                           std::uint64_t stream = 0);
    cudaError_t free(std::uint64_t address, std::uint64_t stream = 0);
    // The same without the arena's part: a range that is reserved becomes an allocation, or is one no more.
    void announce(const Allocation& allocation);
    cudaError_t withdraw(std::uint64_t address, std::uint64_t stream);
    // Before the host reads or writes memory: what is pending is brought to an end.
    cudaError_t make_current(std::uint64_t address, std::uint64_t bytes, bool writes);
    bool is_device_memory(std::uint64_t address);
    bool is_variable(std::uint64_t address);

    // Modules.
    void send_module(Module& module);
    // The functions and variables of a module that the device has.
    void send_symbols(Module& module);
    cudaError_t learn(Function& function);

    // Streams: the stream of a handle, or none.
    Stream* stream(cudaStream_t handle);
    Stream* add_stream(unsigned flags, int priority);
    // Does work now, or takes it into the graph that the stream captures.
    cudaError_t submit(Stream& stream, Work work);
    cudaError_t perform(Stream& stream, const Work& work);
    cudaError_t launch_graph(const GraphExec& exec, Stream& stream);
    // Calls a closed library's function; `arguments` follow the record. Writes what it returns to host
    // memory.
    message::LibraryCallReply call_library(const message::LibraryCall& call, const std::string& arguments);

    std::recursive_mutex mutex;
    Connection connection{host_clock()};
    Arena arena;
    Allocations allocations;
    std::vector<Device> devices;
    Modules modules;
    Handles<Stream> streams;
    Handles<Event> events;
    Handles<Array> arrays;
    Handles<Graph> graphs;
    Handles<GraphExec> graph_execs;
    Handles<Pool> pools;
    std::map<std::uint64_t, TextureObject> textures;
    std::map<std::uint64_t, Stream*> library_streams;  // of handles of closed libraries
    std::set<std::uint64_t> graph_allocations;         // live as long as the program
    Stream default_stream{};
    cudaError_t sticky = cudaSuccess;
    bool launches_pending = false, memory_lost = false, timing_only = false;  // as the device has said last
    std::uint64_t last_number = 0;  // of streams, events, textures, graphs

private:
    cudaError_t refuse_without_device();
    cudaError_t perform_one(Stream& stream, const KernelWork& work);
    cudaError_t perform_one(Stream& stream, const CopyWork& work);
    cudaError_t perform_one(Stream& stream, const FillWork& work);
    cudaError_t perform_one(Stream& stream, const HostWork& work);
    cudaError_t perform_one(Stream& stream, const CallbackWork& work);
    cudaError_t perform_one(Stream& stream, const EventRecordWork& work);
    cudaError_t perform_one(Stream& stream, const EventWaitWork& work);
    cudaError_t perform_one(Stream& stream, const AllocateWork& work);
    cudaError_t perform_one(Stream& stream, const FreeWork& work);
    cudaError_t perform_one(Stream& stream, const PrefetchWork& work);
    cudaError_t perform_one(Stream& stream, const ChildWork& work);
    cudaError_t perform_one(Stream& stream, const EmptyWork& work);
    cudaError_t perform_one(Stream& stream, const LibraryWork& work);
    cudaError_t perform_one(Stream& stream, const ConditionalWork& work);
    // Sets the values that conditional nodes of a graph and of graphs in it begin with.
    cudaError_t set_conditions(const Graph& graph);
    cudaError_t call_host(Stream& stream, const std::function<void()>& function);
    // Whether the device is to do what touches only its own memory, after what is pending.
    bool is_for_device(std::initializer_list<std::uint64_t> addresses, bool is_linear);

    bool said_no_device_ = false, is_forked_ = false;
};

}  // namespace warpwatt::runtime
