#include "runtime/client.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <new>

#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

thread_local int this_threads_device = 0;

// One line of a program's output, as the driver writes what kernels printed.
void write_out(std::string_view text) {
    if (text.empty()) return;
    std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

HostClock& host_clock() {
    static HostClock clock;
    return clock;
}

// Lives on when the program's own static objects are destroyed, which may call us.
Client& Client::get() {
    static auto* client = new Client;
    return *client;
}

cudaError_t Client::start() {
    if (is_forked_) return cudaErrorInitializationError;
    if (is_started()) return connection.is_lost() ? cudaErrorDevicesUnavailable : cudaSuccess;
    if (said_no_device_ || !connection.open()) return refuse_without_device();
    int file = -1;
    message::Hello hello{message::kVersion, static_cast<std::uint32_t>(getpid())};
    Answer answer = connection.request(message::Type::kHello, hello, program_invocation_name, &file);
    if (answer.error || file < 0) return refuse_without_device();
    devices = devices_of(answer.after<message::HelloReply>());
    if (devices.empty() || !arena.map(file, answer.record<message::HelloReply>().arena_bytes))
        return refuse_without_device();
    pthread_atfork(nullptr, nullptr, [] { Client::get().forget(); });
    return cudaSuccess;
}

cudaError_t Client::refuse_without_device() {
    if (!said_no_device_)
        std::fprintf(stderr, "warpwatt: no device; start the program with: warpwatt run %s\n",
                     program_invocation_short_name);
    said_no_device_ = true;
    return cudaErrorNoDevice;
}

void Client::end() {
    if (is_forked_ || connection.is_lost()) return;
    connection.expect_end();
    ask(message::Type::kBye, message::Bye{});
    connection.forget();
}

// Another thread may have held the lock when the process forked.
void Client::forget() {
    connection.forget();
    is_forked_ = true;
    new (&mutex) std::recursive_mutex;
}

int Client::device_number() const { return this_threads_device; }
void Client::set_device_number(int number) { this_threads_device = number; }

void Client::take_flags(const Answer& answer) {
    launches_pending = answer.flags & message::kLaunchesPending;
    memory_lost = answer.flags & message::kMemoryLost;
    timing_only = answer.flags & message::kTimingOnly;
}

cudaError_t Client::take(const Answer& answer) {
    take_flags(answer);
    write_out(answer.text());
    auto error = static_cast<cudaError_t>(answer.error);
    bool ends_the_context = (error >= cudaErrorIllegalAddress && error <= cudaErrorLaunchTimeout &&
                             error != cudaErrorLaunchOutOfResources) ||
                            (error >= cudaErrorAssert && error <= cudaErrorLaunchFailure);
    if (ends_the_context || error == cudaErrorDevicesUnavailable) sticky = error;
    return error;
}

std::uint64_t Client::allocate(std::uint64_t bytes, message::Memory kind, unsigned flags,
                               std::uint64_t stream) {
    Allocation allocation{0, bytes, kind, device_number(), flags, nullptr, stream, nullptr, false};
    bool host_may_touch = !allocation.is_device_only();
    auto total = static_cast<std::uint64_t>(device().number("totalGlobalMem"));
    if (allocation.is_counted() && (bytes > total || device().used_bytes + bytes > total)) return 0;
    allocation.address = arena.reserve(bytes, host_may_touch);
    if (allocation.address) announce(allocation);
    return allocation.address;
}

void Client::announce(const Allocation& allocation) {
    Device& owner = devices[static_cast<std::size_t>(allocation.device)];
    if (allocation.is_counted()) owner.used_bytes += allocation.size;
    allocations.add(allocation);
    connection.send(message::Type::kAllocate,
                    message::Allocate{allocation.address, allocation.size, allocation.stream, allocation.kind,
                                      static_cast<std::uint32_t>(allocation.device)});
}

cudaError_t Client::free(std::uint64_t address, std::uint64_t stream) {
    Allocation* found = allocations.at(address);
    bool host_may_touch = found && !found->is_device_only();
    bool keeps_its_address = graph_allocations.contains(address);
    cudaError_t error = withdraw(address, stream);
    // What is still pending has use for the memory: it stays, until the program ends.
    if (found && !keeps_its_address && !launches_pending) arena.release(address, host_may_touch);
    return error;
}

// What is pending may still need the contents: the device answers when it does not.
cudaError_t Client::withdraw(std::uint64_t address, std::uint64_t stream) {
    Allocation* found = allocations.at(address);
    if (!found) return cudaErrorInvalidValue;
    message::Free record{address, stream};
    cudaError_t error = cudaSuccess;
    if (launches_pending)
        error = ask(message::Type::kFree, record);
    else
        connection.send(message::Type::kFree, record);
    if (found->is_counted()) devices[static_cast<std::size_t>(found->device)].used_bytes -= found->size;
    allocations.remove(address);
    return error;
}

cudaError_t Client::make_current(std::uint64_t address, std::uint64_t bytes, bool writes) {
    if (!launches_pending && (writes || !memory_lost)) return cudaSuccess;
    return ask(message::Type::kAccess, message::Access{address, bytes, writes, 0});
}

bool Client::is_device_memory(std::uint64_t address) {
    if (!arena.contains(address)) return false;
    Allocation* found = allocations.around(address);
    return !found || found->is_device_only();
}

bool Client::is_variable(std::uint64_t address) {
    Allocation* found = allocations.at(address);
    return found && found->of_module;
}

void Client::send_module(Module& module) {
    if (module.is_sent) return;
    std::string images;
    for (std::string_view image : module.images) images += image;
    auto count = static_cast<std::uint32_t>(module.images.size());
    connection.send(message::Type::kModule, message::Module{module.number, count, 0}, images);
    send_symbols(module);
}

void Client::send_symbols(Module& module) {
    module.is_sent = true;
    for (Function& function : module.functions)
        connection.send(message::Type::kFunction,
                        message::Function{module.number, function.number, number_of(function.host)},
                        function.name);
    for (Variable& variable : module.variables) {
        bool is_managed = variable.flags & message::kManagedVariable;
        variable.address = arena.reserve(variable.bytes, is_managed);
        auto kind = is_managed ? message::Memory::kManaged : message::Memory::kVariable;
        allocations.add(
            {variable.address, variable.bytes, kind, device_number(), 0, nullptr, 0, nullptr, true});
        message::Variable record{module.number,  number_of(variable.host), variable.address,
                                 variable.bytes, variable.flags,           0};
        ask(message::Type::kVariable, record, variable.name);
        if (variable.managed_pointer) *variable.managed_pointer = pointer_of(variable.address);
    }
}

cudaError_t Client::learn(Function& function) {
    if (function.is_known) return function.error;
    send_module(*function.module);
    Answer answer =
        connection.request(message::Type::kFunctionAttributes, message::FunctionAttributes{function.number});
    function.is_known = true;
    function.error = static_cast<cudaError_t>(answer.error);
    if (function.error) return function.error;
    function.needs = answer.record<message::FunctionAttributesReply>();
    std::string_view rest = answer.after<message::FunctionAttributesReply>();
    function.parameters.resize(function.needs.parameters);
    for (message::Parameter& parameter : function.parameters) {
        if (rest.size() < sizeof parameter) return function.error = cudaErrorInvalidKernelImage;
        __builtin_memcpy(&parameter, rest.data(), sizeof parameter);
        rest.remove_prefix(sizeof parameter);
    }
    return cudaSuccess;
}

Stream* Client::stream(cudaStream_t handle) {
    auto number = number_of(handle);
    if (number <= 1) return &default_stream;  // cudaStreamLegacy is 1
    if (number > 2) return streams.find(handle);
    thread_local Stream* own = nullptr;
    if (!own) own = add_stream(0, 0);
    return own;
}

Stream* Client::add_stream(unsigned flags, int priority) {
    Stream* added = streams.add({++last_number, device_number(), flags, priority, nullptr, {}});
    auto device = static_cast<std::uint32_t>(added->device);
    connection.send(message::Type::kStreamCreate,
                    message::StreamCreate{added->number, priority, flags & kStreamNonBlocking, device, 0});
    return added;
}

}  // namespace warpwatt::runtime

// After the program's own destructors, before its output is flushed.
__attribute__((destructor)) static void say_goodbye() {
    using namespace warpwatt::runtime;
    Entry entry;
    Client::get().end();
}
