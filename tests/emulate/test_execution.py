"""Executions of hand-written kernels, counted by hand, and kernels that end badly."""

import pytest

from warpwatt.core.arguments import Argument, Buffer, DType, Fill, Scalar
from warpwatt.core.errors import DeadlockError, EndlessLoopError, MemoryFaultError, UndecidedError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Program, Resources
from warpwatt.emulate import emulation
from warpwatt.emulate.first_execution import execute
from warpwatt.emulate.run import Limits
from warpwatt.emulate.workload import workload
from warpwatt.gpus import find
from warpwatt.isa.ptx import lower, parse

HEAD = """.version 8.0
.target sm_80
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 n) {
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
"""
INDEX = """
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
mul.wide.u32 %rd1, %r1, %r2; cvt.u64.u32 %rd2, %r3; add.u64 %rd1, %rd1, %rd2;
"""
COPY = (
    HEAD
    + INDEX
    + """
ld.param.u64 %rd3, [n]; setp.ge.u64 %p1, %rd1, %rd3; @%p1 bra END;
ld.param.u64 %rd4, [x]; ld.param.u64 %rd5, [y]; shl.b64 %rd6, %rd1, 2;
add.u64 %rd4, %rd4, %rd6; add.u64 %rd5, %rd5, %rd6;
.loc 1 7 0
ld.global.f32 %f1, [%rd4]; st.global.f32 [%rd5], %f1;
END: ret; }
"""
)
LOOP = (
    HEAD
    + """
ld.param.u64 %rd3, [n]; mov.u64 %rd1, 0;
TOP:
.loc 1 5 0
add.u64 %rd1, %rd1, 1; setp.lt.u64 %p1, %rd1, %rd3;
.loc 1 5 0
@%p1 bra TOP;
ret; }
"""
)
SPIN = (
    HEAD
    + """
ld.param.u64 %rd4, [x];
TOP:
.loc 1 9 0
ld.global.u32 %r1, [%rd4]; setp.ne.u32 %p1, %r1, 5;
.loc 1 9 0
@%p1 bra TOP;
ret; }
"""
)
HALF = (
    HEAD
    + """
mov.u32 %r3, %tid.x; setp.ge.u32 %p1, %r3, 32;
@%p1 bra WAIT;
bar.sync 1, 64;
ret;
WAIT:
.loc 1 4 0
bar.sync 2, 64;
ret; }
"""
)


def program(text: str) -> Program:
    return lower(parse(text), "k")


def launch(blocks: int, n: int, elements: int | None = None, threads: int = 256, **changes) -> Launch:
    size = blocks * threads if elements is None else elements
    arguments = {
        "x": Buffer(DType.F32, (size,), Fill.ARANGE),
        "y": Buffer(DType.F32, (size,), Fill.ZEROS),
        "n": Scalar(n),
        **changes,
    }
    return Launch(Dim3(blocks), Dim3(threads), arguments=arguments)


def index_of(k: Program, opcode: str) -> int:
    return next(i.index for i in k.instructions if i.opcode == opcode)


@pytest.mark.parametrize("blocks", [3, 100, 2**24 + 1, 2**31 - 1])
def test_a_guarded_copy_is_counted_exactly_on_a_grid_of_any_size(blocks):
    k = program(COPY)
    n = blocks * 64 - 50
    found = execute(k, launch(blocks, n, threads=64))
    load, store = index_of(found.program, "ld.global.f32"), index_of(found.program, "st.global.f32")
    assert found.counts[0] == blocks * 2
    assert found.counts[load] == found.counts[store] == -(-n // 32)
    assert found.lanes[load] * found.counts[load] == pytest.approx(n)
    pattern = found.accesses[load]
    assert pattern.sectors * found.counts[load] == pytest.approx(-(-n // 8))
    assert (pattern.stride, pattern.buffer) == (4, "x")
    assert not found.assumptions
    work = workload(found, find("rtx3090"), Resources(registers=16))
    assert work.dram.read == pytest.approx(-(-n // 8) * 32)
    assert work.l2.written == pytest.approx(-(-n // 8) * 32)
    assert work.hits[load].dram.read == pytest.approx(work.dram.read)


def test_loops_are_counted():
    found = execute(program(LOOP), launch(5, 37))
    (loop,) = found.loops
    assert (loop.trips, loop.lanes, loop.line.line) == (37, 37, 5)


def test_a_long_loop_is_counted_by_analysis_and_says_so():
    found = execute(program(LOOP), launch(4, 10**9), limits=Limits(20_000, 2**20))
    add = index_of(found.program, "add.u64")
    assert found.counts[add] == pytest.approx(4 * 8 * 1e9)
    assert any("budget" in a.message for a in found.assumptions)


def test_accesses_behind_the_end_of_a_trace_are_named():
    """Each of 600 rounds reads x[0]: the trace of four blocks ends before, a long one does not."""
    reading = LOOP.replace(
        "add.u64 %rd1, %rd1, 1;", "ld.param.u64 %rd4, [x]; ld.global.u32 %r1, [%rd4];\nadd.u64 %rd1, %rd1, 1;"
    )
    messages = {
        trace: [
            a.message
            for a in execute(program(reading), launch(4, 600), limits=Limits(10**6, trace)).assumptions
        ]
        for trace in (400_000, 2**25)
    }
    (cut,) = [m for m in messages[400_000] if "after the end of the trace" in m]
    assert 10 < int(cut.partition("%")[0]) < 100
    assert not any("after the end of the trace" in m for m in messages[2**25])


def test_an_endless_loop_names_its_line():
    with pytest.raises(EndlessLoopError) as caught:
        execute(program(SPIN), launch(4, 1), limits=Limits(20_000, 2**20))
    assert (caught.value.file, caught.value.line) == ("k.cu", 9)
    assert "--loop 9=" in caught.value.hint


def test_what_the_user_says_about_a_loop_is_taken_where_it_does_not_end():
    found = execute(program(SPIN), launch(4, 1), {9: 12}, limits=Limits(20_000, 2**20))
    assert found.counts[index_of(found.program, "ld.global.u32")] == 12 * 4 * 8


def test_an_access_out_of_bounds_names_thread_buffer_and_line():
    with pytest.raises(MemoryFaultError) as caught:
        execute(program(COPY), launch(100, 25600, elements=25600 - 10))
    message = str(caught.value)
    assert message.startswith("k.cu:7: thread (246, 0, 0) of block (99, 0, 0): load of 4 bytes")
    assert "byte 102360 of buffer x, which has 102360 bytes" in message
    assert "--arg x=" in caught.value.hint


def test_a_null_pointer_is_told():
    with pytest.raises(MemoryFaultError) as caught:
        execute(program(COPY), launch(10, 2560, x=Scalar(0)))
    assert "address 0x" in str(caught.value)


def test_a_barrier_that_cannot_be_passed():
    with pytest.raises(DeadlockError) as caught:
        execute(program(HALF), launch(2, 1, threads=64))
    assert caught.value.line == 4 or "barrier" in str(caught.value)


def test_assumed_contents_that_steer_are_told_with_their_line():
    loop = Buffer(DType.I32, (64,), Fill.RANDOM, assumed_fill=True)
    with pytest.raises(UndecidedError, match="did not end") as caught:
        execute(program(SPIN), launch(4, 1, x=loop), limits=Limits(20_000, 2**20))
    assert caught.value.hint.startswith("--arg x=")
    copied = execute(program(COPY), launch(4, 1024, x=Buffer(DType.F32, (1024,), assumed_fill=True)))
    assert not copied.assumptions
    steered = COPY.replace("st.global", "setp.lt.f32 %p2, %f1, 0f3F000000; @%p2 st.global")
    found = execute(program(steered), launch(4, 1024, x=Buffer(DType.F32, (1024,), assumed_fill=True)))
    (assumption,) = found.assumptions
    assert assumption.line.line == 7
    assert "buffer x" in assumption.message
    assert assumption.spread > 0


@pytest.mark.parametrize("led_astray", [False, True])
def test_a_fault_is_blamed_on_contents_only_where_they_lead_to_it(led_astray: bool):
    beyond = "mul.wide.u32 %rd7, %r5, 4096;" if led_astray else "mov.u64 %rd7, 4096;"
    text = (
        HEAD
        + f"""
        ld.param.u64 %rd4, [x]; ld.param.u64 %rd5, [y]; ld.global.u32 %r5, [%rd5];
        setp.eq.u32 %p1, %r5, 7; @%p1 bra END; {beyond}
        add.u64 %rd4, %rd4, %rd7; ld.global.u32 %r6, [%rd4+4096]; END: ret; }}"""
    )
    given = launch(4, 1, y=Buffer(DType.I32, (64,), Fill.ARANGE, assumed_fill=True))
    if led_astray:
        assert any("emulation failed" in a.message for a in execute(program(text), given).assumptions)
        return
    text = text.replace("@%p1 bra END;", "")
    with pytest.raises(MemoryFaultError):
        execute(program(text), given)


@pytest.mark.parametrize("counted", [True, False])
def test_blocks_that_differ_are_counted_or_told(counted, monkeypatch):
    if not counted:  # as where they are few and long
        monkeypatch.setattr(emulation, "count_blocks", lambda *_: None)
    tail = COPY.replace("setp.ge.u64 %p1, %rd1, %rd3", "shr.u64 %rd7, %rd1, 8; and.b64 %rd7, %rd7, 1; "
                        "setp.ne.u64 %p1, %rd7, 0")  # fmt: skip
    found = execute(program(tail), launch(100_000, 0))
    load = index_of(found.program, "ld.global.f32")
    assert found.counts[load] == pytest.approx(400_000, rel=0.02 if counted else 0.5)
    assert any("blocks differ" in a.message and a.spread > 0 for a in found.assumptions) is not counted


CLEAR_AND_COUNT = (
    HEAD
    + INDEX
    + """
ld.param.u64 %rd5, [y]; setp.ge.u64 %p1, %rd1, 512; @%p1 bra COUNT;
shl.b64 %rd6, %rd1, 2; add.u64 %rd6, %rd5, %rd6;
mov.u32 %r4, 0; st.global.u32 [%rd6], %r4;
COUNT:
mov.u32 %r5, 1; red.global.add.u32 [%rd5], %r5;
ret; }
"""
)


@pytest.mark.parametrize("blocks", [4, 64, 4000])
def test_an_atomic_reaches_what_it_touches_itself(blocks):
    """All count in one place of the 512 that the first threads clear."""
    program = lower(parse(CLEAR_AND_COUNT), "k")
    arguments: dict[str, Argument] = {
        "x": Scalar(0),
        "y": Buffer(DType.U32, (512,), Fill.ZEROS),
        "n": Scalar(0),
    }
    found = execute(program, Launch(Dim3(blocks), Dim3(512), arguments=arguments))
    count = next(i.index for i in program.instructions if i.opcode.startswith("red"))
    assert found.accesses[count].footprint == pytest.approx(32, rel=0.05)
