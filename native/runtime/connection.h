// The client's end of the socket: messages out, replies in. Its owner keeps threads apart.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/clock.h"
#include "runtime/messages.h"

namespace warpwatt::runtime {

struct Answer {
    int error = 0;  // cudaError_t
    std::uint32_t flags = 0;
    std::vector<char> bytes;

    // The record at the front, or an empty one if the device sent none.
    template <typename Record>
    Record record() const {
        Record found{};
        if (bytes.size() >= sizeof found) __builtin_memcpy(&found, bytes.data(), sizeof found);
        return found;
    }
    template <typename Record>
    std::string_view after() const {
        return std::string_view(bytes.data(), bytes.size()).substr(std::min(bytes.size(), sizeof(Record)));
    }
    std::string_view text() const { return {bytes.data(), bytes.size()}; }
};

class Connection {
public:
    explicit Connection(HostClock& clock) : clock_(clock) {}

    // Connects to the socket that the environment names. Returns whether a device is there.
    bool open();
    bool is_lost() const { return socket_ < 0; }
    // Messages from now on are a graph's.
    void set_in_graph(bool in_graph) { flags_ = in_graph ? message::kInGraph : 0; }

    template <typename Record>
    void send(message::Type type, const Record& record, std::string_view more = {}) {
        send(type, flags_, as_text(record), more);
    }
    template <typename Record>
    Answer request(message::Type type, const Record& record, std::string_view more = {},
                   int* descriptor = nullptr) {
        send(type, flags_ | message::kWantsReply, as_text(record), more);
        return receive(descriptor);
    }
    // Who is told of every message: its type, the time on the program's clock, its record.
    void (*observer)(message::Type, std::uint64_t, std::string_view) = nullptr;
    // After a fork the socket is the parent's.
    void forget() { socket_ = -1; }
    // From now on it is no news that the device ends.
    void expect_end() { expects_end_ = true; }

private:
    template <typename Record>
    static std::string_view as_text(const Record& record) {
        static_assert(std::is_trivially_copyable_v<Record>);
        return {reinterpret_cast<const char*>(&record), sizeof record};
    }
    void send(message::Type type, std::uint32_t flags, std::string_view record, std::string_view more);
    Answer receive(int* descriptor);
    bool write(std::span<const std::string_view> parts);
    bool read(char* bytes, std::size_t count, int* descriptor);
    void lose();

    HostClock& clock_;
    int socket_ = -1;
    bool expects_end_ = false;
    std::uint32_t flags_ = 0;
    std::uint64_t sequence_ = 0;
};

}  // namespace warpwatt::runtime
