"""The CUDA runtime's types and functions are those of NVIDIA's headers and library."""

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

NATIVE = Path(__file__).parents[2] / "native"
OURS = Path(__file__).parents[2] / "src/warpwatt/native/runtime/libwarpwatt_cuda.so"
NVIDIA = Path(find_spec("nvidia.cu13").submodule_search_locations[0])
pytestmark = pytest.mark.skipif(not OURS.exists(), reason="make native builds the CUDA runtime on Linux")


def structures():
    """Yield each structure that is ours too, with its fields; nested unions count as one field."""
    text = "".join((NATIVE / "runtime" / name).read_text() for name in ("abi.h", "driver/abi.h"))
    text = re.sub(r"//[^\n]*|^#.*\n|DEVICE_PROPERTIES.*", "", text, flags=re.M)
    for name, body in re.findall(r"^struct (cu\w+|CU\w+) \{\n(.*?)^\};", text, re.S | re.M):
        fields = []
        for line in re.sub(r"\{[^{}]*(\{[^{}]*\}[^{}]*)*\}", "", body).split(";"):
            declared = re.sub(r"\[\w+\]", "", line.strip())
            fields += [part.strip().split()[-1].lstrip("*&") for part in declared.split(",") if part.strip()]
        yield name, [field for field in fields if field not in {"reserved", "pad"}]


def test_structures_lie_as_in_nvidias_headers(tmp_path):
    checks = []
    for name, fields in structures():
        ours = f"warpwatt::runtime::{name}"
        checks.append(f"static_assert(sizeof(::{name}) == sizeof({ours}));")
        checks += [
            f"static_assert(offsetof(::{name}, {field}) == offsetof({ours}, {field}));" for field in fields
        ]
    for field in re.findall(r"(?:FIELD|ARRAY)\([a-z:_ ]+, (\w+)", (NATIVE / "runtime/abi.h").read_text()):
        name = f"cudaDeviceProp, {field}"
        checks.append(f"static_assert(offsetof(::{name}) == offsetof(warpwatt::runtime::{name}));")
    errors = re.findall(r"ERROR\((\w+), (\d+)", (NATIVE / "runtime/errors.inc").read_text())
    checks += [f"static_assert(::{name} == {number});" for name, number in errors]
    assert len(checks) > 380
    source = tmp_path / "abi.cpp"
    headers = ("<cstddef>", "<cuda.h>", "<cuda_runtime_api.h>", '"runtime/driver/abi.h"')
    source.write_text("\n".join([*(f"#include {header}" for header in headers), *checks]))
    command = ["c++", "-std=c++20", "-fsyntax-only", "-w", f"-I{NATIVE}", f"-I{NVIDIA / 'include'}", source]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def exported(library):
    """Return the functions that a library defines."""
    with library.open("rb") as file:
        symbols: Any = ELFFile(file).get_section_by_name(".dynsym")
        return {
            symbol.name
            for symbol in symbols.iter_symbols()
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["type"] == "STT_FUNC"
        }


def test_every_function_of_nvidias_library_is_there():
    theirs = {name for name in exported(NVIDIA / "lib/libcudart.so.13") if "cuda" in name}
    assert len(theirs) > 400
    assert not theirs - exported(OURS)


def test_every_function_of_the_driver_is_there():
    header = re.sub(r"/\*.*?\*/", "", (NVIDIA / "include/cuda.h").read_text(), flags=re.S)
    newer = dict(re.findall(r"#define\s+(cu[A-Z]\w*)\s+(cu[A-Z]\w+_v\d)\b", header))
    declared = {newer.get(name, name) for name in re.findall(r"CUresult\s+CUDAAPI\s+(cu\w+)\(", header)}
    assert len(declared) > 400
    ours = exported(OURS)
    older = {name.removesuffix("_v2") for name in ours if name.endswith("_v2")}  # of 32-bit device pointers
    assert not {name for name in declared - ours - older if not re.search("_pt[sd][sz]$", name)}


def test_nothing_else_is_seen():
    others = {name for name in exported(OURS) if not re.match(r"(__)?cuda|cu[A-Z]|warpwatt_", name)}
    assert others == {"clock", "clock_gettime", "gettimeofday"}


@pytest.mark.parametrize("name", ["libcudart.so.12", "libcudart.so.13"])
def test_programs_find_the_version_that_they_ask_for(name):
    with OURS.with_name(name).open("rb") as file:
        elf: Any = ELFFile(file)
        definitions = elf.get_section_by_name(".gnu.version_d").iter_versions()
        assert {next(names).name for _, names in definitions} == {name}
        assert name in {tag.soname for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_SONAME")}
