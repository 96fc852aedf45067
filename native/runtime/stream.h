// Streams and events, and what a stream captures.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "runtime/abi.h"

namespace warpwatt::runtime {

// A capture: it begins in one stream, and others join it by waiting for its events.
struct Capture {
    Graph* graph;
    Stream* origin;
    std::uint64_t number;

    Capture(Graph* into, Stream* from, std::uint64_t its_number)
        : graph(into), origin(from), number(its_number) {}
};

struct Stream {
    std::uint64_t number;  // 0: the legacy default stream
    int device = 0;
    unsigned flags = 0;
    int priority = 0;

    std::shared_ptr<Capture> capture;
    std::vector<GraphNode*> last_nodes;  // what the next captured node depends on
};

struct Event {
    std::uint64_t number;
    int device = 0;
    unsigned flags = 0;
    bool is_recorded = false;

    std::shared_ptr<Capture> capture;  // last recorded in a stream that captures
    std::vector<GraphNode*> nodes;
};

constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventDisableTiming = 2;

}  // namespace warpwatt::runtime
