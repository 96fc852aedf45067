// A device that takes every message down and answers as it is told: the other end of the socket, on a thread.
#pragma once

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/messages.h"

namespace warpwatt::test {

namespace message = runtime::message;

constexpr std::uint64_t kArenaBytes = std::uint64_t{1} << 40;

struct Received {
    message::Header header;
    std::string bytes;

    template <typename Record>
    Record record() const {
        Record found;
        std::memcpy(&found, bytes.data(), sizeof found);
        return found;
    }
};

struct Answer {
    int error = 0;
    std::uint32_t flags = 0;
    std::string bytes;
    std::uint64_t waited_ns = 0;
};

template <typename Record>
std::string text_of(const Record& record) {
    return {reinterpret_cast<const char*>(&record), sizeof record};
}

class FakeDevice {
public:
    FakeDevice() {
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        std::string path = "/tmp/warpwatt-test-" + std::to_string(getpid());
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        unlink(address.sun_path);
        listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address)) std::abort();
        listen(listener_, 1);
        setenv(message::kSocketVariable, path.c_str(), 1);
        arena_ = memfd_create("arena", MFD_CLOEXEC);
        if (ftruncate(arena_, kArenaBytes)) std::abort();
        contents_ = static_cast<char*>(
            mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, arena_, 0));
        thread_ = std::thread([this] { serve(); });
    }
    ~FakeDevice() {
        leave();
        thread_.join();
    }

    // What to answer messages of a type with, if not with success.
    void on(message::Type type, std::function<Answer(const Received&)> answer) {
        std::lock_guard lock(mutex_);
        answers_[type] = std::move(answer);
    }
    // What came since the last time; messages without replies may be still on their way without `until`.
    std::vector<Received> take() {
        std::lock_guard lock(mutex_);
        return std::exchange(received_, {});
    }
    // The device's process ends.
    void leave() {
        shutdown(listener_, SHUT_RDWR);
        if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
    }

    char* at(const void* pointer) {
        return contents_ + (reinterpret_cast<std::uint64_t>(pointer) - message::kArenaAddress);
    }

    std::string properties =
        "name=Test GPU\nuuid=00112233445566778899aabbccddeeff\ntotalGlobalMem=1073741824\nwarpSize=32\n"
        "maxThreadsPerBlock=1024\nmaxThreadsDim=1024,1024,64\nmaxGridSize=2147483647,65535,65535\n"
        "sharedMemPerBlock=49152\nsharedMemPerBlockOptin=232448\nmultiProcessorCount=4\nmajor=9\nminor=0\n"
        "cooperativeLaunch=1\nclusterLaunch=1\nClockRate=1500000\n\n";

private:
    bool read(void* bytes, std::size_t count) {
        return count == 0 || recv(socket_, bytes, count, MSG_WAITALL) == static_cast<ssize_t>(count);
    }

    void serve() {
        socket_ = accept(listener_, nullptr, nullptr);
        unlink(std::getenv(message::kSocketVariable));
        Received received;
        while (socket_ >= 0 && read(&received.header, sizeof received.header)) {
            received.bytes.resize(received.header.bytes);
            if (!read(received.bytes.data(), received.bytes.size())) return;
            Answer answer = answer_to(received);
            if (received.header.flags & message::kWantsReply) reply(received.header.type, answer);
        }
    }

    Answer answer_to(const Received& received) {
        std::lock_guard lock(mutex_);
        received_.push_back(received);
        auto found = answers_.find(received.header.type);
        if (found != answers_.end()) return found->second(received);
        if (received.header.type == message::Type::kHello)
            return {0, 0, text_of(message::HelloReply{kArenaBytes, 1, 0}) + properties};
        return {};
    }

    void reply(message::Type type, const Answer& answer) {
        message::Reply header{answer.error, answer.flags, answer.waited_ns, answer.bytes.size()};
        std::string text = text_of(header) + answer.bytes;
        iovec place{text.data(), text.size()};
        msghdr out{};
        out.msg_iov = &place;
        out.msg_iovlen = 1;
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        if (type == message::Type::kHello) {
            out.msg_control = control;
            out.msg_controllen = sizeof control;
            cmsghdr* part = CMSG_FIRSTHDR(&out);
            part->cmsg_level = SOL_SOCKET;
            part->cmsg_type = SCM_RIGHTS;
            part->cmsg_len = CMSG_LEN(sizeof(int));
            std::memcpy(CMSG_DATA(part), &arena_, sizeof(int));
        }
        sendmsg(socket_, &out, MSG_NOSIGNAL);
    }

    int listener_ = -1, arena_ = -1;
    std::atomic<int> socket_ = -1;
    char* contents_;
    std::thread thread_;
    std::mutex mutex_;
    std::map<message::Type, std::function<Answer(const Received&)>> answers_;
    std::vector<Received> received_;
};

// The last message of a type among those received.
inline const Received* last_of(const std::vector<Received>& received, message::Type type) {
    for (std::size_t i = received.size(); i--;)
        if (received[i].header.type == type) return &received[i];
    return nullptr;
}

inline std::size_t count_of(const std::vector<Received>& received, message::Type type) {
    std::size_t count = 0;
    for (const Received& one : received) count += one.header.type == type;
    return count;
}

}  // namespace warpwatt::test
