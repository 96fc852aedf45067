// CUPTI's activity API: what profilers read of kernels, copies and the calls that asked for them. Times of
// the GPU are predicted; they are placed behind the call on the profiler's own clock. From cupti_activity.h.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/closed/call.h"
#include "runtime/messages.h"

using namespace warpwatt::runtime;

extern "C" {
void warpwatt_observe(void (*seen)(message::Type, std::uint64_t, std::string_view));
// Writes what the GPU does, as far as it was asked for from `first` on, in ns. Returns how many spans.
std::int64_t warpwatt_spans(std::uint64_t first, std::uint64_t skipped, std::uint64_t most, void* spans,
                            double, double);
}

namespace {

constexpr int kSuccess = 0, kNoMoreRecords = 12;
enum Activity : std::uint32_t {
    kMemcpy = 1,
    kMemset = 2,
    kKernel = 3,
    kRuntime = 5,
    kConcurrentKernel = 10,
    kExternal = 39
};
constexpr std::uint32_t kCopyCall = 41, kFillCall = 51, kLaunchCall = 211;  // of CUPTI_RUNTIME_TRACE_CBID
constexpr std::size_t kSpans = 256;                                         // asked for at a time

#define RECORD struct __attribute__((packed, aligned(8)))
RECORD ApiRecord {
    std::uint32_t kind, call;
    std::uint64_t start, end;
    std::uint32_t process, thread, correlation, result;
};
RECORD ExternalRecord {
    std::uint32_t kind, stack;
    std::uint64_t id;
    std::uint32_t correlation, reserved;
};
RECORD KernelRecord {
    std::uint32_t kind;
    std::uint8_t cache, shared_config;
    std::uint16_t registers;
    std::uint32_t partitioned[2];
    std::uint64_t start, end, completed;
    std::uint32_t device, context, stream, grid[3], block[3], static_shared, dynamic_shared, local[2],
        correlation;
    std::int64_t grid_id;
    const char* name;
    void* reserved;
    std::uint64_t queued, submitted;
    std::uint8_t launch[4];
    std::uint32_t shared_executed;
    std::uint64_t node;
    std::uint32_t limit, graph;
    void* policy;
    std::uint32_t channel, channel_type, cluster[3], scheduling;
    std::uint64_t local_total;
    std::uint32_t clusters[2];
    std::uint8_t is_device_launched[8];
};
RECORD CopyRecord {
    std::uint32_t kind;
    std::uint8_t how, source, destination, flags;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream, correlation, runtime_correlation, pad;
    void* reserved;
    std::uint64_t node;
    std::uint32_t graph, channel, channel_type;
    std::uint8_t is_device_launched[4];
    std::uint64_t count;
};
RECORD FillRecord {
    std::uint32_t kind, value;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream, correlation;
    std::uint16_t flags, memory;
    std::uint32_t pad;
    void* reserved;
    std::uint64_t node;
    std::uint32_t graph, channel, channel_type;
    std::uint8_t is_device_launched[4];
};

// What the device says of a span (`spans` in run/libraries/board.py).
struct Span {
    std::uint64_t asked_ns, start_ns, end_ns, bytes;
    std::uint32_t kind, stream;
    char name[472];
};

// A call that asked the GPU for something.
struct Asked {
    std::uint64_t host_ns, at;  // on the program's clock, and on the profiler's
    std::uint32_t call, thread, correlation;
    std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};  // of library calls not known
    std::map<std::uint32_t, std::uint64_t> external;
};

using Request = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Complete = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

struct Activities {
    std::mutex mutex;
    Request request = nullptr;
    Complete complete = nullptr;
    std::uint64_t (*timestamp)() = nullptr;
    std::set<std::uint32_t> enabled, wanted;  // now, and at any time since the last flush
    std::set<std::string> names;
    std::vector<Asked> asked;
    std::uint32_t correlation = 0;
    std::uint64_t first_tick = 0, first_ns = 0;
} all;

// Buffers of the profiler, filled one after another. It asks for records only once it has given one.
class Buffer {
public:
    void prepare() {
        if (bytes_ || !all.request) return;
        std::size_t most = 0;
        all.request(&bytes_, &size_, &most);
        filled_ = 0;
    }
    template <typename Record>
    void add(const Record& record) {
        if (!all.wanted.contains(record.kind)) return;
        if (filled_ + sizeof record > size_) give();
        prepare();
        std::memcpy(bytes_ + filled_, &record, sizeof record);
        filled_ += sizeof record;
    }
    void give() {
        if (bytes_) all.complete(nullptr, 0, bytes_, size_, filled_);
        bytes_ = nullptr;
    }

private:
    std::uint8_t* bytes_ = nullptr;
    std::size_t size_ = 0, filled_ = 0;
} buffer;

thread_local std::map<std::uint32_t, std::vector<std::uint64_t>> stacks;

std::uint64_t real_ns() {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000 + static_cast<std::uint64_t>(now.tv_nsec);
}
std::uint64_t tick() { return all.timestamp ? all.timestamp() : real_ns(); }

void seen(message::Type type, std::uint64_t host_ns, std::string_view record) {
    bool is_launch = type == message::Type::kLaunch;
    if (!is_launch && type != message::Type::kCopy && type != message::Type::kLibraryCall) return;
    std::lock_guard lock(all.mutex);
    if (all.enabled.empty()) return;
    auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
    Asked one{host_ns, tick(), type == message::Type::kCopy ? kCopyCall : kLaunchCall, thread,
              ++all.correlation};
    if (is_launch) {
        message::Launch launch;
        std::memcpy(&launch, record.data(), sizeof launch);
        std::memcpy(one.grid, &launch.grid, sizeof one.grid);
        std::memcpy(one.block, &launch.block, sizeof one.block);
    }
    for (auto& [kind, ids] : stacks)
        if (!ids.empty()) one.external[kind] = ids.back();
    all.asked.push_back(std::move(one));
    buffer.prepare();
}

std::map<std::uint64_t, std::deque<Span>> spans_from(std::uint64_t first) {
    std::map<std::uint64_t, std::deque<Span>> found;
    std::vector<Span> some(kSpans);
    for (std::uint64_t skipped = 0;;) {
        auto count = warpwatt_spans(first, skipped, kSpans, some.data(), 0, 0);
        for (std::int64_t k = 0; k < count; ++k) found[some[k].asked_ns].push_back(some[k]);
        skipped += static_cast<std::uint64_t>(count);
        if (count < static_cast<std::int64_t>(kSpans)) return found;
    }
}

void add_span(const Asked& one, const Span& span, double rate) {
    auto ticks = [&](std::uint64_t ns) {
        return one.at + static_cast<std::uint64_t>(static_cast<double>(ns - one.host_ns) * rate);
    };
    std::uint64_t start = ticks(span.start_ns), end = ticks(span.end_ns);
    std::uint32_t stream = span.stream ? span.stream + 7 : 7;  // CUDA's number of the default stream
    if (span.kind == kMemcpy) {
        auto how = static_cast<std::uint8_t>(span.name[0]);
        buffer.add(CopyRecord{kMemcpy, how, std::uint8_t(how == 1 ? 1 : 3), std::uint8_t(how == 2 ? 1 : 3), 0,
                              span.bytes, start, end, 0, 1, stream, one.correlation});
    } else if (span.kind == kMemset) {
        buffer.add(FillRecord{kMemset, 0, span.bytes, start, end, 0, 1, stream, one.correlation});
    } else {
        KernelRecord record{};
        record.kind = all.wanted.contains(kConcurrentKernel) ? kConcurrentKernel : kKernel;
        record.start = start;
        record.end = record.completed = end;
        record.context = 1;
        record.stream = stream;
        std::memcpy(record.grid, one.grid, sizeof one.grid);
        std::memcpy(record.block, one.block, sizeof one.block);
        record.correlation = one.correlation;
        record.name = all.names.insert(span.name).first->c_str();
        buffer.add(record);
    }
}

}  // namespace

LIBRARY_API int cuptiActivityFlushAll(std::uint32_t) {
    std::vector<Asked> asked;
    {
        std::lock_guard lock(all.mutex);
        asked.swap(all.asked);
    }
    if (asked.empty() || !all.request || !all.complete) return kSuccess;
    auto spans = spans_from(asked.front().host_ns);
    std::lock_guard lock(all.mutex);
    auto elapsed = static_cast<double>(real_ns() - all.first_ns);
    double rate = elapsed > 0 ? static_cast<double>(tick() - all.first_tick) / elapsed : 1;
    for (const Asked& one : asked) {
        auto of_call = spans.find(one.host_ns);
        if (of_call == spans.end() || of_call->second.empty()) continue;
        Span span = of_call->second.front();
        of_call->second.pop_front();
        for (auto [kind, id] : one.external)
            buffer.add(ExternalRecord{kExternal, kind, id, one.correlation, 0});
        auto call = span.kind == kMemset ? kFillCall : one.call;
        buffer.add(ApiRecord{kRuntime, call, one.at, one.at + static_cast<std::uint64_t>(1000 * rate),
                             static_cast<std::uint32_t>(getpid()), one.thread, one.correlation, 0});
        add_span(one, span, rate);
    }
    buffer.give();
    all.wanted = all.enabled;
    return kSuccess;
}

LIBRARY_API int cuptiActivityRegisterCallbacks(Request request, Complete complete) {
    all.request = request;
    all.complete = complete;
    return kSuccess;
}

LIBRARY_API int cuptiActivityRegisterTimestampCallback(std::uint64_t (*timestamp)()) {
    all.timestamp = timestamp;
    all.first_tick = tick();
    all.first_ns = real_ns();
    return kSuccess;
}

LIBRARY_API int cuptiActivityEnable(std::uint32_t kind) {
    std::lock_guard lock(all.mutex);
    if (!all.first_ns) {
        all.first_tick = tick();
        all.first_ns = real_ns();
    }
    all.enabled.insert(kind);
    all.wanted.insert(kind);
    warpwatt_observe(seen);
    return kSuccess;
}

LIBRARY_API int cuptiActivityDisable(std::uint32_t kind) {
    std::lock_guard lock(all.mutex);
    all.enabled.erase(kind);
    return kSuccess;
}

LIBRARY_API int cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
    stacks[kind].push_back(id);
    return kSuccess;
}

LIBRARY_API int cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last) {
    auto& ids = stacks[kind];
    if (last) *last = ids.empty() ? 0 : ids.back();
    if (!ids.empty()) ids.pop_back();
    return kSuccess;
}

LIBRARY_API int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t bytes, std::uint8_t** record) {
    std::uint8_t* next = buffer;
    if (*record) {
        std::uint32_t kind;
        std::memcpy(&kind, *record, sizeof kind);
        next = *record + (kind == kMemcpy     ? sizeof(CopyRecord)
                          : kind == kMemset   ? sizeof(FillRecord)
                          : kind == kRuntime  ? sizeof(ApiRecord)
                          : kind == kExternal ? sizeof(ExternalRecord)
                                              : sizeof(KernelRecord));
    }
    if (next >= buffer + bytes) return kNoMoreRecords;
    *record = next;
    return kSuccess;
}

LIBRARY_API int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
    *dropped = 0;
    return kSuccess;
}

LIBRARY_API int cuptiGetCallbackName(int, std::uint32_t call, const char** name) {
    *name = call == kCopyCall   ? "cudaMemcpyAsync"
            : call == kFillCall ? "cudaMemsetAsync"
                                : "cudaLaunchKernel";
    return kSuccess;
}

LIBRARY_API int cuptiGetVersion(std::uint32_t* version) {
    *version = 130001;
    return kSuccess;
}

LIBRARY_API int cuptiGetResultString(int result, const char** text) {
    *text = result ? "CUPTI_ERROR" : "CUPTI_SUCCESS";
    return kSuccess;
}

LIBRARY_API int cuptiSubscribe(void** subscriber, void*, void*) {
    *subscriber = &all;
    return kSuccess;
}

// What profilers set besides changes no record.
#define ACCEPT(name) \
    LIBRARY_API int name() { return kSuccess; }
ACCEPT(cuptiUnsubscribe)
ACCEPT(cuptiFinalize)
ACCEPT(cuptiEnableCallback)
ACCEPT(cuptiEnableDomain)
ACCEPT(cuptiActivitySetAttribute)
ACCEPT(cuptiActivityEnableRuntimeApi)
ACCEPT(cuptiActivityEnableDriverApi)
ACCEPT(cuptiActivityEnableCudaEventDeviceTimestamps)
