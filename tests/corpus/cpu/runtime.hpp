// Between a generated driver, the job it runs (job.cpp) and the threads that do (runtime.cpp).
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <type_traits>
#include <utility>

namespace cpu {

// One argument as read from the job: where a parameter is a pointer, an integer or a float.
struct Value {
    void *pointer;
    int64_t integer;
    double real;

    template <class T> T as() const {
        if constexpr (std::is_pointer_v<T>) return static_cast<T>(pointer);
        else if constexpr (std::is_floating_point_v<T>) return T(real);
        else return T(integer);
    }
};

struct Entry {
    const char *name;
    size_t parameters;
    void (*call)(const Value *);
};

struct Symbol {
    const char *name;
    void *address;
    size_t bytes;
};

template <auto kernel> struct Caller;
template <class... P, void (*kernel)(P...)> struct Caller<kernel> {
    template <size_t... I> static void spread(const Value *v, std::index_sequence<I...>) {
        (void)v;
        kernel(v[I].template as<std::remove_cv_t<P>>()...);
    }
    static void call(const Value *v) { spread(v, std::index_sequence_for<P...>()); }
    static constexpr size_t parameters = sizeof...(P);
};

template <auto kernel> constexpr Entry entry(const char *name) {
    return {name, Caller<kernel>::parameters, Caller<kernel>::call};
}

constexpr size_t page = 4096;
// Returns zeroed pages between two that must not be touched.
void *guarded(size_t bytes);
// Prints kernel, block and thread in progress.
void locate(FILE *to);
// Whether an address lies in the guard page of a thread's stack.
bool below_a_stack(const void *address);
// Finds the program's thread-local storage, which is the block's shared memory; call once.
void find_shared_memory();
// Runs one launch with the threads of each block in an order: 0 in turns, 1 warps backward, above 1 shuffled.
void run_grid(const Entry &entry, const Value *values, dim3 grid, dim3 block, size_t dynamic, int order_seed);

}  // namespace cpu

// Defined by the driver; a null name ends each.
extern const cpu::Entry cpu_entries[];
extern const cpu::Symbol cpu_symbols[];
