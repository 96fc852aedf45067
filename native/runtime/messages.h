// What a client, a program that runs with our CUDA runtime, and the device that stands in for its GPU tell
// each other over a stream socket. Every message is a Header, the record that its type names and, where the
// record says so, bytes of any number. The device answers a message whose header asks for it with a Reply, a
// record and bytes. Little-endian, no padding that is not named; src/warpwatt/run/protocol.py has the same
// records.
#pragma once

#include <array>
#include <cstdint>

namespace warpwatt::runtime::message {

constexpr std::uint32_t kVersion = 1;
constexpr const char* kSocketVariable = "WARPWATT_RUN_SOCKET";  // path of the socket that a device listens at

// The device's memory is one shared file, mapped at this address in the client: a device pointer is the same
// number everywhere.
constexpr std::uint64_t kArenaAddress = 0x2000'0000'0000;

enum class Type : std::uint32_t {
    kHello = 1,
    kModule,
    kModuleSymbols,
    kFunction,
    kVariable,
    kFunctionAttributes,
    kFunctionSetting,
    kOccupancy,
    kAllocate,
    kFree,
    kLaunch,
    kAccess,
    kCopy,
    kStreamCreate,
    kStreamDestroy,
    kStreamWait,
    kStreamQuery,
    kEventCreate,
    kEventDestroy,
    kEventRecord,
    kEventQuery,
    kEventSynchronize,
    kEventElapsed,
    kSynchronize,
    kHostFunction,
    kGraphLaunch,
    kTexture,
    kTextureDestroy,
    kProfiler,
    kLibraryCall,
    kUnsupported,
    kReset,
    kBye,
    kBlock,
    kValue,
};

// Bits of Header::flags.
constexpr std::uint32_t kWantsReply = 1;
constexpr std::uint32_t kInGraph = 2;  // a node of the graph that the last GraphLaunch named

struct Header {
    Type type;
    std::uint32_t flags;
    std::uint64_t sequence;      // counts messages, from 1
    std::uint64_t host_time_ns;  // client's clock at the call: stands still while the runtime works or waits,
                                 // and goes on by `waited_ns` of every reply
    std::uint64_t bytes;         // of the record and what follows it
};

// Bits of Reply::flags.
constexpr std::uint32_t kLaunchesPending = 1;  // memory is not up to date
constexpr std::uint32_t kMemoryLost = 2;       // nor will some be: reading it is an error
constexpr std::uint32_t kTimingOnly = 4;       // large copies need not move anything

struct Reply {
    std::int32_t error;  // cudaError_t
    std::uint32_t flags;
    std::uint64_t waited_ns;  // how long the call takes on the machine that is predicted
    std::uint64_t bytes;
};

// The device's file descriptor of the arena comes with the reply.
struct Hello {  // + name of the program
    std::uint32_t version, process;
};
struct HelloReply {  // + per device lines `key=value`, an empty line after each: fields of cudaDeviceProp,
                     // and other device attributes by their names without `cudaDevAttr`
    std::uint64_t arena_bytes;
    std::uint32_t devices, reserved;
};

struct Module {  // + fat binaries one after the other, or a cubin, or PTX text
    std::uint64_t module;
    std::uint32_t images, reserved;
};
struct ModuleSymbols {  // reply: + lines `function NAME` and `variable NAME BYTES ALIGNMENT FLAGS`
    std::uint64_t module;
};
struct Function {  // + name in the module
    std::uint64_t module, function, host_address;
};

constexpr std::uint32_t kConstantVariable = 1;
constexpr std::uint32_t kManagedVariable = 2;
constexpr std::uint32_t kExternalVariable = 4;

// The device writes the initial contents to `address`.
struct Variable {  // + name in the module
    std::uint64_t module, host_address, address, size;
    std::uint32_t flags, reserved;
};

struct FunctionAttributes {
    std::uint64_t function;
};
struct Parameter {
    std::uint32_t offset, bytes;
};
struct FunctionAttributesReply {  // + a Parameter for each
    std::uint64_t static_shared_bytes, constant_bytes, local_bytes;
    std::uint32_t registers, max_threads_per_block, ptx_version, binary_version;
    std::uint32_t parameters, reserved;
};

enum class Setting : std::uint32_t { kMaxDynamicShared = 1, kCarveout, kCacheConfig, kNonPortableCluster };
struct FunctionSetting {
    std::uint64_t function;
    std::int64_t value;
    Setting setting;
    std::uint32_t reserved;
};

struct Occupancy {
    std::uint64_t function, dynamic_shared_bytes;
    std::uint32_t threads_per_block, blocks_per_cluster;
};
struct OccupancyReply {
    std::uint32_t blocks_per_sm, clusters;
};

enum class Memory : std::uint32_t { kDevice = 1, kManaged, kPinned, kArray, kPool, kVariable };
struct Allocate {
    std::uint64_t address, size;
    std::uint64_t stream;  // for kPool
    Memory kind;
    std::uint32_t device;
};
struct Free {
    std::uint64_t address;
    std::uint64_t stream;
};

constexpr std::uint32_t kCooperative = 1;
constexpr std::uint32_t kRefused = 2;  // by the client: nothing runs, `priority` is the error

struct Launch {  // + the parameters at the function's offsets
    std::uint64_t function, stream, dynamic_shared_bytes;
    std::array<std::uint32_t, 3> grid, block, cluster;
    std::uint32_t flags, device, priority;
};

// Memory is going to be written or moved on the device (`writes`), or read by the host. Reply: + what kernels
// printed.
struct Access {
    std::uint64_t address, size;
    std::uint32_t writes, reserved;
};

enum class Copy : std::uint32_t {
    kHostToDevice = 1,
    kDeviceToHost,
    kDeviceToDevice,
    kHostToHost,
    kPeerToPeer,
    kFill,
    kPrefetch,
};
constexpr std::uint32_t kAsynchronous = 1;
constexpr std::uint32_t kPageable = 2;
constexpr std::uint32_t kByDevice = 4;  // the device moves or fills the bytes, after what is pending
constexpr std::uint32_t kNotMoved = 8;  // nobody does: the destination holds what nobody knows

// What was or is to be moved. Addresses of the host's own memory are the host's.
struct CopyRecord {
    std::uint64_t destination, source, size, stream;
    Copy kind;
    std::uint32_t flags;
    std::uint32_t value, value_bytes;  // of kFill
    std::uint32_t device, destination_device;
};

// Stream 0 is the legacy default stream.
struct StreamCreate {
    std::uint64_t stream;
    std::int32_t priority;
    std::uint32_t nonblocking;
    std::uint32_t device, reserved;
};
struct Stream {  // kStreamDestroy, kStreamQuery
    std::uint64_t stream;
};
struct StreamWait {
    std::uint64_t stream, event;
};
struct EventRecord {
    std::uint64_t event, stream;
};
struct Event {  // kEventCreate, kEventDestroy, kEventQuery, kEventSynchronize
    std::uint64_t event;
};
struct EventElapsed {
    std::uint64_t start, end;
};
struct EventElapsedReply {
    double milliseconds;
};

// Reply: + what kernels printed.
struct Synchronize {
    std::uint64_t stream;
    std::uint32_t whole_device, device;
};
struct HostFunction {
    std::uint64_t stream;
};
struct GraphLaunch {
    std::uint64_t graph, stream;
    std::uint32_t nodes, reserved;
};

enum class Resource : std::uint32_t { kArray = 0, kMipmappedArray, kLinear, kPitch2d };  // cudaResourceType
constexpr std::uint32_t kSurface = 1;
constexpr std::uint32_t kNormalizedCoordinates = 2;
constexpr std::uint32_t kLinearFilter = 4;
constexpr std::uint32_t kNormalizedFloat = 8;  // cudaReadModeNormalizedFloat
constexpr std::uint32_t kSrgb = 16;
constexpr std::uint32_t kLayered = 32;
constexpr std::uint32_t kCubemap = 64;

// A texture or surface object; `handle` is what kernels get. Levels of a mipmapped array lie one after the
// other, each of half the extents (but not of the layers), rows at the next multiple of 32 bytes.
struct Texture {
    std::uint64_t handle, address;
    std::uint64_t width, height, depth;  // in elements; 0 for dimensions that are not there
    std::uint64_t pitch, slice_pitch;    // bytes from row to row, from slice or layer to the next
    Resource resource;
    std::uint32_t flags;
    std::array<std::uint32_t, 4> channel_bits;
    std::uint32_t channel_kind;                  // cudaChannelFormatKind
    std::array<std::uint32_t, 3> address_modes;  // cudaTextureAddressMode
    std::array<float, 4> border;
    std::uint32_t levels, device;
};
struct TextureDestroy {
    std::uint64_t handle;
};

struct Profiler {
    std::uint32_t started, reserved;
};
// A call of a closed library (cuBLAS, cuFFT, ...), with its arguments as the processor holds them: what is in
// integer registers and on the stack, two floating-point registers, and the first bytes of what lies at
// addresses of the host's own memory.
struct LibraryCall {  // + name, the words (u64), `contents` times Contents + bytes
    std::array<double, 2> floats;
    std::uint32_t name_bytes, words, contents;
    std::uint32_t in_capture;  // the stream captures: the device answers with a number where there is work
};
struct Contents {  // + bytes
    std::uint64_t address, size;
};
struct LibraryCallReply {  // + `writes` times Contents + bytes, for the host's own memory
    std::int64_t result;
    std::uint32_t writes;
    std::uint32_t is_missing;  // there is no such function in the stand-in
    std::uint64_t captured;    // a graph calls the function without a name, this number for an argument
};
struct Unsupported {  // + name of the function and, after a NUL, where the program called it
    std::int32_t error;
    std::uint32_t reserved;
};
struct Reset {
    std::uint32_t device, reserved;
};
// A program's own allocator gives a part of an allocation to somebody, from `address` on, or takes it back.
struct Block {
    std::uint64_t address;
    std::uint32_t is_given, reserved;
};
// A figure that the program reports about itself.
struct Value {  // + text `name=value`
    std::uint64_t reserved;
};
struct Bye {
    std::int32_t status;
    std::uint32_t reserved;
};

}  // namespace warpwatt::runtime::message
