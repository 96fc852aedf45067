"""printf, assert, malloc and free in kernels, recursion and calls through pointers, from CUDA sources."""

from __future__ import annotations

import ctypes
import struct
from functools import lru_cache
from random import Random

import numpy as np
import pytest

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.device_heap import ALIGNMENT, DeviceHeap
from warpwatt.emulate.functional import execute, routine_of
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.printf import formatted
from warpwatt.emulate.run import Stop
from warpwatt.frontend.load import load
from warpwatt.program.binding import bind

SOURCE = """
#include <cassert>
#include <cstdio>
extern "C" __global__ void speak(int n, float f) {
    printf("block %d thread %3d: %g, %s|%-5s|%c%%\\n", blockIdx.x, threadIdx.x, f * threadIdx.x,
           threadIdx.x & 1 ? "odd" : "even", "ab", 'a' + threadIdx.x);
    if (threadIdx.x == 2) printf("%lld %zu %x\\n", -5000000000LL, (size_t)n, n);
}
extern "C" __global__ void check(const int *x, int n) { assert(x[threadIdx.x] < n); }
extern "C" __global__ void lists(int **heads, int *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *mine = (int *)malloc(n * sizeof(int));
    for (int k = 0; k < n; ++k) mine[k] = i + k;
    heads[i] = mine;
    int *other = (int *)malloc(100000000);
    free(other);
    sums[i] = (other == nullptr) ? mine[0] + mine[n - 1] : -1;
}
extern "C" __global__ void drop(int **heads, int *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k) sums[i] += heads[i][k];
    free(heads[i]);
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursive(int *x, int n) { x[threadIdx.x] = fibonacci(threadIdx.x % n); }
__device__ int square(int a) { return a * a; }
__device__ int cube(int a) { return a * a * a; }
typedef int (*Function)(int);
__device__ Function functions[2] = {square, cube};
extern "C" __global__ void through_pointers(int *x) {
    x[threadIdx.x] = functions[threadIdx.x & 1](threadIdx.x);
}
"""


@lru_cache(maxsize=1)
def _kernels(path):
    return {kernel.name: kernel for kernel in load(path, "sm_90")}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    path = tmp_path_factory.mktemp("system") / "system.cu"
    path.write_text(SOURCE, encoding="utf-8")
    return _kernels(path)


def run(kernel, arguments, *, grid=1, block=4, memory=None, arrays=None, addresses=None):
    given = Launch(Dim3(grid), Dim3(block), arguments=parse_arguments(arguments))
    routine = routine_of(kernel)
    bound = bind(routine.program, given, kernel.ptx.parameters)
    context, memory = load_launch(bound, memory=memory, arrays=arrays, addresses=addresses)
    return execute(routine, context, memory), memory


@pytest.mark.toolchain
@pytest.mark.parametrize("depth", [3, 13])
def test_recursion_is_executed_on_a_bounded_stack(kernels, depth):
    arrays = {"x": np.zeros(32, np.int32)}
    outcome, memory = run(kernels["recursive"], ["x=i32[32]", f"n={depth}"], block=32, arrays=arrays)
    assert outcome.stop is Stop.DONE
    values = [0, 1]
    while len(values) < depth:
        values.append(values[-1] + values[-2])
    assert memory.array("x").tolist() == [values[t % depth] for t in range(32)]


@pytest.mark.toolchain
def test_recursion_beyond_the_stack_is_a_fault(kernels):
    """As deep as the thread's number: beyond the stack for the last ones, long before they would return."""
    arrays = {"x": np.zeros(1024, np.int32)}
    outcome, _ = run(kernels["recursive"], ["x=i32[1024]", "n=1024"], block=1024, arrays=arrays)
    assert outcome.stop is Stop.FAULT
    assert outcome.fault is not None
    assert outcome.fault.reason == "out of bounds"


@pytest.mark.toolchain
def test_calls_through_pointers_reach_each_lanes_function(kernels):
    _, memory = run(
        kernels["through_pointers"], ["x=i32[32]"], block=32, arrays={"x": np.zeros(32, np.int32)}
    )
    assert memory.array("x").tolist() == [t**3 if t & 1 else t**2 for t in range(32)]


@pytest.mark.toolchain
def test_printf_writes_what_each_thread_says(kernels):
    outcome, _ = run(kernels["speak"], ["n=255", "f=0.5"], grid=2)
    assert outcome.stop is Stop.DONE
    assert not outcome.unknown
    text = "".join(
        f"block {b} thread {t:3d}: {t * 0.5:g}, {'odd' if t & 1 else 'even'}|ab   |{chr(97 + t)}%\n"
        for b in range(2)
        for t in range(4)
    )
    lines = text.splitlines(keepends=True)
    extra = "-5000000000 255 ff\n"
    assert outcome.printed == "".join([*lines[:4], extra, *lines[4:], extra])


@pytest.mark.toolchain
def test_a_failed_assertion_ends_the_kernel_and_says_which(kernels):
    x = np.array([1, 2, 9, 3], np.int32)
    outcome, _ = run(kernels["check"], ["x=i32[4]", "n=5"], arrays={"x": x})
    assert outcome.stop is Stop.FAULT
    assert outcome.fault is not None
    assert outcome.fault.thread == 2
    assert "block: [0,0,0], thread: [2,0,0] Assertion `x[threadIdx.x] < n` failed.\n" in outcome.printed
    assert "check(const int *, int)" in outcome.printed


@pytest.mark.toolchain
def test_memory_that_a_kernel_allocates_lives_until_another_frees_it(kernels):
    threads, n = 96, 7
    arguments = [f"heads=u64[{threads}]", f"sums=i32[{threads}]", f"n={n}"]
    arrays = {"heads": np.zeros(threads, np.uint64), "sums": np.zeros(threads, np.int32)}
    outcome, memory = run(kernels["lists"], arguments, grid=3, block=32, arrays=arrays)
    assert outcome.stop is Stop.DONE
    i = np.arange(threads)
    assert (memory.array("sums") == 2 * i + n - 1).all()
    assert len(set(memory.array("heads").tolist())) == threads
    addresses = {name: memory.address(name) for name in arrays}
    run(kernels["drop"], arguments, grid=3, block=32, memory=memory, arrays=arrays, addresses=addresses)
    assert (memory.array("sums") == 2 * i + n - 1 + n * i + n * (n - 1) // 2).all()
    later = DeviceMemory()
    later.share_heap(memory)
    assert later.heap.allocate(memory.heap_bytes) != 0  # all of it is free again
    assert memory.heap.allocate(1) == 0


@pytest.mark.parametrize(
    ("template", "pack", "values"),
    [
        ("%d|%5d|%-5d|%05d|%+d|%i", "iiiiii", (1, -2, 3, -4, 5, 6)),
        ("%u %x %X %o %#x %#o", "iiiiii", (-1, 255, 255, 8, 255, 8)),
        ("%lu %lld %hd %hhd", "Qqii", (2**64 - 1, -(2**63), 70000, 300)),
        ("%f %e %g %G %.3f %10.2f %-10.1e|", "ddddddd", (1.5, 1e10, 1e-5, 1e20, 3.14159, 2.5, 1e300)),
        ("%f %F %g", "ddd", (float("inf"), float("nan"), -float("inf"))),
        ("%c%c %5c|%%", "iii", (72, 105, 33)),
        ("%*d|%.*f|%-*d|", "iiidii", (5, 42, 2, 1.23456, 4, 7)),
        ("%d %f %d %lld", "idiq", (1, 2.0, 3, 4)),
        ("%.0f %5.1f%% done", "dd", (2.5, 99.95)),
    ],
)
def test_formats_are_the_c_librarys(template, pack, values):
    out = ctypes.create_string_buffer(500)
    given = [
        ctypes.c_double(v) if kind == "d" else ctypes.c_longlong(v) if kind in "qQ" else ctypes.c_int(v)
        for kind, v in zip(pack, values, strict=True)
    ]
    ctypes.CDLL(None).snprintf(out, 500, template.encode(), *given)
    data = b""
    for kind, value in zip(pack, values, strict=True):
        size = struct.calcsize(kind)
        data += b"\0" * (-len(data) % size) + struct.pack(f"<{kind}", value)
    assert formatted(template, lambda at, size: data[at : at + size], str) == out.value.decode()


def test_the_heap_never_gives_a_byte_twice_and_gets_all_back():
    random, heap = Random(1), DeviceHeap(4096, 10_000)
    held: dict[int, int] = {}
    for _ in range(3000):
        if held and random.random() < 0.5:
            address = random.choice(list(held))
            del held[address]
            assert heap.free(address)
        size = random.randrange(1, 700)
        if address := heap.allocate(size):
            assert address % ALIGNMENT == 0
            assert 4096 <= address <= 14096 - size
            assert all(address >= a + n or a >= address + size for a, n in held.items())
            held[address] = size
    assert all(heap.free(address) for address in held)
    assert heap.allocate(10_000) == 4096
    assert not heap.free(4100)
