"""Bad input: a clear message, the right exit code, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = str(EXAMPLES / "saxpy.cu")
LAUNCH = ["--grid", "64", "--block", "256"]
PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u32 n)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [n];
    OPCODE
    ret;
}
"""


def test_good_input_exits_with_0(run):
    code, out, _ = run("predict", SAXPY)
    assert code == 0
    assert "saxpy" in out
    assert "DRAM bandwidth" in out


def test_no_such_file(run):
    code, _, err = run("predict", "absent.cu", *LAUNCH)
    assert code == 1
    assert "absent.cu" in err


def test_a_compile_error_shows_the_compilers_lines(run, file):
    path = file("bad.cu", "__global__ void k(int *x) {\n  x[0] = undefined_name;\n}\n")
    code, _, err = run("predict", path, *LAUNCH)
    assert code == 1
    assert "undefined_name" in err
    assert "bad.cu:2" in err or "bad.cu(2)" in err


def test_no_kernel(run, file):
    code, _, err = run("predict", file("host.cu", "int main() { return 0; }\n"), *LAUNCH)
    assert code == 1
    assert "kernel" in err


def test_an_ambiguous_name_lists_the_candidates(run):
    code, _, err = run("predict", EXAMPLES / "matmul.cu", "--kernel", "matmul", *LAUNCH)
    assert code == 1
    assert "matmul_naive" in err
    assert "matmul_tiled" in err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--grid", "0", "--block", "256"], "at least 1"),
        (["--grid", "64", "--block", "0"], "at least 1"),
        (["--grid", "64", "--block", "2048"], "1024"),
        (["--grid", "1,70000", "--block", "32"], "65535"),
        (["--grid", "3000000000", "--block", "32"], "2147483647"),
        (["--grid", "64", "--block", "256", "--shared", "300000"], "NVIDIA H200"),
        (["--grid", "64", "--block", "256", "--shared", "-1"], "-1"),
        (["--grid", "64", "--block", "256", "--shared", "many"], "no number is called 'many'"),
        (["--grid", "n/q", "--block", "256"], "no number is called 'q'"),
        (["--grid", "64", "--block", "256", "--arg", "x=5"], "is a pointer (float const*)"),
        (
            ["--grid", "64", "--block", "256", "--arg", "q=5"],
            "kernel saxpy(int, float, float const*, float*)",
        ),
        (["--grid", "64", "--block", "256", "--clock", "fast"], "clock"),
        (["--grid", "64", "--block", "256", "--clock", "1"], "MHz"),
        (["--grid", "64", "--block", "256", "--clock", "4800"], "impossible clock"),
        (["--grid", "64", "--block", "256", "--clock", "1800,1200"], "impossible memory clock"),
        (["--grid", "64", "--block", "256", "--loop", "x"], "loop"),
        (["--grid", "64", "--block", "256", "--arg", "m=4"], "m"),
        (["--grid", "64", "--block", "256", "--arg", "n=f32[4]"], "n"),
        (["--grid", "64", "--block", "256", "--arg", "n=2.5"], "n"),
        (["--grid", "64", "--block", "256", "--arg", "x=f32[-4]"], "negative"),
        (["--grid", "64", "--block", "256", "--arg", "x=f32[99999999999999*9999999]"], "overflows"),
    ],
)
def test_impossible_values_exit_with_1(run, words, named):
    code, _, err = run("predict", SAXPY, *words)
    assert code == 1
    assert named in err


def test_a_missing_argument_is_named_with_its_flag(run, file):
    source = "__global__ void k(int n, float *x) { for (int i = 0; i < n; ++i) x[threadIdx.x] += i; }\n"
    code, _, err = run("predict", file("loop.cu", source), *LAUNCH)
    assert code == 1
    assert "--arg n=" in err


def test_an_unknown_gpu_names_the_nearest_and_exits_with_3(run):
    code, _, err = run("predict", SAXPY, "--gpu", "h20o")
    assert code == 3
    assert "H200" in err


@pytest.mark.parametrize(
    "words",
    [
        ["predict"],
        ["predict", SAXPY, "--gird", "3"],
        ["predict", SAXPY, "--format", "yaml"],
        ["predict", SAXPY, "--model", "time=crystal-ball"],
        ["divine", SAXPY],
        ["predict", SAXPY, "-o", "report.pdf"],
        ["predict", SAXPY, "--level", "ptx", "--model", "time=pipeline"],
    ],
)
def test_command_line_errors_exit_with_2(run, words):
    assert run(*words)[0] == 2


def test_no_launch_is_a_command_line_error(run, file):
    path = file("plain.cu", "__global__ void k(float *x) { x[threadIdx.x] = 1; }\n")
    code, _, err = run("predict", path)
    assert code == 2
    assert "--grid" in err


@pytest.mark.parametrize("name", ["garbage.ptx", "garbage.cubin", "garbage.fatbin", "garbage.o"])
@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF\x02\x01\x01" + b"\x00" * 40, bytes(range(256)) * 20, b"\x00" * 99]
)
def test_garbage_is_refused(run, file, name, content):
    code, _, err = run("predict", file(name, content), *LAUNCH)
    assert code == 1
    assert name in err


def test_truncated_ptx_names_the_line(run, file):
    text = PTX.replace("OPCODE", "add.u32 %r2, %r1, 1;")
    code, _, err = run("predict", file("cut.ptx", text[: len(text) - 20]), *LAUNCH)
    assert code == 1
    assert "cut.ptx" in err


def test_an_unknown_opcode_is_counted_or_stops(run, file):
    path = file("new.ptx", PTX.replace("OPCODE", "frobnicate.u32 %r2, %r1, 1;"))
    code, out, _ = run("predict", path, *LAUNCH, "--arg", "0=4")
    assert code == 0
    assert "frobnicate" in out
    code, _, err = run("predict", path, *LAUNCH, "--arg", "0=4", "--unknown", "error")
    assert code == 1
    assert "frobnicate" in err


def test_an_existing_output_is_kept_without_force(run, file):
    path = file("out.json", "precious")
    code, _, err = run("predict", SAXPY, "-o", path)
    assert code == 1
    assert "--force" in err
    assert path.read_text(encoding="utf-8") == "precious"
    assert run("predict", SAXPY, "-o", path, "--force")[0] == 0
    assert path.read_text(encoding="utf-8").startswith("{")
