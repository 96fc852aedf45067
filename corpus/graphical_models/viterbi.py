"""Viterbi paths of hidden Markov models with 64 states and 128 symbols."""

import numpy as np

STATES = 64


def inputs(args):  # noqa: ARG001 - the model does not depend on the size
    """Return logarithms of random distributions: initial, transitions, emissions (by symbol, then state)."""
    rng = np.random.default_rng(1)
    initial, transition, emission = (rng.random(shape) + 1e-3 for shape in (64, (64, 64), (128, 64)))
    return {
        "initial": np.log(initial / initial.sum()).astype(np.float32),
        "transition": np.log(transition / transition.sum(axis=1, keepdims=True)).astype(np.float32).ravel(),
        "emission": np.log(emission / emission.sum(axis=0)).astype(np.float32).ravel(),
    }


def reference(a):
    """Return back pointers and paths; single precision throughout, as ties decide between paths."""
    steps = a["steps"]
    observed = a["observed"].reshape(-1, steps)
    transition, emission = a["transition"].reshape(STATES, STATES), a["emission"].reshape(-1, STATES)
    score = a["initial"] + emission[observed[:, 0]]
    back = np.zeros((len(observed), steps, STATES), np.uint8)
    for t in range(1, steps):
        candidates = score[:, :, None] + transition
        back[:, t] = candidates.argmax(axis=1)
        score = candidates.max(axis=1) + emission[observed[:, t]]
    path = np.zeros(observed.shape, np.int32)
    here = score.argmax(axis=1)
    for t in range(steps - 1, -1, -1):
        path[:, t] = here
        here = back[np.arange(len(observed)), t, here]
    return {"back": back.ravel(), "path": path.ravel()}
