// Calls of closed libraries: the device does what they do.
#include "runtime/closed/call.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

using message::Contents;

constexpr std::size_t kContentsBytes = 64;        // of what an argument points to: scalars, extents
constexpr std::uint64_t kFirstAddress = 1 << 16;  // no process has memory below
constexpr std::uint64_t kLastAddress = std::uint64_t{1} << 47;
constexpr std::int64_t kNotInitialized = 1;  // CUBLAS_STATUS_NOT_INITIALIZED; an error in the others, too

template <typename T>
void append(std::string& text, const T& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// What is readable at an address, without a fault where nothing is.
std::string readable(std::uint64_t address) {
    std::string found(kContentsBytes, '\0');
    std::size_t in_page = Arena::kPage - address % Arena::kPage;
    iovec here{found.data(), kContentsBytes};
    iovec there[2] = {{pointer_of(address), std::min(in_page, kContentsBytes)},
                      {pointer_of(address + in_page), kContentsBytes - std::min(in_page, kContentsBytes)}};
    ssize_t bytes = process_vm_readv(getpid(), &here, 1, there, 2, 0);
    found.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    return found;
}

// Of the memory that an argument may point to.
void append_contents(Client& client, std::string& text, std::uint32_t& count, std::uint64_t address) {
    if (address < kFirstAddress || address >= kLastAddress || client.arena.contains(address)) return;
    std::string found = readable(address);
    if (found.empty()) return;
    append(text, Contents{address, found.size()});
    text += found;
    ++count;
}

}  // namespace

message::LibraryCallReply Client::call_library(const message::LibraryCall& call,
                                               const std::string& arguments) {
    Answer answer = connection.request(message::Type::kLibraryCall, call, arguments);
    take_flags(answer);
    auto reply = answer.record<message::LibraryCallReply>();
    std::string_view rest = answer.after<message::LibraryCallReply>();
    for (std::uint32_t k = 0; k < reply.writes && rest.size() >= sizeof(Contents); ++k) {
        Contents place;
        std::memcpy(&place, rest.data(), sizeof place);
        std::string_view bytes = rest.substr(sizeof place, place.size);
        std::memcpy(pointer_of(place.address), bytes.data(), bytes.size());
        rest.remove_prefix(std::min<std::size_t>(rest.size(), sizeof place + bytes.size()));
    }
    return reply;
}

cudaError_t Client::perform_one(Stream&, const LibraryWork& work) {
    std::string number;
    append(number, work.captured);
    return call_library({{}, 0, 1, 0, 0}, number).result ? cudaErrorUnknown : cudaSuccess;
}

}  // namespace warpwatt::runtime

using namespace warpwatt::runtime;

LIBRARY_API void warpwatt_observe(void (*seen)(message::Type, std::uint64_t, std::string_view)) {
    Client::get().connection.observer = seen;
}

std::int64_t warpwatt_library_call(const char* name, const std::uint64_t* words, std::size_t count,
                                   LibraryCallWay way, double first, double second, const void* called_from) {
    Entry entry;
    Client& client = Client::get();
    if (client.start() || client.sticky) return kNotInitialized;
    auto known = client.library_streams.find(count ? words[0] : 0);
    Stream* stream = known == client.library_streams.end() ? nullptr : known->second;
    bool sets_stream = std::strstr(name, "SetStream");
    std::string contents;
    message::LibraryCall record{{first, second},
                                static_cast<std::uint32_t>(std::strlen(name)),
                                static_cast<std::uint32_t>(count),
                                0,
                                0};
    std::string arguments;
    for (std::size_t k = 0; k < count; ++k) {
        std::uint64_t word = words[k];
        if (sets_stream ? k == 1 : way == LibraryCallWay::kInStream && k + 1 == count) {
            stream = client.stream(static_cast<cudaStream_t>(pointer_of(word)));
            if (!stream) return kNotInitialized;
            word = stream->number;
        }
        append(arguments, word);
        append_contents(client, contents, record.contents, word);
    }
    if (sets_stream) client.library_streams[words[0]] = stream;
    record.in_capture = stream && stream->capture;
    if (way == LibraryCallWay::kUnanswered) {
        client.connection.send(message::Type::kLibraryCall, record, name + arguments + contents);
        return 0;
    }
    auto reply = client.call_library(record, name + arguments + contents);
    if (reply.is_missing) refuse(name, called_from);
    if (reply.captured) return client.submit(*stream, LibraryWork{reply.captured});
    return reply.result;
}
