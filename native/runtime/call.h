// How a call of the API is made: one thread at a time, the clock stands still, the error is kept for
// cudaGetLastError.
#pragma once

#include <string_view>

#include "runtime/client.h"

namespace warpwatt::runtime {

// While it lives, the calling thread is in the runtime.
class Entry {
public:
    Entry();
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    // Leaves the runtime to run the program's code, and comes back.
    static void run_outside(const std::function<void()>& code);
};

// Remembers an error of this thread. Returns it.
cudaError_t note(cudaError_t error);
cudaError_t last_error(bool reset);
// Whether this thread has called the Runtime API.
bool has_called_runtime();

// Tells the user and the device that a function is not there. Returns cudaErrorNotSupported.
cudaError_t refuse(const char* function, const void* called_from);

// Does what needs a device: `body` takes the client and returns an error.
template <typename Body>
cudaError_t call(Body&& body) {
    Entry entry;
    Client& client = Client::get();
    cudaError_t error = client.start();
    if (!error) error = client.sticky;
    if (!error) error = body(client);
    return note(error);
}

// The same, in a stream.
template <typename Body>
cudaError_t call_in(cudaStream_t handle, Body&& body) {
    return call([&](Client& client) {
        Stream* stream = client.stream(handle);
        return stream ? body(client, *stream) : cudaErrorInvalidResourceHandle;
    });
}

inline cudaStream_t per_thread_stream(cudaStream_t stream) {
    return stream ? stream : reinterpret_cast<cudaStream_t>(2);  // cudaStreamPerThread
}

inline std::uint64_t number_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }
inline void* pointer_of(std::uint64_t number) { return reinterpret_cast<void*>(number); }

}  // namespace warpwatt::runtime
