"""Variables do not overlap, are aligned, and hold what the program says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.program import Level, Program, Space, Variable
from warpwatt.emulate.layout import GLOBALS_SLOT, SLOT_BITS, layout

variables = st.lists(
    st.tuples(
        st.sampled_from([Space.GLOBAL, Space.SHARED, Space.LOCAL, Space.CONST, Space.PARAM, Space.TEXTURE]),
        st.integers(0, 40),
        st.sampled_from([1, 2, 4, 8, 16, 128]),
        st.binary(max_size=20),
    ),
    max_size=12,
)


@given(variables)
def test_variables_have_their_own_aligned_bytes(found: list[tuple[Space, int, int, bytes]]) -> None:
    listed = tuple(
        Variable(f"v{k}", space, size, align, initial=initial[:size])
        for k, (space, size, align, initial) in enumerate(found)
    )
    result = layout(Program("k", Level.PTX, "sm_90", (), variables=listed))
    taken: dict[Space, set[int]] = {}
    for variable in listed:
        start, space = result.offsets[variable.name], result.spaces[variable.name]
        own = set(range(start, start + variable.size))
        assert start % variable.align == 0
        assert not own & taken.setdefault(space, set())
        assert not own or max(own) < result.sizes[space]
        taken[space] |= own
        if space in result.images:
            wanted = variable.initial.ljust(variable.size, b"\0")
            assert result.images[space][start : start + variable.size] == wanted


def test_dynamic_shared_memory_lies_behind_the_rest() -> None:
    listed = (
        Variable("d", Space.SHARED, 0, 4, external=True),
        Variable("s", Space.SHARED, 20, 4),
        Variable("e", Space.SHARED, 0, 64, external=True),
        Variable("g", Space.GLOBAL, 8, 8),
    )
    result = layout(Program("k", Level.PTX, "sm_90", (), variables=listed))
    assert result.offsets["d"] == result.offsets["e"] == result.dynamic_shared == 64
    assert result.address("s") == 0
    assert result.address("g") == GLOBALS_SLOT << SLOT_BITS
    with pytest.raises(KeyError):
        result.address("nothing")
