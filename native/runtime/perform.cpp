// What a stream does with each kind of work.
#include <fcntl.h>

#include <cstring>

#include "runtime/call.h"
#include "runtime/client.h"

namespace warpwatt::runtime {

namespace {

using message::Type;

constexpr std::size_t kPunchedBytes = std::size_t{1} << 20;  // zeros that are cheaper as no memory at all
constexpr std::size_t kMovedBytes = std::size_t{1} << 20;    // at most, where times alone are wanted

message::Copy kind_of(const CopyWork& work) {
    if (work.between_peers) return message::Copy::kPeerToPeer;
    switch (work.kind) {
        case cudaMemcpyHostToDevice:
            return message::Copy::kHostToDevice;
        case cudaMemcpyDeviceToHost:
            return message::Copy::kDeviceToHost;
        case cudaMemcpyDeviceToDevice:
            return message::Copy::kDeviceToDevice;
        default:
            return message::Copy::kHostToHost;
    }
}

// Rows as long as the whole where they adjoin.
template <typename Each>
void for_each_row(std::size_t height, std::size_t depth, Each&& each) {
    for (std::size_t z = 0; z < depth; ++z)
        for (std::size_t y = 0; y < height; ++y) each(y, z);
}

void fill_row(char* row, const FillWork& work) {
    if (work.value_bytes == 1) {
        std::memset(row, static_cast<int>(work.value), work.width);
        return;
    }
    for (std::size_t x = 0; x < work.width; x += work.value_bytes)
        std::memcpy(row + x, &work.value, work.value_bytes);
}

}  // namespace

cudaError_t Client::submit(Stream& stream, Work work) {
    if (!stream.capture) return perform(stream, work);
    GraphNode& node = stream.capture->graph->add(std::move(work), stream.last_nodes);
    stream.last_nodes = {&node};
    return cudaSuccess;
}

cudaError_t Client::perform(Stream& stream, const Work& work) {
    return std::visit([&](const auto& known) { return perform_one(stream, known); }, work);
}

cudaError_t Client::perform_one(Stream& stream, const KernelWork& work) {
    message::Launch record{work.function->number,
                           stream.number,
                           work.dynamic_shared_bytes,
                           {work.grid.x, work.grid.y, work.grid.z},
                           {work.block.x, work.block.y, work.block.z},
                           {work.cluster.x, work.cluster.y, work.cluster.z},
                           work.cooperative ? message::kCooperative : 0,
                           static_cast<std::uint32_t>(stream.device),
                           static_cast<std::uint32_t>(work.priority)};
    connection.send(Type::kLaunch, record, work.parameters);
    launches_pending = true;
    host_clock().advance(devices[static_cast<std::size_t>(stream.device)].number("launchCallNanoseconds"));
    return connection.is_lost() ? take({cudaErrorDevicesUnavailable, 0, {}}) : cudaSuccess;
}

bool Client::is_for_device(std::initializer_list<std::uint64_t> addresses, bool is_linear) {
    if (!launches_pending || !is_linear) return false;
    for (std::uint64_t address : addresses)
        if (!is_device_memory(address)) return false;
    return true;
}

cudaError_t Client::perform_one(Stream& stream, const CopyWork& work) {
    bool is_pageable = !arena.contains(work.to.address) || !arena.contains(work.from.address);
    bool by_device = is_for_device({work.to.address, work.from.address}, work.is_linear());
    bool is_moved = !by_device && (!timing_only || work.bytes() <= kMovedBytes);
    if (is_moved) {
        bool stays = is_device_memory(work.to.address);  // what is lost may be moved, but not read
        if (cudaError_t error = make_current(work.from.address, work.bytes(), stays)) return error;
        const char* from = arena.host(work.from.address);
        char* to = arena.host(work.to.address);
        if (work.is_linear()) {
            std::memmove(to, from, work.bytes());
        } else {
            for_each_row(work.height, work.depth, [&](std::size_t y, std::size_t z) {
                std::memmove(to + z * work.to.slice + y * work.to.pitch,
                             from + z * work.from.slice + y * work.from.pitch, work.width);
            });
        }
    }
    std::uint32_t flags = (work.asynchronous ? message::kAsynchronous : 0) |
                          (is_pageable ? message::kPageable : 0) | (by_device ? message::kByDevice : 0) |
                          (is_moved || by_device ? 0 : message::kNotMoved);
    message::CopyRecord record{work.to.address,
                               work.from.address,
                               work.bytes(),
                               stream.number,
                               kind_of(work),
                               flags,
                               0,
                               0,
                               static_cast<std::uint32_t>(work.device),
                               static_cast<std::uint32_t>(work.destination_device)};
    if (!by_device && (!work.asynchronous || is_pageable)) return ask(Type::kCopy, record);
    connection.send(Type::kCopy, record);
    return cudaSuccess;
}

cudaError_t Client::perform_one(Stream& stream, const FillWork& work) {
    bool by_device = is_for_device({work.to.address}, work.is_linear());
    bool is_zero = work.value == 0 && work.is_linear();
    bool is_moved = !by_device && (!timing_only || is_zero || work.bytes() <= kMovedBytes);
    if (is_moved) {
        if (cudaError_t error = make_current(work.to.address, work.bytes(), true)) return error;
        char* to = arena.host(work.to.address);
        if (is_zero && work.bytes() >= kPunchedBytes && arena.contains(work.to.address)) {
            fallocate(arena.file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(arena.offset(work.to.address)), static_cast<off_t>(work.bytes()));
        } else {
            for_each_row(work.height, work.depth, [&](std::size_t y, std::size_t z) {
                fill_row(to + z * work.to.slice + y * work.to.pitch, work);
            });
        }
    }
    std::uint32_t flags = (work.asynchronous ? message::kAsynchronous : 0) |
                          (by_device ? message::kByDevice : 0) |
                          (is_moved || by_device ? 0 : message::kNotMoved);
    connection.send(
        Type::kCopy,
        message::CopyRecord{work.to.address, 0, work.bytes(), stream.number, message::Copy::kFill, flags,
                            work.value, work.value_bytes, static_cast<std::uint32_t>(stream.device), 0});
    return cudaSuccess;
}

cudaError_t Client::call_host(Stream& stream, const std::function<void()>& function) {
    cudaError_t error = ask(Type::kHostFunction, message::HostFunction{stream.number});
    if (!error) Entry::run_outside(function);
    return error;
}

cudaError_t Client::perform_one(Stream& stream, const HostWork& work) {
    return call_host(stream, [work] { work.function(work.argument); });
}

cudaError_t Client::perform_one(Stream& stream, const CallbackWork& work) {
    return call_host(stream, [work] { work.function(work.stream, cudaSuccess, work.argument); });
}

cudaError_t Client::perform_one(Stream& stream, const EventRecordWork& work) {
    work.event->is_recorded = true;
    connection.send(Type::kEventRecord, message::EventRecord{work.event->number, stream.number});
    return cudaSuccess;
}

cudaError_t Client::perform_one(Stream& stream, const EventWaitWork& work) {
    if (work.event->is_recorded)
        connection.send(Type::kStreamWait, message::StreamWait{stream.number, work.event->number});
    return cudaSuccess;
}

// A graph's own memory is there from the time when its node is added until it is freed, and again.
cudaError_t Client::perform_one(Stream& stream, const AllocateWork& work) {
    if (!allocations.at(work.address))
        announce({work.address, work.bytes, message::Memory::kPool, stream.device, 0, nullptr, stream.number,
                  nullptr, false});
    return cudaSuccess;
}

cudaError_t Client::perform_one(Stream& stream, const FreeWork& work) {
    return free(work.address, stream.number);
}

cudaError_t Client::perform_one(Stream& stream, const PrefetchWork& work) {
    connection.send(Type::kCopy, message::CopyRecord{work.address, work.address, work.bytes, stream.number,
                                                     message::Copy::kPrefetch, message::kAsynchronous, 0, 0,
                                                     static_cast<std::uint32_t>(stream.device), 0});
    return cudaSuccess;
}

cudaError_t Client::perform_one(Stream& stream, const ChildWork& work) {
    for (const GraphNode* node : work.graph->in_order())
        if (cudaError_t error = perform(stream, node->work)) return error;
    return cudaSuccess;
}

cudaError_t Client::perform_one(Stream&, const EmptyWork&) { return cudaSuccess; }

cudaError_t Client::set_conditions(const Graph& graph) {
    for (const Condition& condition : graph.conditions) {
        if (cudaError_t error = make_current(condition.handle, sizeof condition.initial, true)) return error;
        std::memcpy(arena.host(condition.handle), &condition.initial, sizeof condition.initial);
    }
    for (auto& child : graph.children)
        if (cudaError_t error = set_conditions(*child)) return error;
    return cudaSuccess;
}

// The value is read after all that comes before in the stream: the first time, and after every turn of a
// loop.
cudaError_t Client::perform_one(Stream& stream, const ConditionalWork& work) {
    for (;;) {
        std::uint32_t value;
        if (cudaError_t error = make_current(work.handle, sizeof value, false)) return error;
        std::memcpy(&value, arena.host(work.handle), sizeof value);
        std::size_t chosen = work.type == ConditionalWork::kSwitch ? value : value == 0;
        if (chosen >= work.bodies.size()) return cudaSuccess;
        if (cudaError_t error = perform_one(stream, ChildWork{work.bodies[chosen]})) return error;
        if (work.type != ConditionalWork::kWhile) return cudaSuccess;
    }
}

cudaError_t Client::launch_graph(const GraphExec& exec, Stream& stream) {
    auto count = static_cast<std::uint32_t>(exec.order.size());
    connection.send(Type::kGraphLaunch, message::GraphLaunch{exec.number, stream.number, count, 0});
    cudaError_t error = set_conditions(*exec.graph);
    connection.set_in_graph(true);
    for (const GraphNode* node : exec.order)
        if (!error && node->enabled) error = perform(stream, node->work);
    connection.set_in_graph(false);
    return error;
}

}  // namespace warpwatt::runtime
