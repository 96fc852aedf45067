// Runs grids: blocks one after another, the threads of a block as fibers.
//
// Catches what a GPU would not tell: barriers that not all threads reach, lanes missing from a warp operation,
// writes beyond the dynamic shared memory, shared memory read before it is written (it starts as 0xff bytes,
// NaN), and, by running threads in several orders, missing barriers.
#include <link.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../cuda_on_cpu.hpp"
#include "runtime.hpp"

namespace cpu {
namespace {

enum class State { ready, at_barrier, in_warp, done };

struct Thread {
    jmp_buf context;
    ucontext_t start;
    State state;
    uint3 index;
    unsigned rank;
    int line;       // of the barrier or warp operation it waits at
    Vote vote;
    int predicate;  // in: its own; out: the block's
    Op op;
    unsigned mask;
    int operand, width;
    uint64_t value;
};

constexpr size_t max_threads = 1024, stack_bytes = 256 << 10;
Thread threads[max_threads];
size_t started = 0, block_threads = 0;
Thread *current = nullptr;
jmp_buf scheduler;
const Entry *kernel = nullptr;
const Value *arguments = nullptr;
unsigned calls = 0;  // atomics and fences since the last switch

// ---- switching ----

__attribute__((noinline)) void pause_here(State state) {
    current->state = state;
    if (!_setjmp(current->context)) _longjmp(scheduler, 1);
}

void fiber() {
    for (;;) {
        kernel->call(arguments);
        pause_here(State::done);
    }
}

void start(Thread &thread) {
    getcontext(&thread.start);
    thread.start.uc_stack.ss_sp = guarded(stack_bytes);
    thread.start.uc_stack.ss_size = stack_bytes;
    thread.start.uc_link = nullptr;
    makecontext(&thread.start, fiber, 0);
}

__attribute__((noinline)) void resume(Thread &thread, size_t number) {
    current = &thread;
    threadIdx = thread.index;
    calls = 0;
    if (_setjmp(scheduler)) return;
    if (number < started) _longjmp(thread.context, 1);
    // First time: setcontext enters the fiber, which never returns here but through `scheduler`.
    setcontext(&thread.start);
}

// ---- what is wrong, and where ----

void list(const char *what, State state, int line) {
    unsigned count = 0, first = 0;
    for (size_t i = 0; i < block_threads; ++i)
        if (threads[i].state == state && (state == State::done || threads[i].line == line) && !count++) first = i;
    if (count && state == State::done) fprintf(stderr, "  %u threads have returned (first: %u)\n", count, first);
    else if (count) fprintf(stderr, "  %u threads %s at line %d (first: %u)\n", count, what, line, first);
}

[[noreturn]] void deadlock() {
    current = nullptr;
    locate(stderr);
    fprintf(stderr, "threads wait for others that never come\n");
    std::vector<int> lines;
    for (size_t i = 0; i < block_threads; ++i)
        if (threads[i].state != State::done) lines.push_back(threads[i].line);
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    for (int line : lines) {
        list("at a barrier", State::at_barrier, line);
        list("in a warp operation", State::in_warp, line);
    }
    list("", State::done, 0);
    _exit(3);
}

// ---- warps ----

size_t first_of_warp(const Thread &thread) { return thread.rank / 32 * 32; }

bool present(size_t first, unsigned lane) { return first + lane < block_threads; }

bool complete(const Thread &caller) {
    size_t first = first_of_warp(caller);
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(caller.mask >> lane & 1) || !present(first, lane)) continue;
        const Thread &t = threads[first + lane];
        if (t.state != State::in_warp || t.op != caller.op || t.mask != caller.mask || t.line != caller.line)
            return false;
    }
    return true;
}

int source_lane(const Thread &t) {
    int lane = t.rank % 32, first = lane & ~(t.width - 1), last = first + t.width - 1;
    switch (t.op) {
        case Op::shuffle: return first | (t.operand & (t.width - 1));
        case Op::shuffle_up: return lane - t.operand < first ? lane : lane - t.operand;
        case Op::shuffle_down: return lane + t.operand > last ? lane : lane + t.operand;
        default: return (lane ^ t.operand) > last ? lane : lane ^ t.operand;
    }
}

uint64_t fold(Op op, uint64_t a, uint64_t b) {
    switch (op) {
        case Op::add: return a + b;
        case Op::min_signed: return int64_t(b) < int64_t(a) ? b : a;
        case Op::max_signed: return int64_t(b) > int64_t(a) ? b : a;
        case Op::min_unsigned: return b < a ? b : a;
        case Op::max_unsigned: return b > a ? b : a;
        case Op::bit_and: return a & b;
        case Op::bit_or: return a | b;
        default: return a ^ b;
    }
}

uint64_t result(const Thread &t, const uint64_t *values, unsigned lanes) {
    unsigned bits = 0;
    uint64_t total = 0;
    bool any = false;
    switch (t.op) {
        case Op::sync: return 0;
        case Op::shuffle: case Op::shuffle_up: case Op::shuffle_down: case Op::shuffle_xor: {
            int source = source_lane(t);
            return lanes >> source & 1 ? values[source] : ~uint64_t(0);  // undefined: let it show
        }
        case Op::ballot:
            for (unsigned lane = 0; lane < 32; ++lane) bits |= unsigned(lanes >> lane & values[lane] & 1) << lane;
            return bits;
        case Op::match_any: case Op::match_all:
            for (unsigned lane = 0; lane < 32; ++lane)
                bits |= unsigned((lanes >> lane & 1) && values[lane] == t.value) << lane;
            return t.op == Op::match_any || bits == lanes ? bits : 0;
        default:
            for (unsigned lane = 0; lane < 32; ++lane) {
                if (!(lanes >> lane & 1)) continue;
                total = any ? fold(t.op, total, values[lane]) : values[lane];
                any = true;
            }
            return total;
    }
}

void finish(const Thread &caller) {
    size_t first = first_of_warp(caller);
    uint64_t values[32] = {}, results[32];
    unsigned lanes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        if ((caller.mask >> lane & 1) && present(first, lane)) lanes |= 1u << lane;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (lanes >> lane & 1) values[lane] = threads[first + lane].value;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (lanes >> lane & 1) results[lane] = result(threads[first + lane], values, lanes);
    for (unsigned lane = 0; lane < 32; ++lane)
        if (lanes >> lane & 1) threads[first + lane].value = results[lane], threads[first + lane].state = State::ready;
}

// ---- blocks ----

bool release_barrier() {
    int count = 0, live = 0, line = -1;
    for (size_t i = 0; i < block_threads; ++i) {
        const Thread &t = threads[i];
        if (t.state == State::done) continue;
        if (t.state != State::at_barrier || (line >= 0 && line != t.line)) return false;
        line = t.line;
        ++live;
        count += t.predicate != 0;
    }
    for (size_t i = 0; i < block_threads; ++i) {
        Thread &t = threads[i];
        if (t.state == State::done) continue;
        t.predicate = t.vote == Vote::count ? count : t.vote == Vote::all ? count == live : count > 0;
        t.state = State::ready;
    }
    return true;
}

struct Region {
    unsigned char *start = nullptr;
    size_t bytes = 0;
} shared;

int find_shared(dl_phdr_info *info, size_t, void *) {
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data)
            shared = {static_cast<unsigned char *>(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz};
    return 1;  // the first object is the program itself
}

}  // namespace
}  // namespace cpu

// Where extern shared arrays begin; the driver defines it with room for the largest and a margin.
extern "C" unsigned char *cpu_dynamic_shared();

namespace cpu {
namespace {

void check_dynamic(size_t bytes) {
    const unsigned char *end = cpu_dynamic_shared();
    if (!end) return;
    for (size_t i = bytes; i < bytes + 1024; ++i)
        if (end[i] != 0xff) current = nullptr, fail("wrote beyond the dynamic shared memory of the launch");
}

// In which order the threads of a block take turns. Seed 0 passes over all again and again; others let one warp
// after another run as far as it can, backward (1) or shuffled (above 1), so that missing barriers show.
struct Order {
    std::vector<unsigned> threads;
    size_t group;  // so many threads form a group that runs as far as it can
    int turns;     // of a group before the next one's, so that spinning cannot last
};

Order thread_order(int seed) {
    size_t warps = (block_threads + 31) / 32;
    std::vector<unsigned> by_warp(warps), order;
    std::iota(by_warp.begin(), by_warp.end(), 0u);
    std::mt19937 generator{unsigned(seed)};
    if (seed > 1) std::shuffle(by_warp.begin(), by_warp.end(), generator);
    for (unsigned warp : by_warp) {
        for (unsigned i = warp * 32; i < std::min<size_t>(warp * 32 + 32, block_threads); ++i) order.push_back(i);
        if (seed > 1) std::shuffle(order.end() - (order.size() - 1) % 32 - 1, order.end(), generator);
    }
    if (seed == 1) std::reverse(order.begin(), order.end());
    return seed == 0 ? Order{order, block_threads, 1} : Order{order, 32, 1000};
}

// Resumes each ready thread of a part of the order once; returns whether there was one.
bool take_turns(const Order &order, size_t from, size_t to, size_t &done) {
    bool any = false;
    for (size_t i = from; i < std::min(to, block_threads); ++i) {
        unsigned number = order.threads[i];
        if (threads[number].state != State::ready) continue;
        any = true;
        resume(threads[number], number);
        done += threads[number].state == State::done;
    }
    return any;
}

void run_block(const Order &order, size_t dynamic) {
    memset(shared.start, 0xff, shared.bytes);
    for (size_t i = 0; i < block_threads; ++i) threads[i].state = State::ready;
    for (size_t done = 0; done < block_threads;) {
        bool progress = false;
        for (size_t from = 0; from < block_threads; from += order.group)
            for (int turn = 0; turn < order.turns && take_turns(order, from, from + order.group, done); ++turn)
                progress = true;
        if (!progress && !release_barrier()) deadlock();
    }
    check_dynamic(dynamic);
}

void prepare_threads() {
    block_threads = size_t(blockDim.x) * blockDim.y * blockDim.z;
    if (block_threads > max_threads) fail("more than 1024 threads in a block");
    for (unsigned i = 0; i < block_threads; ++i) {
        threads[i].rank = i;
        threads[i].index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y)};
    }
    // Fibers are entered in the order of their numbers so that `started` tells which ones exist.
    for (; started < block_threads; ++started) {
        start(threads[started]);
        static const Entry nothing = {"", 0, [](const Value *) {}};
        const Entry *real = kernel;
        kernel = &nothing;
        resume(threads[started], started);
        kernel = real;
    }
}

}  // namespace

// ---- what the rest of the runtime and kernels call ----

void *guarded(size_t bytes) {
    char *base = static_cast<char *>(
        mmap(nullptr, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (base == MAP_FAILED || mprotect(base + page, bytes, PROT_READ | PROT_WRITE)) fail("out of memory");
    return base + page;
}

void locate(FILE *to) {
    if (kernel) fprintf(to, "kernel %s, block %u,%u,%u", kernel->name, blockIdx.x, blockIdx.y, blockIdx.z);
    if (current) fprintf(to, ", thread %u,%u,%u", threadIdx.x, threadIdx.y, threadIdx.z);
    fprintf(to, ": ");
}

bool below_a_stack(const void *address) {
    for (size_t i = 0; i < started; ++i) {
        auto *stack = static_cast<const char *>(threads[i].start.uc_stack.ss_sp);
        if (address >= stack - page && address < stack) return true;
    }
    return false;
}

void find_shared_memory() { dl_iterate_phdr(find_shared, nullptr); }

void run_grid(const Entry &entry, const Value *values, dim3 grid, dim3 block, size_t dynamic, int order_seed) {
    kernel = &entry, arguments = values;
    gridDim = grid, blockDim = block;
    current = nullptr;
    prepare_threads();
    auto order = thread_order(order_seed);
    for (unsigned z = 0; z < grid.z; ++z)
        for (unsigned y = 0; y < grid.y; ++y)
            for (unsigned x = 0; x < grid.x; ++x) {
                blockIdx = {x, y, z};
                run_block(order, dynamic);
            }
    current = nullptr;
    kernel = nullptr;
}

int barrier(Vote vote, int predicate, int line) {
    Thread *self = current;
    self->vote = vote, self->predicate = predicate, self->line = line;
    pause_here(State::at_barrier);
    return self->predicate;
}

uint64_t warp(Op op, unsigned mask, uint64_t value, int operand, int width, int line) {
    Thread *self = current;
    if (!(mask >> (self->rank % 32) & 1)) fail("the calling lane is missing from the mask of a warp operation");
    if (width < 1 || width > 32 || (width & (width - 1))) fail("a shuffle's width must be a power of two up to 32");
    self->op = op, self->mask = mask, self->value = value;
    self->operand = operand, self->width = width, self->line = line;
    self->state = State::in_warp;
    if (complete(*self)) finish(*self);
    else pause_here(State::in_warp);
    return self->value;
}

unsigned lane() { return current->rank % 32; }

// Lets others run now and then, so that a thread may spin on what another will write.
void yield() {
    if (++calls > 1000) pause_here(State::ready);
}

void fail(const char *what) {
    locate(stderr);
    fprintf(stderr, "%s\n", what);
    _exit(3);
}

}  // namespace cpu
