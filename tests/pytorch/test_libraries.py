"""Closed libraries as PyTorch calls them: every result against that of PyTorch on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TORCH = Path(os.environ.get("WARPWATT_TORCH", "/nowhere"), "bin", "python")
pytestmark = pytest.mark.skipif(not TORCH.exists(), reason="WARPWATT_TORCH names no environment with PyTorch")

CHECK = """
import torch, torch.nn.functional as F
L = torch.linalg
torch.manual_seed(0)
def check(name, f, *args, tol=1e-5):
    try:
        pair = [f(*[a.to(d) for a in args]) for d in ("cpu", "cuda")]
        cpu, gpu = (list(r) if isinstance(r, (tuple, list)) else [r] for r in pair)
        both = [(c.cdouble(), g.cpu().cdouble()) for c, g in zip(cpu, gpu)]
        error = max(float((c - g).abs().max() / c.abs().max().clamp(min=1e-30)) for c, g in both)
        print(name, "right" if error <= tol else f"WRONG {error}", flush=True)
    except Exception as x:
        print(name, "FAILED", type(x).__name__, " ".join(str(x).split())[:200], flush=True)
r = torch.randn
"""
PRODUCTS = """
x, w, b = r(64, 32), r(48, 32), r(48)
check("linear", F.linear, x, w, b)
check("matmul", torch.matmul, x, w.t())
check("bmm", torch.bmm, r(4, 5, 6), r(4, 6, 7))
check("baddbmm", torch.baddbmm, r(4, 5, 7), r(4, 5, 6), r(4, 6, 7))
def gelu(x, w, b):  # the CPU has the exact one
    if x.is_cuda:
        return torch._addmm_activation(b, x, w.t(), use_gelu=True)
    return F.gelu(F.linear(x, w, b), approximate="tanh")
check("gelu", gelu, x, w, b)
check("relu", lambda x, w, b: torch._addmm_activation(b, x, w.t()), x, w, b)
for kind in (torch.bfloat16, torch.float16):
    check(f"linear {kind}", F.linear, x.to(kind), w.to(kind), b.to(kind), tol=2e-2)
    check(f"bmm {kind}", torch.bmm, r(4, 8, 16).to(kind), r(4, 16, 8).to(kind), tol=2e-2)
check("float64", torch.matmul, x.double(), w.double().t())
check("complex", torch.matmul, torch.complex(x, x), torch.complex(w, w).t())
check("dot", torch.dot, b, b)
check("mv", torch.mv, w, x[0])
i = [torch.randint(-99, 99, s, dtype=torch.int8) for s in ((32, 32), (16, 32))]
check("int8", lambda a, b: torch._int_mm(a, b.t()), *i)
f8 = torch.float8_e4m3fn
def scaled(a, b, sa, sb):
    if a.is_cuda:
        return torch._scaled_mm(a, b.t(), scale_a=sa, scale_b=sb, out_dtype=torch.bfloat16)
    return ((a.float() * sa) @ (b.float().t() * sb)).bfloat16()
a, c = x[:32].to(f8), r(16, 32).to(f8)
check("fp8", scaled, a, c, torch.tensor(0.5), torch.tensor(3.0), tol=2e-2)
def graph(x, w):
    if not x.is_cuda:
        return x @ w.t() + 1
    out = torch.zeros(64, 48, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.graph(one := torch.cuda.CUDAGraph()):
        torch.mm(x, w.t(), out=out)
    for _ in range(2):
        one.replay()
    return out.cpu() + 1
check("graph", graph, x, w)
"""
SOLVERS = """
a = r(6, 6, dtype=torch.float64)
s, b, n = a @ a.T + 6 * torch.eye(6).double(), r(6, 3).double(), a[:, :4]
B = r(3, 6, 6, dtype=torch.float64)
check("cholesky", L.cholesky, s)
check("cholesky_solve", lambda x, y: torch.cholesky_solve(y, L.cholesky(x)), s, b)
check("solve", L.solve, a, b)
check("inv", L.inv, a)
check("inv batch", L.inv, B)
check("det", L.det, a)
check("qr", lambda x: L.qr(x)[1], n)
check("lstsq", lambda x, y: L.lstsq(x, y).solution, n, b)
check("eigvalsh", L.eigvalsh, s)
check("eigh", lambda x: L.eigh(x)[1].abs(), s)
check("eigvalsh batch", L.eigvalsh, B + B.mT)
check("svdvals", L.svdvals, a)
check("pinv", L.pinv, a)
check("triangular", lambda x, y: L.solve_triangular(x.tril(), y, upper=False), s, b)
check("fft", torch.fft.fft2, r(8, 12))
check("irfft", lambda x: torch.fft.irfft(torch.fft.rfft(x)), r(3, 16))
check("sparse", lambda x, y: torch.sparse.mm(x.to_sparse_csr(), y), (a * (a > 0)), b)
"""
LAYERS = """
import torch.nn as nn
def layer(module, *shape, tol=1e-4):
    x = r(*shape)
    def run(x):
        one = module.to(x.device)
        y = one(x.requires_grad_())
        y = y[0] if isinstance(y, tuple) else y
        (y + 1).square().mean().backward()
        return [y.detach(), *[p.grad.detach().clone() for p in one.parameters()]]
    def clean(x):
        module.zero_grad(set_to_none=True)
        return run(x.detach().clone())
    check(type(module).__name__, clean, x, tol=tol)
layer(nn.Conv2d(3, 4, 3, padding=1), 2, 3, 6, 6)
layer(nn.BatchNorm2d(3), 2, 3, 4, 4)
q = [r(1, 2, 16, 16).bfloat16() for _ in range(3)]
check("attention", F.scaled_dot_product_attention, *q, tol=2e-2)
"""


def answers(script: str, tmp_path: Path) -> dict[str, str]:
    """Return what a script says of each operator."""
    (tmp_path / "script.py").write_text(CHECK + script)
    command = [sys.executable, "-m", "warpwatt", "run", "--gpu", "h100", "--budget", "300"]
    words = [*command, "--", str(TORCH), str(tmp_path / "script.py")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    lines = [line.partition(" right") for line in done.stdout.splitlines()]
    found = {
        name: "right" if word else name for name, word, _ in lines if not name.startswith(("╭", "│", "╰"))
    }
    assert found, done.stdout + done.stderr
    return found


@pytest.mark.parametrize("script", [PRODUCTS, SOLVERS, LAYERS], ids=["products", "solvers", "layers"])
def test_results_are_those_of_the_cpu(script: str, tmp_path: Path) -> None:
    """A name for each operator, and ``right`` behind it."""
    found = answers(script, tmp_path)
    said = [line for line in found.values() if " WRONG" in line or " FAILED" in line]
    assert not said, "\n".join(said)
    assert (
        sum(word == "right" for word in found.values())
        >= script.count("check(") + script.count("\nlayer(") - 4
    )


PROFILED = """
import torch
from torch.profiler import ProfilerActivity, profile
x = torch.randn(256, 256).cuda()
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
    for _ in range(3):
        y = x @ x
    y = y.cpu()
for row in seen.key_averages():
    print(row.key, row.count, row.self_device_time_total, row.device_time_total)
"""


def test_the_profiler_shows_predicted_times_by_operator(tmp_path: Path) -> None:
    """The sum is that of our own table; ``aten::mm`` owns its product."""
    (tmp_path / "script.py").write_text(PROFILED)
    command = [sys.executable, "-m", "warpwatt", "run", "--gpu", "h100", "-o", str(tmp_path / "out.json")]
    words = [*command, "--", str(TORCH), str(tmp_path / "script.py")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    rows = {line.rsplit(maxsplit=3)[0]: line.split()[-3:] for line in done.stdout.splitlines() if line}
    (kernel,) = json.loads((tmp_path / "out.json").read_text())["runs"][0]["kernels"]
    seconds = kernel["time"]["value"]
    assert rows[kernel["name"]][0] == "3", done.stdout + done.stderr
    assert float(rows[kernel["name"]][1]) == pytest.approx(seconds * 1e6, rel=1e-2)
    assert float(rows["aten::mm"][2]) == pytest.approx(seconds * 1e6, rel=1e-2)
    assert float(rows["Memcpy DtoH (Device -> Pageable)"][1]) > 0


BOARD = """
import pynvml, torch
pynvml.nvmlInit()
board = pynvml.nvmlDeviceGetHandleByIndex(0)
x = torch.zeros(1024, 1024, device="cuda")
before = pynvml.nvmlDeviceGetTotalEnergyConsumption(board)
for _ in range(50):
    x @ x
torch.cuda.synchronize()
used = pynvml.nvmlDeviceGetTotalEnergyConsumption(board) - before
print(pynvml.nvmlDeviceGetName(board), used, torch.cuda.power_draw())
"""


def test_power_and_energy_are_those_of_the_predicted_board(tmp_path: Path) -> None:
    """Needs ``nvidia-ml-py`` in the environment."""
    (tmp_path / "script.py").write_text(BOARD)
    command = [sys.executable, "-m", "warpwatt", "run", "--gpu", "h100", "-o", str(tmp_path / "out.json")]
    words = [*command, "--", str(TORCH), str(tmp_path / "script.py")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    *name, energy, power = done.stdout.splitlines()[0].split()
    (kernel,) = (
        row
        for row in json.loads((tmp_path / "out.json").read_text())["runs"][0]["kernels"]
        if row["name"] == "cublasSgemm_v2"
    )
    assert name[:2] == ["NVIDIA", "H100"]
    assert float(energy) > 1e3 * kernel["energy"]["value"]
    assert 50e3 < float(power) < 700e3
