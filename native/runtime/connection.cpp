#include "runtime/connection.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/abi.h"

namespace warpwatt::runtime {

namespace {

constexpr std::uint64_t kMostReplyBytes = std::uint64_t{1} << 32;  // more is no reply

// Returns the descriptor that came with a message, or -1.
int descriptor_in(msghdr& message) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        int found;
        std::memcpy(&found, CMSG_DATA(part), sizeof found);
        return found;
    }
    return -1;
}

}  // namespace

bool Connection::open() {
    const char* path = std::getenv(message::kSocketVariable);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (!path || std::strlen(path) >= sizeof address.sun_path) return false;
    std::strcpy(address.sun_path, path);
    socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
    close(std::exchange(socket_, -1));
    return false;
}

void Connection::send(message::Type type, std::uint32_t flags, std::string_view record,
                      std::string_view more) {
    if (is_lost()) return;
    message::Header header{type, flags, ++sequence_, static_cast<std::uint64_t>(clock_.now_ns()),
                           record.size() + more.size()};
    if (observer) observer(type, header.host_time_ns, record);
    std::array parts{as_text(header), record, more};
    if (!write(parts)) lose();
}

Answer Connection::receive(int* descriptor) {
    message::Reply reply{};
    Answer answer;
    if (is_lost() || !read(reinterpret_cast<char*>(&reply), sizeof reply, descriptor) ||
        reply.bytes > kMostReplyBytes) {
        lose();
        return {cudaErrorDevicesUnavailable, 0, {}};
    }
    answer.error = reply.error;
    answer.flags = reply.flags;
    answer.bytes.resize(reply.bytes);
    if (!read(answer.bytes.data(), answer.bytes.size(), nullptr)) {
        lose();
        return {cudaErrorDevicesUnavailable, 0, {}};
    }
    clock_.advance(static_cast<std::int64_t>(reply.waited_ns));
    return answer;
}

bool Connection::write(std::span<const std::string_view> parts) {
    for (std::string_view part : parts) {
        while (!part.empty()) {
            ssize_t sent = ::send(socket_, part.data(), part.size(), MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent <= 0) return false;
            part.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    return true;
}

bool Connection::read(char* bytes, std::size_t count, int* descriptor) {
    while (count) {
        iovec place{bytes, count};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
        msghdr message{};
        message.msg_iov = &place;
        message.msg_iovlen = 1;
        if (descriptor) {
            message.msg_control = control;
            message.msg_controllen = sizeof control;
        }
        ssize_t got = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        if (descriptor && *descriptor < 0) *descriptor = descriptor_in(message);
        bytes += got;
        count -= static_cast<std::size_t>(got);
    }
    return true;
}

void Connection::lose() {
    if (is_lost()) return;
    close(socket_);
    socket_ = -1;
    if (!expects_end_)
        std::fputs("warpwatt: the device's process has ended; every further CUDA call fails\n", stderr);
}

}  // namespace warpwatt::runtime
