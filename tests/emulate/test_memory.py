"""Sparse buffers: what they hold, and that big ones cost nothing."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.errors import InputError, LaunchError
from warpwatt.emulate import fills
from warpwatt.emulate.memory import OFFSET_MASK, PAGE, DeviceMemory

MASK = 2**64 - 1


def splitmix(key, index):
    """Return SplitMix64's output as its authors write it, in whole numbers."""
    z = (key + (index + 1) * fills.STEP) & MASK
    z = ((z ^ (z >> 30)) * fills.FIRST) & MASK
    z = ((z ^ (z >> 27)) * fills.SECOND) & MASK
    return z ^ (z >> 31)


@given(st.integers(0, MASK), st.integers(0, 2**50))
def test_random_bits(key, index):
    assert int(fills.mix(key, np.array([index], np.uint64))[0]) == splitmix(key, index)


@pytest.mark.parametrize("dtype", DType)
def test_random_elements_do_not_depend_on_where_one_starts(dtype):
    whole = fills.random(7, dtype, 0, 3000)
    assert fills.random(7, dtype, 1000, 2000).tobytes() == whole[1000:].tobytes()


@pytest.mark.parametrize("dtype", [d for d in DType if d not in fills.FRACTION_BITS])
def test_random_integers_are_small(dtype):
    values = fills.random(3, dtype, 0, 5000)
    assert set(values.tolist()) == set(range(128))


@pytest.mark.parametrize("dtype", [DType.F16, DType.F32, DType.F64])
def test_random_floats_are_uniform(dtype):
    values = fills.random(3, dtype, 0, 40_000).astype(float)
    counts, _ = np.histogram(values, 10, (0, 1))
    assert values.min() >= 0
    assert values.max() < 1
    assert abs(counts / 40_000 - 0.1).max() < 0.01


@pytest.mark.parametrize("fill", [Fill.RANDOM, Fill.ZEROS, Fill.ONES, Fill.ARANGE])
@pytest.mark.parametrize("dtype", [DType.I8, DType.BF16, DType.F64])
def test_pages_are_made_in_any_order(fill, dtype):
    buffer = Buffer(dtype, (3, 4001), fill)
    once, parts = DeviceMemory(), DeviceMemory()
    once.describe("x", buffer)
    address = parts.describe("x", buffer)
    for offset in (9000, 0, 8191, buffer.nbytes - 1):
        parts.touch_pages(np.array([address + offset]), 1)
    assert parts.array("x").tobytes() == once.array("x").tobytes()
    assert once.array("x").shape == (3, 4001)


def test_what_was_written_stays_when_neighbours_are_touched():
    memory = DeviceMemory()
    address = memory.describe("x", Buffer(DType.I32, (4000,), Fill.ONES))
    memory.write(address + 40, b"\7\0\0\0")
    assert memory.array("x")[9:12].tolist() == [1, 7, 1]
    assert memory.read(address + 2 * PAGE, 4) == b"\1\0\0\0"
    other = memory.describe("y", Buffer(DType.I32, (4000,), Fill.ONES))
    memory.touch(other, 3 * PAGE)
    memory.bytes_of(3)[2 * PAGE] = 9
    assert memory.array("y")[[10, 2 * PAGE // 4, 3999]].tolist() == [1, 9, 1]


def test_a_huge_buffer_costs_nothing():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = DeviceMemory()
    address = memory.describe("x", Buffer(DType.F32, (20_000_000_000,)))
    memory.touch_pages(np.array([address, address + 79_999_999_999]), 1)
    assert memory.sizes[2] == 80_000_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_addresses_and_slots():
    memory = DeviceMemory()
    first = memory.place("x", np.zeros(3))
    second = memory.place("y", np.zeros((0, 2), np.int8))
    assert (first >> 40, second >> 40, first & OFFSET_MASK) == (2, 3, 0)
    assert memory.address("y") == second
    assert {slot: name for slot, (name, _) in memory.buffers.items()} == {2: "x", 3: "y"}
    assert memory.sizes[1:5].tolist() == [0, 24, 0, 0]
    assert memory.array("y").shape == (0, 2)


def test_files_are_mapped_and_stay_as_they_are(tmp_path):
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", values)
    memory = DeviceMemory()
    address = memory.describe("x", Buffer(DType.F32, (2, 3), Fill.FILE, path="x.npy"), tmp_path)
    memory.write(address, b"\0\0\x80\xbf")
    assert memory.array("x").tolist() == [[-1, 1, 2], [3, 4, 5]]
    assert np.load(tmp_path / "x.npy").tolist() == values.tolist()


@pytest.mark.parametrize("buffer", [Buffer(DType.F64, (6,), Fill.FILE, path="x.npy"),
                                    Buffer(DType.F32, (7,), Fill.FILE, path="x.npy"),
                                    Buffer(DType.F32, (6,), Fill.FILE, path="none.npy")])  # fmt: skip
def test_files_that_do_not_fit(tmp_path, buffer):
    np.save(tmp_path / "x.npy", np.zeros(6, np.float32))
    with pytest.raises(InputError, match="buffer 'x'"):
        DeviceMemory().describe("x", buffer, tmp_path)


def test_too_large_and_too_many():
    memory = DeviceMemory()
    with pytest.raises(LaunchError, match="at most"):
        memory.describe("x", Buffer(DType.F64, (1 << 38,)))
    for number in range(238 - 1):
        memory.place(str(number), np.zeros(1))
    with pytest.raises(LaunchError, match="more than 238"):
        memory.place("one more", np.zeros(1))


def test_variables_keep_their_values_from_kernel_to_kernel():
    memory = DeviceMemory()
    memory.set_variables(b"\1\2\3\4", {"a": (0, 2), "b": (2, 2)})
    memory.write(1 << 40, b"\x09")
    memory.set_variables(b"\0\0\5\5\1\2", {"b": (0, 2), "c": (2, 2), "a": (4, 2)})
    assert memory.bytes_of(1).tolist() == [3, 4, 5, 5, 9, 2]


def test_a_copied_heap_holds_the_same_and_leaves_the_other_alone():
    one, other = DeviceMemory(), DeviceMemory()
    other.copy_heap(one)  # nobody has allocated from it
    first = one.heap.allocate(64)
    one.write(first, b"kept")
    other.copy_heap(one)
    assert other.read(first, 4) == b"kept"
    other.write(first, b"own!")
    assert other.heap.allocate(16) == one.heap.allocate(16) > first
    assert one.read(first, 4) == b"kept"
