// What a program reports about itself: the blocks of its own allocator, and figures. Called from Python
// (run/bootstrap.py), not by programs.
#include <string_view>

#include "runtime/call.h"
#include "runtime/client.h"

using namespace warpwatt::runtime;

RUNTIME_API void warpwatt_block(std::uint64_t address, std::uint32_t is_given) {
    Entry entry;
    Client& client = Client::get();
    if (!client.start()) client.connection.send(message::Type::kBlock, message::Block{address, is_given, 0});
}

RUNTIME_API void warpwatt_report(const char* text) {
    Entry entry;
    Client& client = Client::get();
    if (client.is_started()) client.connection.send(message::Type::kValue, message::Value{0}, text);
}
