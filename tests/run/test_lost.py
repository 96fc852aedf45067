"""Launches that cannot be computed: what they write is lost, nothing else, and whoever reads it is told."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.run.test_run import run
from warpwatt.core.errors import InputError
from warpwatt.gpus import find
from warpwatt.run import execution
from warpwatt.run.build import compile_program
from warpwatt.run.client import Bounds
from warpwatt.run.session import Wanted
from warpwatt.run.session import run as run_program

pytestmark = pytest.mark.toolchain
NOT_SUPPORTED = 801
WORDS = 32
PROGRAM = """
#include <cstdio>
#include <cstdlib>
__global__ void good(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x] + 1; }
__global__ void bad(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x] + 1; }
int main(int count, char **words) {
  int *buffers[3], host[32];
  for (int **buffer = buffers; buffer < buffers + 3; ++buffer) cudaMalloc(buffer, sizeof host);
  for (int k = 1; k < count; ++k) {
    const char *word = words[k];
    int *to = buffers[word[1] - '0'], *from = buffers[word[2] - '0'], value = atoi(word + 2);
    for (int &one : host) one = value;
    cudaError_t error = cudaSuccess;
    switch (word[0]) {
      case 'g': good<<<1, 32>>>(to, from); break;
      case 'b': bad<<<1, 32>>>(to, from); break;
      case 'c': error = cudaMemcpy(to, from, sizeof host, cudaMemcpyDeviceToDevice); break;
      case 'h': error = cudaMemcpy(to, host, sizeof host, cudaMemcpyHostToDevice); break;
      case 'p': error = cudaMemcpy(to, host, 4, cudaMemcpyHostToDevice); break;
      case 'm': error = cudaMemset(to, value, sizeof host); break;
      case 'f': cudaFree(to); error = cudaMalloc(buffers + (word[1] - '0'), sizeof host);
                cudaMemset(buffers[word[1] - '0'], 0, sizeof host); break;
      case 's': error = cudaDeviceSynchronize(); break;
      case 'r': error = cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost);
                if (!error) printf("%d %d\\n", host[0], host[31]); break;
    }
    if (error) printf("%d\\n", error);
  }
}
"""
MANAGED = """
#include <cstdio>
__global__ void bad(int *x) { x[threadIdx.x] = 1; }
int main() { int *x, *y; cudaMalloc(&y, 128); bad<<<1, 32>>>(y); printf("%d ", cudaDeviceSynchronize());
  cudaMallocManaged(&x, 128); bad<<<1, 32>>>(x); printf("%d ", cudaDeviceSynchronize()); cudaFree(x);
  printf("%d\\n", cudaDeviceSynchronize()); }
"""
SPIN = """
#include <cstdio>
__global__ void spin(int *x, int n) { for (int k = 0; k < n; ++k) x[threadIdx.x] = x[threadIdx.x] * 3 + k; }
int main() { int *x, y = 7; cudaMalloc(&x, 128); cudaMemset(x, 0, 128); spin<<<1, 32>>>(x, 1 << 30);
  cudaError_t error = cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost); printf("%d %d\\n", error, y); }
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lost")
    for name, text in (("program", PROGRAM), ("managed", MANAGED), ("spin", SPIN)):
        (folder / f"{name}.cu").write_text(text)
        compile_program(folder / f"{name}.cu", ["-O1"], ["sm_90"], folder)
    return folder


def in_process(monkeypatch, tmp_path, *command: object) -> tuple[str, Any]:
    """Run a program whose kernel ``bad`` cannot be computed; return what it prints and the result."""
    real: Any = vars(execution)["execute"]

    def execute(routine: Any, *rest: Any, **more: Any) -> Any:
        if "bad" in routine.program.name:
            raise InputError("instructions that are not emulated: BAD")
        return real(routine, *rest, **more)

    monkeypatch.setattr(execution, "execute", execute)
    said: list[str] = []
    with (tmp_path / "printed").open("w") as output:
        wanted = Wanted([find("h200")], notify=said.append)
        result = run_program([*map(str, command)], wanted, Bounds(seconds=100), output)
    return (tmp_path / "printed").read_text(), result


def operations(seed: int) -> list[str]:
    """Return operations on three buffers, one in seven of them not to be computed."""
    draw = random.Random(seed)
    words = ["m01", "m12", "m23"]
    for _ in range(40):
        kind = draw.choice("gggbchpmfsrrrr")
        to, other = draw.sample(range(3), 2)
        words.append(f"{kind}{to}{other}" if kind in "gbc" else f"{kind}{to}{draw.randrange(9)}")
    return [*words, "r00", "r10", "r20"]


def expected(words: list[str]) -> tuple[list[str], bool]:
    """Return what a program prints that is told all it may not know, and whether it may not know anything."""
    values, lost, printed = [[0] * WORDS for _ in range(3)], [False] * 3, []
    for word in words:
        to, value = int(word[1]), int(word[2])
        match word[0]:
            case "g" | "b":
                values[to] = [one + 1 for one in values[value]]
                lost[to] |= lost[value] or word[0] == "b"
            case "c":
                values[to] = list(values[value])
                lost[to] = lost[value]
            case "h" | "f" | "m":
                values[to] = [value * {"h": 1, "m": 0x01010101, "f": 0}[word[0]]] * WORDS
                lost[to] = False
            case "p":
                values[to][0] = value
            case "r":
                printed.append(str(NOT_SUPPORTED) if lost[to] else f"{values[to][0]} {values[to][-1]}")
    return printed, str(NOT_SUPPORTED) in printed


@pytest.mark.parametrize("seed", range(4))
def test_every_read_is_right_or_an_error_whatever_was_not_computed(programs, monkeypatch, tmp_path, seed):
    words = operations(seed)
    printed, result = in_process(monkeypatch, tmp_path, programs / "program", *words)
    wanted, is_read = expected(words)
    assert printed.splitlines() == wanted
    assert bool(result.read_lost) == is_read
    assert result.status == 0
    assert result.launches == sum(word[0] in "gb" for word in words)


def test_memory_that_the_program_sees_is_an_error_where_it_waits(programs, monkeypatch, tmp_path):
    printed, result = in_process(monkeypatch, tmp_path, programs / "managed")
    assert printed == f"0 {NOT_SUPPORTED} 0\n"
    assert result.unknown_from == "launch 1, bad: instructions that are not emulated: BAD"
    assert result.ended == f"the program read memory that was not computed ({result.unknown_from})"


def test_past_the_budget_reads_are_errors_and_so_is_the_run(programs):
    done = run("--budget", 0.3, programs / "spin")
    assert done.stdout.startswith(f"{NOT_SUPPORTED} 7\n")
    assert done.returncode == 1
    assert "read memory that was not computed (launch 1, spin: the budget of 0.3 s is spent" in done.stderr
    assert "Traceback" not in done.stderr


def test_who_wants_times_alone_reads_what_was_there(programs):
    done = run("--budget", 0, programs / "spin")
    assert done.stdout.startswith("0 0\n")
    assert done.returncode == 0
    assert "not computed, what they write is lost: launch 1" in " ".join(done.stdout.split())
