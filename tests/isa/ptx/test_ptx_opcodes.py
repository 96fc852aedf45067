"""The opcode table against its own rules, the manual's examples, and every opcode NVIDIA's headers know."""

import re
import tomllib
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import pytest

from warpwatt.core.program import Access, Flow, MemoryAccess, Space, Unit
from warpwatt.isa.ptx.opcodes import descriptor_operations, meaning

TABLE = tomllib.loads(resources.files("warpwatt.isa.ptx").joinpath("opcodes.toml").read_text())
CLASSES = """fp16_add_mul_fma bf16_add_mul_fma fp32_add_mul_fma fp64_add_mul_fma fp32_special int32_add_sub
int32_mul_mad int24_mul int32_shift compare_min_max bit_reverse bfe_bfi logic_and_or_xor clz_bfind popc
warp_shuffle warp_reduce warp_vote sad simd_vabsdiff2 simd_vabsdiff4 simd_video_other cvt_8_16_to_32 cvt_64
cvt_other syncthreads
tensor_fp16_fma tensor_bf16_fma tensor_tf32_fma tensor_fp64_fma tensor_int8_mac tensor_fp8_fma"""


def test_kinds_name_units_and_classes_that_exist():
    for kind in TABLE["kind"].values():
        assert "default" in kind
        for unit, throughput_class in kind.values():
            assert Unit(unit)
            assert throughput_class in {"", *CLASSES.split()}


@pytest.mark.parametrize("opcode", TABLE["opcode"])
def test_rows_are_well_formed(opcode):
    row = TABLE["opcode"][opcode]
    allowed = {
        "kind",
        "type",
        "flops",
        "writes",
        "updates",
        "carry",
        "memory",
        "space",
        "bytes",
        "flow",
        "tensor",
        "scale",
    }
    assert set(row) <= allowed
    assert row["kind"] in TABLE["kind"]
    assert meaning(opcode).known
    assert ("bytes" in row) <= ("memory" in row)


@pytest.mark.parametrize(
    ("opcode", "unit", "throughput_class", "flops"),
    [
        ("add.f32", Unit.FP32, "fp32_add_mul_fma", 1),
        ("fma.rn.f32", Unit.FP32, "fp32_add_mul_fma", 2),
        ("fma.rn.f32x2", Unit.FP32, "fp32_add_mul_fma", 4),
        ("fma.rn.f64", Unit.FP64, "fp64_add_mul_fma", 2),
        ("fma.rn.f16x2", Unit.FP16, "fp16_add_mul_fma", 4),
        ("fma.rn.bf16x2", Unit.FP16, "bf16_add_mul_fma", 4),
        ("mul.f16", Unit.FP16, "fp16_add_mul_fma", 1),
        ("add.s32", Unit.INT, "int32_add_sub", 0),
        ("add.cc.u32", Unit.INT, "int32_add_sub", 0),
        ("mad.lo.s32", Unit.INT, "int32_mul_mad", 0),
        ("mad.rn.f32", Unit.FP32, "fp32_add_mul_fma", 2),
        ("mul.wide.u32", Unit.INT, "int32_mul_mad", 0),
        ("mul24.lo.s32", Unit.INT, "int24_mul", 0),
        ("sqrt.rn.f32", Unit.SFU, "fp32_special", 1),
        ("ex2.approx.ftz.f32", Unit.SFU, "fp32_special", 1),
        ("div.rn.f64", Unit.FP64, "fp64_add_mul_fma", 1),
        ("div.s32", Unit.INT, "int32_mul_mad", 0),
        ("min.f32", Unit.INT, "compare_min_max", 0),
        ("setp.lt.f64", Unit.FP64, "fp64_add_mul_fma", 0),
        ("shl.b32", Unit.INT, "int32_shift", 0),
        ("lop3.b32", Unit.INT, "logic_and_or_xor", 0),
        ("and.pred", Unit.INT, "logic_and_or_xor", 0),
        ("popc.b32", Unit.INT, "popc", 0),
        ("brev.b32", Unit.INT, "bit_reverse", 0),
        ("cvt.rn.f32.s32", Unit.SFU, "cvt_other", 0),
        ("cvt.f64.f32", Unit.SFU, "cvt_64", 0),
        ("cvt.u64.u32", Unit.INT, "cvt_64", 0),
        ("cvt.u32.u16", Unit.INT, "cvt_8_16_to_32", 0),
        ("cvt.rn.bf16x2.f32", Unit.SFU, "cvt_other", 0),
        ("cvt.rn.satfinite.e4m3x2.f32", Unit.SFU, "cvt_other", 0),
        ("shfl.sync.bfly.b32", Unit.LSU, "warp_shuffle", 0),
        ("redux.sync.add.s32", Unit.INT, "warp_reduce", 0),
        ("vote.sync.ballot.b32", Unit.INT, "warp_vote", 0),
        ("bar.sync", Unit.CONTROL, "syncthreads", 0),
        ("mov.u32", Unit.MOVE, "", 0),
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
            Unit.TENSOR,
            "tensor_fp16_fma",
            16 * 8 * 16 * 2 / 32,
        ),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", Unit.TENSOR, "tensor_tf32_fma", 64),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", Unit.TENSOR, "tensor_fp64_fma", 16),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", Unit.TENSOR, "tensor_int8_mac", 256),
        ("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", Unit.TENSOR, "tensor_int8_mac", 2048),
        (
            "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32",
            Unit.TENSOR,
            "tensor_bf16_fma",
            128,
        ),
        ("mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16", Unit.TENSOR, "tensor_fp16_fma", 128),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", Unit.TENSOR, "tensor_fp16_fma", 256),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32", Unit.TENSOR, "tensor_int8_mac", 256),
        # a warp group of 128 threads shares one wgmma
        (
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16",
            Unit.TENSOR,
            "tensor_fp16_fma",
            64 * 256 * 16 * 2 / 128,
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2",
            Unit.TENSOR,
            "tensor_fp8_fma",
            64 * 8 * 32 * 2 / 128,
        ),
        ("tcgen05.mma.cta_group::1.kind::tf32", Unit.TENSOR, "tensor_tf32_fma", 0),
    ],
)
def test_arithmetic(opcode, unit, throughput_class, flops):
    what = meaning(opcode)
    assert (what.unit, what.throughput_class, what.flops) == (unit, throughput_class, flops)


@pytest.mark.parametrize(
    ("opcode", "space", "access", "size"),
    [
        ("ld.param.u64", Space.PARAM, Access.LOAD, 8),
        ("ld.param::entry.u8", Space.PARAM, Access.LOAD, 1),
        ("ld.global.nc.L1::no_allocate.L2::128B.v4.f32", Space.GLOBAL, Access.LOAD, 16),
        ("ld.global.v8.b32", Space.GLOBAL, Access.LOAD, 32),
        ("ld.volatile.shared.v2.f64", Space.SHARED, Access.LOAD, 16),
        ("ld.f32", Space.GENERIC, Access.LOAD, 4),
        ("st.local.u8", Space.LOCAL, Access.STORE, 1),
        ("st.shared::cluster.b128", Space.SHARED, Access.STORE, 16),
        ("ld.const.s16", Space.CONST, Access.LOAD, 2),
        ("atom.global.add.f32", Space.GLOBAL, Access.ATOMIC, 4),
        ("atom.shared.cas.b64", Space.SHARED, Access.ATOMIC, 8),
        ("atom.global.v4.f16x2.add.noftz", Space.GLOBAL, Access.ATOMIC, 16),
        ("red.global.add.u32", Space.GLOBAL, Access.REDUCTION, 4),
        ("tex.2d.v4.f32.s32", Space.TEXTURE, Access.LOAD, 16),
        ("suld.b.2d.v2.b16.trap", Space.SURFACE, Access.LOAD, 4),
        ("sust.b.1d.b32.clamp", Space.SURFACE, Access.STORE, 4),
        # four 8 x 8 matrices of 16-bit elements: 512 bytes for 32 threads
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", Space.SHARED, Access.LOAD, 16),
        ("ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16", Space.SHARED, Access.LOAD, 4),
        ("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8", Space.SHARED, Access.LOAD, 16),
        ("stmatrix.sync.aligned.m8n8.x2.shared.b16", Space.SHARED, Access.STORE, 8),
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", Space.SHARED, Access.LOAD, 16),
        ("wmma.load.b.sync.aligned.col.m32n8k16.global.s8", Space.GLOBAL, Access.LOAD, 4),
        ("wmma.store.d.sync.aligned.row.m16n16k16.global.f32", Space.GLOBAL, Access.STORE, 32),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
            Space.GLOBAL,
            Access.COPY,
            0,
        ),
        (
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
            Space.SHARED,
            Access.COPY,
            0,
        ),
        ("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64", Space.SHARED, Access.ATOMIC, 8),
        ("tcgen05.ld.sync.aligned.32x32b.x8.b32", Space.TENSOR, Access.LOAD, 32),
        ("tcgen05.ld.sync.aligned.16x32bx2.x8.b32", Space.TENSOR, Access.LOAD, 32),
        ("multimem.ld_reduce.relaxed.sys.global.add.v4.f32", Space.GLOBAL, Access.LOAD, 16),
    ],
)
def test_memory(opcode, space, access, size):
    assert meaning(opcode).memory == MemoryAccess(space, access, size)


@pytest.mark.parametrize(
    ("opcode", "flow"),
    [
        ("bra.uni", Flow.JUMP),
        ("brx.idx", Flow.JUMP),
        ("call.uni", Flow.CALL),
        ("ret", Flow.RETURN),
        ("exit", Flow.EXIT),
        ("trap", Flow.EXIT),
        ("bar.sync", Flow.BARRIER),
        ("barrier.sync.aligned", Flow.BARRIER),
        ("bar.arrive", Flow.NEXT),
        ("bar.warp.sync", Flow.NEXT),
        ("barrier.cluster.arrive.aligned", Flow.NEXT),
        ("barrier.cluster.wait.aligned", Flow.BARRIER),
        ("cp.async.wait_group", Flow.NEXT),
    ],
)
def test_flow(opcode, flow):
    assert meaning(opcode).flow is flow


def test_unknown_opcodes_are_marked_and_nothing_more():
    what = meaning("frobnicate.v2.f32")
    assert not what.known
    assert what.memory is None


def test_descriptor_of_tcgen05():
    assert descriptor_operations("mxf4", 1 << 27 | 64 // 8 << 17) == 2 * 128 * 64 * 64
    assert descriptor_operations("nonsense", 12345) == 0


def headers() -> list[Path]:
    """C++ headers installed with the compiler wheels, those with PTX in them."""
    spec = find_spec("nvidia.cu13")
    places = [Path(p) / "include" for p in (spec.submodule_search_locations or ())] if spec else []
    return [
        h
        for p in places
        for pattern in ("cccl/cuda/__ptx/**/*.h", "cccl/cub/**/*.cuh", "*.h*", "crt/*.h*")
        for h in p.glob(pattern)
    ]


@pytest.mark.toolchain
def test_every_opcode_in_nvidias_headers_is_known():
    literal = r'"((?:[^"\\]|\\.)*)"'
    assembly = re.compile(rf"asm\s*(?:volatile)?\s*\(((?:\s*{literal})+)")
    statement = re.compile(r"(?:^|[;{}\n])\s*(?:@!?\S+\s+)?([a-z]\w*(?:(?:\.|::|:(?=\d))\w+)+)(?=[\s;]|$)")
    found: set[str] = set()
    for header in headers():
        for block in assembly.finditer(header.read_text(encoding="utf-8", errors="replace")):
            code = "".join(re.findall(literal, block[1])).replace("\\n", "\n").replace("\\t", " ")
            found.update(statement.findall(code))
    assert len(found) > 1000
    assert sorted(opcode for opcode in found if not meaning(opcode).known) == []
