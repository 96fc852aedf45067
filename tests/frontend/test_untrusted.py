"""A stranger's source reaches no file: what is refused before NVRTC sees it, and what is given as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from validation.server.attack_sources import inclusions

from warpwatt.core.errors import CompileError, WarpWattError
from warpwatt.frontend import toolchain
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load
from warpwatt.frontend.nvrtc import Request, call, nvrtc_flags
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.untrusted import check, headers, normalised
from warpwatt.workers.seccomp import filters_system_calls

UNTRUSTED = CompileOptions(untrusted=True, cached=False)
KERNEL = "__global__ void f(int *p) { p[0] = 1; }\n"
CANARY = "/tmp/warpwatt-canary.h"
pytestmark = pytest.mark.toolchain


def names(text: str, options: CompileOptions = UNTRUSTED) -> tuple[str, ...]:
    return check(Source("kernel.cu", text.encode()), options, toolchain.installed())


TRICKS = [attack.name for attack in inclusions(CANARY) if attack.group == "inclusion"]


@pytest.mark.parametrize("name", TRICKS)
def test_no_trick_shows_a_file(name, tmp_path):
    """With the check as the only wall: NVRTC itself gets whatever passes it."""
    canary = tmp_path / "canary.h"
    canary.write_text("#error secret\n")
    attack = next(attack for attack in inclusions(str(canary)) if attack.name == name)
    define = tuple(f"{k}={v}" for k, v in attack.more.get("compilation", {}).get("define", {}).items())
    options = CompileOptions(untrusted=True, cached=False, pasting=False, defines=define)
    try:
        load(Source("kernel.cu", attack.source.encode()), "sm_90", options)
    except WarpWattError as error:
        said = f"{error.message}\n{error.details}"
        assert "secret" not in said
        assert "#error directive: yes" not in said


# What may stand inside a directive: spliced anywhere, spaced where spaces may be.
SPLICE = st.sampled_from(["", "", "\\\n", "\\\r\n", "\\ \n", "\\\t\r"])
SPACE = st.sampled_from(["", " ", "\t", "\v", "\f", "\\\n", " \\\n "])


@given(
    st.data(), SPACE, SPACE, st.sampled_from(["#", "%:"]), st.sampled_from(['"{}"', "<{}>", "PATH", "S({})"])
)
def test_directives_are_seen_however_they_are_broken(data, before, after, mark, form):
    word = "".join(c + data.draw(SPLICE) for c in "include")
    text = f"{KERNEL}{mark}{before}{word}{after}{form.format(CANARY)}\n{KERNEL}"
    with pytest.raises(CompileError) as refusal:
        names(text)
    assert refusal.value.line >= 2


@given(st.text(alphabet='#%:include"/*<>\\\n\r\t etcpaswd_hR()', max_size=40))
def test_whatever_passes_includes_only_known_headers(text):
    try:
        found = names(text)
    except CompileError:
        return
    assert found == ()  # the alphabet spells no header


def test_the_line_is_the_users_own():
    with pytest.raises(CompileError) as refusal:
        names('#define A \\\n 1\nint x; \\\n\n#include "a.h"\n')
    assert refusal.value.line == 5


def test_macros_from_the_request_are_checked_too():
    with pytest.raises(CompileError, match="__has_include"):
        names(KERNEL, CompileOptions(untrusted=True, defines=(f'X=__has_include("{CANARY}")',)))


def test_pasting_is_refused_where_the_system_does_not_keep_files_away():
    text = f"#define C(a, b) a##b\n{KERNEL}"
    assert names(text) == ()
    with pytest.raises(CompileError, match="##"):
        names(text, CompileOptions(untrusted=True, pasting=False))


def test_no_folder_is_searched():
    flags = nvrtc_flags(Source("a.cu", b""), "sm_90", toolchain.installed(), UNTRUSTED)
    assert not [flag for flag in flags if flag.startswith(("-I", "--include"))]
    assert "--no-source-include" in flags


@pytest.mark.parametrize("header", ["cuda_fp16.h", "mma.h", "stdint.h", "vector", "cuda_pipeline.h"])
def test_headers_of_cuda_are_given_as_texts(header):
    (kernel,) = load(Source("kernel.cu", f"#include <{header}>\n{KERNEL}".encode()), "sm_90", UNTRUSTED)
    assert kernel.ptx is not None
    assert kernel.warnings == ()


def test_headers_answer_what_exists_without_the_file_system():
    for name, text in headers(("cuda/std/cstdint",), toolchain.installed()).items():
        assert "__has_include" not in text, name


def test_refused_declarations_are_reported_where_they_are():
    """A type that NVRTC refuses is blanked as if it were the host's; its own error is the one that counts."""
    text = "struct Pair { int a; flaot b; };\n__global__ void f(Pair *p) { p->a = 1; }\n"
    with pytest.raises(CompileError) as refusal:
        load(Source("kernel.cu", text.encode()), "sm_90", UNTRUSTED)
    assert refusal.value.line == 1
    assert "flaot" in refusal.value.message


def test_line_numbers_survive_normalising():
    text = "a\r\nb\\  \r\nc\rd\n"
    assert normalised(text) == "a\nb\\\nc\nd\n"


@pytest.mark.skipif(not filters_system_calls(), reason="this kernel filters no system calls")
def test_nvrtc_itself_opens_and_finds_no_file():
    """The text goes to NVRTC unchecked, as a way around the check would let it."""

    def log(text):
        flags = ["--gpu-architecture=compute_90"]
        request = Request(source=text + KERNEL, name="k.cu", headers={}, options=flags, expressions=[])
        return call(request, toolchain.installed(), CompileOptions(untrusted=True))["log"]

    paste = "#define C(a, b) a##b\n#if C(__has_inc, lude)"
    assert log(f'{paste}("/etc/passwd")\n#error there\n#endif\n') == ""
    assert "cannot open" in log('#include "/etc/passwd"\n')


def test_a_long_name_of_a_header_is_refused_in_one_line():
    with pytest.raises(CompileError) as caught:
        names(f"#include <{'a' * 100_000}>\n{KERNEL}")
    assert len(str(caught.value)) < 200
