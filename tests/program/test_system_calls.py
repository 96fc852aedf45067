"""Calls of functions of the system: their names from PTX and from machine code of several targets."""

from __future__ import annotations

import numpy as np
import pytest

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.functional import execute
from warpwatt.emulate.lift import lift
from warpwatt.emulate.run import Stop
from warpwatt.frontend.load import load
from warpwatt.program.binding import bind
from warpwatt.program.system_calls import system_calls

SOURCE = """
#include <cstdio>
extern "C" __global__ void sums(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    int *mine = (int *)malloc(n * sizeof(int));
    if (mine == nullptr) printf("full");
    for (int k = 0; k < n; ++k) mine[k] = i * k;
    for (int k = 0; k < n; ++k) sum += mine[(7 * k) % n];
    out[i] = sum;
    free(mine);
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("heap") / "sums.cu"
    path.write_text(SOURCE, encoding="utf-8")
    return path


@pytest.mark.toolchain
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_100"])
def test_machine_code_names_the_functions_that_it_calls_and_runs_them(source, target):
    (kernel,) = load(source, target)
    names = {"malloc", "free", "vprintf"}
    assert {name for _, name in system_calls(kernel.ptx)} == names
    assert {name for _, name in system_calls(kernel.sass)} == names
    given = Launch(Dim3(2), Dim3(32), arguments=parse_arguments(["out=i32[64]", "n=10"]))
    bound = bind(kernel.sass, given, kernel.ptx.parameters)
    context, memory = load_launch(bound, arrays={"out": np.zeros(64, np.int32)})
    assert execute(lift(kernel.sass), context, memory).stop is Stop.DONE
    assert memory.array("out").tolist() == [45 * i for i in range(64)]


PRINTING = """
#include <cassert>
#include <cstdio>
extern "C" __global__ void said(int *out, int n) {
    assert(n > 5);
    if (threadIdx.x < 2) printf("%d of %s\\n", threadIdx.x + n, "all");
    out[threadIdx.x] = n;
}
"""


@pytest.mark.toolchain
@pytest.mark.parametrize("target", ["sm_75", "sm_100"])
def test_machine_code_prints_and_says_what_it_asserts(tmp_path, target):
    source = tmp_path / "said.cu"
    source.write_text(PRINTING, encoding="utf-8")
    (kernel,) = load(source, target)
    assert not lift(kernel.sass).uncovered
    for n, wanted in ((7, "7 of all\n8 of all\n"), (5, "Assertion `n > 5` failed")):
        given = Launch(Dim3(1), Dim3(4), arguments=parse_arguments(["out=i32[4]", f"n={n}"]))
        bound = bind(kernel.sass, given, kernel.ptx.parameters)
        context, memory = load_launch(bound, arrays={"out": np.zeros(4, np.int32)})
        assert wanted in execute(lift(kernel.sass), context, memory).printed
