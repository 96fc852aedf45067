"""Fat binaries in every container and compression: cuobjdump, where it is installed, is the oracle."""

from __future__ import annotations

import struct
import subprocess
from itertools import product
from pathlib import Path

import lz4.block
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.errors import ParseError
from warpwatt.frontend import binary, fatbin, toolchain
from warpwatt.frontend.binary import device_code
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.disassembly import Disassembly
from warpwatt.frontend.fatbin import Code, Kind, codes
from warpwatt.isa.sass import cubin
from warpwatt.run.modules import Module

SOURCE = """
__device__ int table[300] = {1, 2, 3};
__device__ int *where = &table[5];
__constant__ float factors[4] = {1.5f, 2.5f};
__global__ void first(int *x) { x[threadIdx.x] = table[threadIdx.x] + *where; }
__global__ void second(float *x) { x[threadIdx.x] *= factors[threadIdx.x & 3]; }
"""
TARGETS = ("sm_80", "sm_90", "sm_90a", "sm_100a", "sm_100f")
MODES = ("speed", "balance", "size")


def nvidia(tool: str, *arguments: str | Path, cwd: Path) -> None:
    program = toolchain.installed().root / "bin" / tool
    if not program.exists():
        pytest.skip(f"{tool} is not installed")
    done = subprocess.run(
        [program, *arguments], cwd=cwd, env=toolchain.environment(), check=False, capture_output=True
    )
    assert not done.returncode, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source's cubins and PTX."""
    folder = tmp_path_factory.mktemp("fat")
    (folder / "two.cu").write_text(SOURCE)
    nvidia("nvcc", "-ptx", "-arch=sm_80", "-o", "two.ptx", "two.cu", cwd=folder)
    for target in TARGETS:
        nvidia("ptxas", f"-arch={target}", "-o", f"{target}.cubin", "two.ptx", cwd=folder)
    return folder


def made(folder: Path, mode: str = "size", *flags: str, targets: tuple[str, ...] = TARGETS) -> bytes:
    """Return a fat binary of the cubins for some targets and the PTX."""
    images = [f"--image3=kind=elf,sm={t.removeprefix('sm_')},file={t}.cubin" for t in targets]
    images.append("--image3=kind=ptx,sm=80,file=two.ptx")
    name = "-".join(("made", mode, *targets)) + "".join(flags).replace("-", "") + ".fatbin"
    if not (folder / name).exists():
        flags = (*flags, "-64", f"--compress-mode={mode}", f"--create={name}")
        nvidia("fatbinary", *flags, *images, cwd=folder)
    return (folder / name).read_bytes()


def host(section: bytes, name: str = ".nv_fatbin") -> bytes:
    """Return an ELF file of a host with device code in a section."""
    names = f"\0{name}\0.names\0".encode().ljust(64, b"\0")
    end = 64 + len(names) + len(section)
    rows = [
        (0,) * 10,
        (1, 1, 2, 0, 64 + len(names), len(section), 0, 0, 8, 0),
        (len(name) + 2, 3, 0, 0, 64, len(names), 0, 0, 1, 0),
    ]
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 1, 62, 1, 0, 0, end, 0, 64, 0, 0, 64, 3, 2)
    return head + names + section + b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in rows)


def archive(*members: bytes) -> bytes:
    """Return an archive, members padded to even places as ``ar`` does."""
    heads = [b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (b"a.o/", 0, 0, 0, 0o644, len(one)) for one in members]
    return b"!<arch>\n" + b"".join(
        h + one + b"\n" * (len(one) % 2) for h, one in zip(heads, members, strict=True)
    )


def listed(data: bytes) -> list[tuple[str, bytes]]:
    """Return what device code there is, in any order; PTX without the zeros behind it."""
    return sorted((c.target, c.read() if c.kind is Kind.CUBIN else c.text.encode()) for c in codes(data))


@pytest.mark.parametrize(("mode", "flag"), [("none", "-64"), *product(MODES, ("--compress-all", "--concat"))])
def test_every_compression_is_read_as_cuobjdump_reads_it(folder, tmp_path, mode, flag):
    (tmp_path / "in.fatbin").write_bytes(made(folder, mode, flag))
    nvidia("cuobjdump", "in.fatbin", "-xelf", "all", "-xptx", "all", cwd=tmp_path)
    theirs = [f.read_bytes() for f in tmp_path.glob("*.cubin")]
    ours = list(codes((tmp_path / "in.fatbin").read_bytes()))
    assert sorted(c.read().rstrip(b"\0") for c in ours if c.kind is Kind.CUBIN) == sorted(
        one.rstrip(b"\0")
        for one in theirs  # where nothing is compressed, zeros fill an entry up
    )
    assert [c.text for c in ours if c.kind is Kind.PTX] == [f.read_text() for f in tmp_path.glob("*.ptx")]
    assert {c.target for c in ours} == {*TARGETS, "PTX of compute_80"}


def test_every_container_holds_the_same(folder):
    one, other = made(folder), made(folder, "speed", targets=("sm_80",))
    both = sorted(listed(one) + listed(other))
    assert listed(one + bytes(24) + other) == both
    assert listed(host(one + other)) == both
    assert listed(host(one + other, "__nv_relfatbin")) == both
    assert listed(archive(b"\0\0\0\1name", host(one), b"text", host(other))) == both


@pytest.mark.parametrize(
    ("target", "chosen"),
    [("sm_86", "sm_80"), ("sm_90", "sm_90a"), ("sm_100", "sm_100a"), ("sm_103", "sm_100f")],
)
def test_code_for_one_architecture_runs_there_only_and_comes_first_there(folder, target, chosen):
    found = device_code(Source("made.fatbin", made(folder)), target)
    assert found.cubins[0].data == (folder / f"{chosen}.cubin").read_bytes()


def test_only_what_runs_is_decompressed_and_only_kernels_asked_for_are_read(folder, monkeypatch):
    read: list[str] = []

    def noted(owner: object, name: str, what: str, argument: int) -> None:
        real = getattr(owner, name)

        def call(*given):
            read.append(what % given[argument] if "%" in what else what)
            return real(*given)

        monkeypatch.setattr(owner, name, call)

    noted(fatbin, "_contents", "code", 0)
    noted(cubin, "read_image", "image %s", 1)
    noted(Disassembly, "program", "SASS %s", 1)
    module = Module(made(folder, targets=("sm_80", "sm_90", "sm_100a")), "module")
    assert set(module.entries("sm_90")) == {"_Z5firstPi", "_Z6secondPf"}
    assert read == ["code"]
    assert set(module.variables("sm_90")) == {"table", "where", "factors"}
    assert read == ["code", "image "]
    module.kernel("_Z5firstPi", "sm_90")
    assert read == ["code", "image ", "SASS _Z5firstPi", "image _Z5firstPi"]


def test_variables_hold_what_the_source_says(folder):
    for targets in (("sm_90",), ("sm_80",)):  # machine code, PTX
        module = Module(made(folder, targets=targets), "module")
        found = module.variables("sm_90")
        assert {n: (str(v.space), v.size) for n, v in found.items()} == {
            "table": ("global", 1200), "where": ("global", 8), "factors": ("const", 16)
        }  # fmt: skip
        assert module.place("table", 1 << 40, "sm_90")[:12].ljust(12, b"\0") == struct.pack("<3i", 1, 2, 3)
        assert module.place("factors", 1 << 41, "sm_90")[:8] == struct.pack("<2f", 1.5, 2.5)


def entry(data: bytes, flags: int, size: int, kind: int = 2, more: bytes = b"") -> bytes:
    """Return an entry of a fat binary."""
    return (
        struct.pack(
            "<HHIQIIHHIIIQQQ",
            kind, 257, 64 + len(more), len(data), len(data), 0, 8, 1, 90, 0, 0, flags, 0, size
        )
        + more
        + data
    )  # fmt: skip


def written(code: bytes) -> bytes:
    """Return a fat binary with the same code compressed each way."""
    zipped = zstandard.ZstdCompressor().compress(2 * code)
    list_ = struct.pack("<II", 2, 136)
    for at in (0, len(code)):
        list_ += struct.pack("<HHIQIIHHIIIQQQ", 2, 257, at, len(code), 0, 0, 8, 1, 90, 0, 0, 0, 0, 0)
    entries = (
        entry(code, 0x11, 0),
        entry(lz4.block.compress(code, store_size=False), 0x2011, len(code)),
        entry(zipped, 0x8011, 2 * len(code), 256, list_),
    )
    return struct.pack("<4sHHQ", fatbin.MAGIC, 1, 16, sum(map(len, entries))) + b"".join(entries)


@given(st.binary(min_size=1, max_size=300))
def test_what_was_written_is_read(code):
    assert [c.read() for c in codes(written(code))] == 4 * [code]
    assert [c.read() for c in codes(archive(host(written(code))))] == 4 * [code]


@given(st.data())
def test_damaged_and_truncated_ones_raise_nothing_but_parse_errors(data):
    content = bytearray(written(b"machine code " * 20))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(1, len(content) - 1)) :]
        with pytest.raises(ParseError):
            list(codes(bytes(content)))
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[at] ^= data.draw(st.integers(1, 255))
    try:
        found = [code.read() for code in codes(bytes(content))]
    except ParseError:
        return
    assert all(isinstance(code, bytes) for code in found)


def test_a_file_that_hides_gigabytes_is_refused():
    bomb = zstandard.ZstdCompressor().compress(bytes(1 << 22))
    for size, says in ((1 << 40, "has 0 bytes"), (1 << 10, "its size is another")):
        data = entry(bomb, 0x8011, size)
        with pytest.raises(ParseError, match=says):
            next(codes(struct.pack("<4sHHQ", fatbin.MAGIC, 1, 16, len(data)) + data)).read()


def test_a_fault_in_code_that_runs_names_the_file():
    broken = Code(Kind.CUBIN, 90, lambda: b"\x7fELF")
    with pytest.raises(ParseError, match=r"x\.fatbin: the file is truncated"):
        binary._cubins([broken], Source("x.fatbin", b""), binary.DEFAULT_OPTIONS)
