// What streams do: launched, copied, filled, recorded. A stream that captures takes it as nodes of a graph.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/abi.h"
#include "runtime/messages.h"

namespace warpwatt::runtime {

struct KernelWork {
    Function* function;
    dim3 grid, block, cluster{0, 0, 0};
    std::uint64_t dynamic_shared_bytes = 0;
    bool cooperative = false;
    int priority = 0;
    std::string parameters;  // at the function's offsets
};

// Rows of bytes, `pitch` apart, in slices `slice` apart.
struct Rows {
    std::uint64_t address;
    std::size_t pitch, slice;
};

struct CopyWork {
    Rows to, from;
    std::size_t width, height = 1, depth = 1;  // bytes, rows, slices
    cudaMemcpyKind kind;                       // not cudaMemcpyDefault
    bool asynchronous = false;
    bool between_peers = false;
    int device = 0, destination_device = 0;

    bool is_linear() const {
        bool rows_adjoin = height == 1 || (to.pitch == width && from.pitch == width);
        bool slices_adjoin = depth == 1 || (to.slice == width * height && from.slice == width * height);
        return rows_adjoin && slices_adjoin;
    }
    std::size_t bytes() const { return width * height * depth; }
};

struct FillWork {
    Rows to;
    std::size_t width, height = 1, depth = 1;
    std::uint32_t value, value_bytes = 1;
    bool asynchronous = false;

    bool is_linear() const {
        return (height == 1 || to.pitch == width) && (depth == 1 || to.slice == width * height);
    }
    std::size_t bytes() const { return width * height * depth; }
};

struct HostWork {
    cudaHostFn_t function;
    void* argument;
};
struct CallbackWork {
    cudaStreamCallback_t function;
    Stream* stream;
    void* argument;
};
struct EventRecordWork {
    Event* event;
};
struct EventWaitWork {
    Event* event;
};
struct AllocateWork {
    std::uint64_t address;
    std::size_t bytes;
    cudaMemAllocNodeParams parameters;
};
struct FreeWork {
    std::uint64_t address;
};
struct PrefetchWork {
    std::uint64_t address;
    std::size_t bytes;
};
struct ChildWork {
    Graph* graph;
};
// A choice among graphs by the value at `handle`, an address that kernels write to.
struct ConditionalWork {
    std::uint64_t handle;
    int type;  // cudaGraphConditionalNodeType
    enum : int { kIf = 0, kWhile = 1, kSwitch = 2 };
    std::vector<Graph*> bodies;
};
struct EmptyWork {};
struct LibraryWork {
    std::uint64_t captured;  // the device's number of the call
};

using Work =
    std::variant<KernelWork, CopyWork, FillWork, HostWork, CallbackWork, EventRecordWork, EventWaitWork,
                 AllocateWork, FreeWork, PrefetchWork, ChildWork, EmptyWork, LibraryWork, ConditionalWork>;

}  // namespace warpwatt::runtime
