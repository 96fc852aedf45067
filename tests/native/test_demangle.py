"""Demangling: against c++filt where there is one; any text has some name."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.native.demangle import demangle

NAMES = {
    "saxpy": "saxpy",
    "_Z5saxpyPfS_fi": "saxpy(float*, float*, float, int)",
    "_Z5saxpyIfLi2EEviT_PKS0_PS0_": "void saxpy<float, 2>(int, float, float const*, float*)",
    "_ZN2ns5totalE4PairPKfPf": "ns::total(Pair, float const*, float*)",
    "_ZN12_GLOBAL__N_15totalEv": "(anonymous namespace)::total()",
    "_Z1fIJidEEvDpT_": "void f<int, double>(int, double)",
    "_Z1fPFivE": "f(int (*)())",
    "_Z1fRA5_KfOi": "f(float const (&) [5], int&&)",
    "_Z1fILb1ELj3ELm4EEvv": "void f<true, 3u, 4ul>()",
    "_Z1fIL5Color2EEvv": "void f<(Color)2>()",
    "_Z1fINSt4pairIiSaIiEEEEvT_": "void f<std::pair<int, std::allocator<int> > >"
    "(std::pair<int, std::allocator<int> >)",
    "_Z1fIZ4mainEUlvE_EvT_": "void f<main::{lambda()#1}>(main::{lambda()#1})",
    "_Z4stepPVKfS0_": "step(float const volatile*, float const volatile*)",
}


def spelling(name: str) -> str:
    """Return a name as GNU's run time spells it where LLVM's differs."""
    return re.sub(">(?=>)", "> ", name.replace("'lambda'()", "{lambda()#1}"))


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    assert spelling(demangle(name)) == NAMES[name]


@pytest.mark.skipif(not shutil.which("c++filt"), reason="no c++filt")
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_cxxfilt(name):
    done = subprocess.run(["c++filt", name], capture_output=True, text=True, check=True)
    assert spelling(demangle(name)) == done.stdout.strip()


@pytest.mark.parametrize("name", ["_Z", "_Z6short", "_Zwhat"])
def test_what_only_looks_mangled_stays(name):
    assert demangle(name) == name


@given(st.text(alphabet="NSIEKPRTLZ_0123456789abcdfijlmvxDpJUté", max_size=40))
def test_any_text_has_some_name(tail):
    assert demangle("_Z" + tail)
