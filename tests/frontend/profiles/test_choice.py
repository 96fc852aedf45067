"""The nearest launch of the right kernel."""

import pytest

from warpwatt.core.case import Profile
from warpwatt.core.errors import KernelSelectionError
from warpwatt.core.gpu import Clocks
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Kernel, Resources
from warpwatt.frontend.profiles import choose
from warpwatt.gpus import find

KERNEL = Kernel("_Z4axpyILi4EEviPf", "void axpy<4>(int, float*)", "sm_75", Resources(registers=16))
LAUNCH = Launch(Dim3(1024), Dim3(256))


def profile(kernel="", grid=1024, block=256, gpu="Tesla T4"):
    launch = Launch(Dim3(grid), Dim3(block))
    return Profile(gpu, Clocks(1e9, 1e9), time=1e-3, kernel=kernel, launch=launch)


@pytest.mark.parametrize(
    "name", ["", "axpy", "void axpy<4>(int, float*)", "void axpy<(int)4>(int,float*)", "_Z4axpyILi4EEviPf"]
)
def test_names_that_mean_the_kernel(name):
    found = profile(name)
    assert choose([profile("gemm"), found], KERNEL, LAUNCH, find("t4")) is found


@pytest.mark.parametrize("name", ["gemm", "axpy_batched", "void axpy<8>(int, float*)"])
def test_other_kernels_are_listed(name):
    with pytest.raises(KernelSelectionError) as caught:
        choose([profile(name)], KERNEL, LAUNCH, find("t4"))
    assert name in caught.value.details


def test_the_nearest_launch_wins():
    order = [
        profile(),
        profile(grid=2000),
        profile(grid=90_000),
        profile(block=128),
        profile(gpu="NVIDIA H200"),
    ]
    for first in range(len(order)):
        assert choose(order[first:][::-1], KERNEL, LAUNCH, find("t4")) is order[first]
