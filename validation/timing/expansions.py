"""How many machine instructions one PTX instruction becomes: compiled probes, written as package data.

Each probe is a kernel with a chain of N copies of one instruction; the slope of the machine instruction
count over N is its expansion. Rare paths (denormals of a division) are part of the count where the compiler
lays them inline. Writes ``src/warpwatt/models/expansions.toml``.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from warpwatt.frontend.toolchain import environment, installed

TARGETS = ("sm_75", "sm_80", "sm_90", "sm_120")
COPIES = (4, 12)
OUTPUT = Path(__file__).parents[2] / "src/warpwatt/models/expansions.toml"
REGISTER = {"f32": "%f", "f64": "%d", "b32": "%r", "b64": "%l", "b16": "%h", "f16": "%h"}

BINARY = [
    *(
        f"div.{kind}"
        for kind in ("rn.f32", "full.f32", "approx.f32", "rn.f64", "s16", "s32", "u32", "s64", "u64")
    ),
    *(f"rem.{kind}" for kind in ("s16", "s32", "u32", "s64", "u64")),
    *(f"mul.{kind}" for kind in ("lo.s32", "hi.s32", "lo.s64", "hi.s64", "hi.u64", "rn.f32", "rn.f64")),
    *(f"{name}.{kind}" for name in ("min", "max") for kind in ("s32", "s64", "f32", "f64")),
    *(f"{name}.b64" for name in ("and", "or", "xor")),
    *("add.s32", "add.s64", "sub.s64", "add.rn.f32", "add.rn.f64"),
]
UNARY = [
    *(f"sqrt.{kind}" for kind in ("rn.f32", "approx.f32", "rn.f64")),
    *(f"rcp.{kind}" for kind in ("rn.f32", "approx.f32", "rn.f64")),
    *("rsqrt.approx.f32", "rsqrt.approx.f64"),
    *(f"{name}.approx.f32" for name in ("sin", "cos", "ex2", "lg2", "tanh")),
    *("brev.b32", "brev.b64", "neg.s64", "neg.f64", "abs.s32", "abs.s64", "abs.f64", "not.b64", "clz.b32"),
    "cvt.sat.f64.f64",
]
TERNARY = ["fma.rn.f32", "fma.rn.f64", "mad.lo.s32", "mad.lo.s64"]
FIELDS = ["bfe.u32", "bfe.s32"]
SHIFTS = ["shl.b32", "shr.s32", "shl.b64", "shr.s64", "shr.u64"]
SATURATE = "cvt.sat.f64.f64"
SUBROUTINES = ("div.s64", "div.u64", "rem.s64", "rem.u64")


def register(suffix: str) -> str:
    """Return the register prefix of a type suffix such as ``s64``."""
    return REGISTER.get(suffix) or REGISTER["b" + suffix[1:]]


def probe(opcode: str, copies: int) -> str:
    """Return PTX of a kernel with a dependent chain of ``copies`` of an instruction."""
    suffix = opcode.rsplit(".", 1)[1]
    reg = register(suffix)
    kind = "b" + suffix[1:]
    size = int(suffix[1:]) // 8
    if opcode == SATURATE:
        line = f"{opcode} %d1, %d1; add.rn.f64 %d1, %d1, %d2;"  # or all copies but one would vanish
    elif opcode.startswith(("div", "rem")):
        line = f"{opcode} {reg}1, {reg}2, {reg}1;"  # or all copies would share the reciprocal
    elif opcode in BINARY:
        line = f"{opcode} {reg}1, {reg}1, {reg}2;"
    elif opcode in TERNARY:
        line = f"{opcode} {reg}1, {reg}1, {reg}2, {reg}3;"
    elif opcode in FIELDS:
        line = f"{opcode} {reg}1, {reg}1, %r2, %r3;"
    elif opcode in SHIFTS:
        line = f"{opcode} {reg}1, {reg}1, %r2;"
    else:
        line = f"{opcode} {reg}1, {reg}1;"
    return f"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry probe(.param .u64 p) {{
    .reg .b64 %l<8>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .b16 %h<8>;
    ld.param.u64 %l7, [p];
    ld.global.{kind} {reg}1, [%l7];
    ld.global.{kind} {reg}2, [%l7+{size}];
    ld.global.{kind} {reg}3, [%l7+{2 * size}];
    ld.global.b32 %r2, [%l7+64];
    ld.global.b32 %r3, [%l7+68];
    {line * copies}
    st.global.{kind} [%l7+128], {reg}1;
    ret;
}}
"""


PIPES = {
    "fp64": re.compile(r"D(ADD|MUL|FMA|SETP|MNMX)"),
    "sfu": re.compile(r"MUFU|F2F|F2I|I2F(?!P)|FRND"),
    "imad": re.compile(r"IMAD|IMUL"),
    "fma": re.compile(r"F(FMA|MUL|ADD|SWZ)|HFMA2"),
    "": re.compile(r"BRA|CALL|RET|BSSY|BSYNC|EXIT|WARPSYNC|NOP|MOV|LDC|ULDC"),
    "alu": re.compile(r"."),
}
"""Pipe to the machine opcodes it executes, first match wins (Nsight Compute documentation, "Pipelines")."""


def instructions(ptx: str, target: str, folder: Path) -> Counter[str]:
    """Return the machine instructions of a PTX kernel by pipe, padding left out."""
    toolkit = installed()
    source, cubin = folder / "probe.ptx", folder / "probe.cubin"
    source.write_text(ptx, encoding="utf-8")
    ptxas = [str(toolkit.require("ptxas")), f"-arch={target}", "-o", str(cubin), str(source)]
    subprocess.run(ptxas, check=True, capture_output=True, env=environment())
    text = subprocess.run(
        [str(toolkit.require("nvdisasm")), "-c", "-plr", str(cubin)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    lines = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(.+?);", text)
    kept = [line for line in lines if not line.startswith(("NOP", "BRA `(.L_x")) or "@" in line]
    opcodes = [re.sub(r"^@!?U?P\w+\s+", "", line).split()[0] for line in kept]
    return Counter(next(name for name, pattern in PIPES.items() if pattern.match(o)) for o in opcodes)


def expansion(opcode: str, target: str, folder: Path) -> dict[str, float]:
    """Return machine instructions per copy of ``opcode`` by pipe.

    A 64-bit integer division calls a shared subroutine on its usual path: all of one copy counts.
    """
    low, high = (0, 1) if opcode in SUBROUTINES else COPIES
    few, many = (instructions(probe(opcode, n), target, folder) for n in (low, high))
    slopes = {pipe: (many[pipe] - few[pipe]) / (high - low) for pipe in PIPES}
    if opcode == SATURATE:
        slopes["fp64"] -= 1
    return slopes


def main() -> None:
    """Probe every opcode on every target and write those that become more than one instruction."""
    rows: dict[str, list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        for opcode in (*BINARY, *UNARY, *TERNARY, *FIELDS, *SHIFTS):
            try:
                counts = [expansion(opcode, target, Path(name)) for target in TARGETS]
            except subprocess.CalledProcessError as error:
                print(opcode, error.stderr[:200])
                continue
            print(f"{opcode:<20}" + " ".join(f"{sum(count.values()):6.2f}" for count in counts))
            rows[opcode] = counts
    longer = {op: rows[op] for op in sorted(rows) if max(sum(c.values()) for c in rows[op]) > 1.05}
    lines = [
        "# Machine instructions per PTX instruction: slope over chains of 4 and 12 copies, by target.",
        f"# Derived from compiled probes (ptxas {installed().version}) by validation.timing.expansions;",
        "# opcodes that stay single are left out.",
        f"targets = {list(TARGETS)!r}".replace("'", '"'),
        "",
        "[instructions]",
        *(f'"{op}" = {[round(sum(c.values()), 2) for c in counts]}' for op, counts in longer.items()),
        "",
        "# The same by the pipe that executes them, mean over the targets; moves and branches are left out.",
        "[pipes]",
        *(f'"{op}" = {{ {_by_pipe(counts)} }}' for op, counts in longer.items()),
    ]
    OUTPUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _by_pipe(counts: list[dict[str, float]]) -> str:
    means = {pipe: sum(c[pipe] for c in counts) / len(counts) for pipe in PIPES if pipe}
    return ", ".join(f"{pipe} = {round(mean, 2)}" for pipe, mean in means.items() if mean > 0.05)


if __name__ == "__main__":
    main()
