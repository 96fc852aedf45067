#include "runtime/call.h"

#include <dlfcn.h>

#include <cstdio>
#include <set>
#include <string>

namespace warpwatt::runtime {

namespace {

thread_local int depth = 0;  // of calls into the runtime
thread_local cudaError_t last = cudaSuccess;
thread_local bool calls_runtime = false;

void enter() {
    Client::get().mutex.lock();
    if (depth++ == 0) host_clock().stop();
}

void leave() {
    if (--depth == 0) host_clock().go_on();
    Client::get().mutex.unlock();
}

// The program or library that an address is in, and where.
std::string place_of(const void* address) {
    Dl_info found;
    if (!address || !dladdr(address, &found) || !found.dli_fname) return "an unknown place";
    char offset[32];
    std::snprintf(
        offset, sizeof offset, "+0x%zx",
        static_cast<std::size_t>(static_cast<const char*>(address) - static_cast<char*>(found.dli_fbase)));
    std::string place = std::string(found.dli_fname) + offset;
    return found.dli_sname ? place + " (" + found.dli_sname + ")" : place;
}

}  // namespace

Entry::Entry() { enter(); }
Entry::~Entry() { leave(); }

void Entry::run_outside(const std::function<void()>& code) {
    int entered = depth;
    while (depth) leave();
    code();
    while (depth < entered) enter();
}

cudaError_t note(cudaError_t error) {
    calls_runtime = true;
    if (error != cudaSuccess && error != cudaErrorNotReady) last = error;
    return error;
}

bool has_called_runtime() { return calls_runtime; }

cudaError_t last_error(bool reset) {
    cudaError_t found = last;
    if (reset) last = Client::get().sticky;
    return found;
}

cudaError_t refuse(const char* function, const void* called_from) {
    static std::set<std::string> said;
    Entry entry;
    std::string place = place_of(called_from);
    if (said.insert(function).second)
        std::fprintf(stderr, "warpwatt: %s is not there; %s calls it\n", function, place.c_str());
    Client& client = Client::get();
    if (!client.start()) {
        std::string text = function + std::string(1, '\0') + place;
        client.connection.send(message::Type::kUnsupported, message::Unsupported{cudaErrorNotSupported, 0},
                               text);
    }
    return note(cudaErrorNotSupported);
}

}  // namespace warpwatt::runtime

// For who makes a program's calls on its behalf: between the two its clock stands still, as in the runtime.
extern "C" __attribute__((visibility("default"))) void warpwatt_enter() { warpwatt::runtime::enter(); }
extern "C" __attribute__((visibility("default"))) void warpwatt_leave() { warpwatt::runtime::leave(); }
