from __future__ import annotations

from warpwatt.frontend.pressure import ABI_REGISTERS, assumed_resources
from warpwatt.isa import ptx

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
.reg .b32 %r<20>;
.reg .b64 %rd<9>;
.reg .pred %p<3>;
"""


def registers(body: str) -> int:
    program = ptx.lower(ptx.parse(HEAD + body + "\nret;\n}\n"), "k")
    resources = assumed_resources(program)
    assert resources.assumed
    return resources.registers - ABI_REGISTERS


def test_values_that_do_not_overlap_share_a_register():
    chain = "mov.u32 %r1, 1; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; add.u32 %r4, %r3, 1;"
    assert registers(chain) == 2
    assert registers("mov.u32 %r1, 1; mov.u32 %r2, 1; mov.u32 %r3, 1; mov.u32 %r4, 1;" * 2) == 4


def test_wide_values_take_two_and_predicates_none():
    assert registers("mov.u64 %rd1, 1; mov.u64 %rd2, 1; add.u64 %rd3, %rd1, %rd2;") == 4
    assert registers("setp.eq.u32 %p1, 1, 2; setp.eq.u32 %p2, 1, 2; @%p1 bra L; @%p2 bra L; L:") == 0


def test_values_stay_alive_through_loops():
    """Four values that are read early in the loop must survive the four that come later."""
    before = "".join(f"mov.u32 %r{i}, 1;" for i in range(1, 5))
    early = "add.u32 %r5, %r1, %r2; add.u32 %r5, %r3, %r4;"
    late = (
        "".join(f"mov.u32 %r{i}, 1;" for i in range(6, 10)) + "add.u32 %r6, %r6, %r7; add.u32 %r8, %r8, %r9;"
    )
    once = registers(before + early + late)
    loop = registers(f"{before} L: {early} {late} @%p1 bra L;")
    assert (once, loop) == (4, 8)


def test_declarations_are_counted():
    text = HEAD.replace(
        ".reg .b32", ".shared .align 4 .b8 s[400];\n.local .align 8 .b8 depot[64];\n.reg .b32"
    )
    resources = assumed_resources(ptx.lower(ptx.parse(text + "ret;\n}\n"), "k"), 128)
    assert (resources.static_shared, resources.local, resources.max_threads) == (400, 64, 128)
