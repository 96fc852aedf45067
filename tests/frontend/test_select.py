from __future__ import annotations

from dataclasses import dataclass

import pytest

from warpwatt.core.errors import KernelSelectionError
from warpwatt.frontend.select import plain_name, select


@dataclass(frozen=True)
class Named:
    name: str
    demangled: str


FLOAT = Named("_Z4axpyIfEvT_", "void axpy<float>(float)")
DOUBLE = Named("_Z4axpyIdEvT_", "void axpy<double>(double)")
AXPY2 = Named("_Z5axpy2i", "axpy2(int)")
RED = Named("_ZN2ns3redEPf", "ns::red(float*)")
ALL = (FLOAT, DOUBLE, AXPY2, RED)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("_Z4axpyIfEvT_", FLOAT),
        ("axpy<double>", DOUBLE),
        ("axpy< double >", DOUBLE),
        ("axpy2", AXPY2),
        ("red", RED),
        ("ns::red", RED),
        ("ns::red(float*)", RED),
        ("IdE", DOUBLE),
    ],
)
def test_any_unambiguous_part_selects(name: str, expected: Named):
    assert select(ALL, name) is expected


TILES = (
    Named("_Z4tileILj1EfEvv", "void tile<1u, float>()"),
    Named("_Z4tileILj12EfEvv", "void tile<12u, float>()"),
)


@pytest.mark.parametrize("name", ["tile<12>", "tile<12, float>", "tile<12u,float>"])
def test_a_template_is_found_however_its_numbers_and_defaults_are_written(name: str):
    assert select(TILES, name) is TILES[1]


def test_whole_name_wins_over_longer_ones():
    short, long = Named("f", "f"), Named("f_long", "f_long")
    assert select((long, short), "f") is short


def test_plain_name_wins_over_parts():
    assert select((AXPY2, FLOAT), "axpy") is FLOAT


@pytest.mark.parametrize("name", ["axpy", "a", "nothing", ""])
def test_ambiguity_lists_candidates(name: str):
    with pytest.raises(KernelSelectionError) as caught:
        select(ALL, name)
    assert "void axpy<float>(float)" in caught.value.details
    assert "--kernel" in caught.value.hint
    assert caught.value.exit_code == 1


def test_only_candidates_are_listed():
    with pytest.raises(KernelSelectionError) as caught:
        select(ALL, "axpy")
    assert "ns::red" not in caught.value.details


def test_one_kernel_needs_no_name_but_a_wrong_one_is_refused():
    assert select((RED,)) is RED
    with pytest.raises(KernelSelectionError):
        select((RED,), "blue")
    with pytest.raises(KernelSelectionError):
        select(())


@pytest.mark.parametrize(
    ("demangled", "plain"),
    [
        ("f", "f"),
        ("f(int)", "f"),
        ("void a::b::f<int, (T)3, a::S<4> >(a::S<4>, int (*)(int))", "f"),
        ("(anonymous namespace)::f(int)", "f"),
        ("void (anonymous namespace)::f<float>(float*)", "f"),
    ],
)
def test_plain_names(demangled: str, plain: str):
    assert plain_name(demangled) == plain
