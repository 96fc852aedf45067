"""The simulated controller: brute force for the oracle, and what no choice of clocks may break."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.errors import InputError
from warpwatt.published.wang_chu.controller import (
    Cost,
    Phase,
    Switching,
    best_fixed,
    controlled,
    fixed,
    oracle,
)

SLOW, MIDDLE, FAST = (500.0, 1.0), (800.0, 1.0), (1000.0, 1.0)
PAIRS = (SLOW, MIDDLE, FAST)
costs = st.builds(Cost, st.floats(0.01, 2.0), st.floats(0.1, 50.0))
sequences = st.lists(
    st.builds(Phase, st.just("k"), st.fixed_dictionaries(dict.fromkeys(PAIRS, costs)), st.integers(1, 4)),
    min_size=1,
    max_size=5,
)
switchings = st.builds(Switching, st.floats(0.0, 1.0), st.floats(0.0, 50.0))
MEMORY = Phase("memory", {SLOW: Cost(1.0, 60.0), FAST: Cost(0.95, 100.0)}, 20)
COMPUTE = Phase("compute", {SLOW: Cost(2.0, 160.0), FAST: Cost(1.0, 120.0)}, 20)


def brute_force(sequence, switching):
    """Return the least energy over every choice of clocks for every phase."""
    best = float("inf")
    for chosen in itertools.product(PAIRS, repeat=len(sequence)):
        spent = sum(p.launches * p.costs[pair].joules for p, pair in zip(sequence, chosen, strict=True))
        changes = sum(a != b for a, b in itertools.pairwise(chosen))
        best = min(best, spent + changes * switching.joules)
    return best


@given(sequences, switchings)
def test_oracle_is_the_best_of_all(sequence, switching):
    found = oracle(sequence, switching)
    assert found.joules == pytest.approx(brute_force(sequence, switching))
    assert found.joules <= best_fixed(sequence).joules * (1 + 1e-12)
    assert len(found.clocks) == sum(phase.launches for phase in sequence)


@given(sequences, switchings)
def test_nobody_beats_the_oracle(sequence, switching):
    assert controlled(sequence, switching, FAST).joules >= oracle(sequence, switching).joules * (1 - 1e-9)


@given(sequences)
def test_free_changes_make_the_controller_the_oracle(sequence):
    free = Switching(0.0, 0.0)
    assert controlled(sequence, free, FAST).joules == pytest.approx(oracle(sequence, free).joules)


def test_controller_follows_long_phases_and_ignores_short_ones():
    switching = Switching(0.02, 50.0)
    long = [MEMORY, COMPUTE] * 3
    run = controlled(long, switching, FAST)
    assert run.switches == 6
    assert run.joules < best_fixed(long).joules
    dear = Switching(20.0, 100.0)
    assert controlled(long, dear, FAST).switches < 6


def test_a_limit_on_time_is_kept_where_energy_would_break_it():
    idle = Phase("k", {SLOW: Cost(2.0, 50.0), FAST: Cost(1.0, 100.0)}, 5)
    assert controlled([idle], Switching(0.0, 0.0), FAST, max_slowdown=0.1).clocks == (FAST,) * 5
    assert controlled([idle], Switching(1.0, 1.0), SLOW, max_slowdown=0.1).clocks == (FAST,) * 5


def test_belief_chooses_and_truth_is_paid():
    wrong = Phase("memory", {SLOW: Cost(1.0, 200.0), FAST: Cost(1.0, 100.0)}, 20)
    run = controlled([MEMORY], Switching(0.0, 0.0), FAST, believed=[wrong])
    assert run.joules == pytest.approx(fixed([MEMORY], FAST).joules)


def test_no_common_clocks_is_an_error():
    with pytest.raises(InputError, match="no pair of clocks"):
        best_fixed([MEMORY, Phase("x", {MIDDLE: Cost(1.0, 1.0)})])
