"""Scaled forward algorithm of hidden Markov models with 128 states and 128 symbols."""

import numpy as np

STATES = 128


def inputs(args):  # noqa: ARG001 - the model does not depend on the size
    """Return random distributions: initial, transitions, emissions (by symbol, then state)."""
    rng = np.random.default_rng(1)
    initial, transition, emission = (rng.random(shape) for shape in (128, (128, 128), (128, 128)))
    return {
        "initial": (initial / initial.sum()).astype(np.float32),
        "transition": (transition / transition.sum(axis=1, keepdims=True)).astype(np.float32).ravel(),
        "emission": (emission / emission.sum(axis=0)).astype(np.float32).ravel(),
    }


def reference(a):
    """Return the distribution over the last state and the log-likelihood of each sequence."""
    observed = a["observed"].reshape(-1, a["steps"])
    transition = a["transition"].reshape(STATES, STATES).astype(np.float64)
    emission = a["emission"].reshape(-1, STATES).astype(np.float64)
    predicted = np.broadcast_to(a["initial"].astype(np.float64), (len(observed), STATES))
    total = np.zeros(len(observed))
    for symbols in observed.T:
        joint = predicted * emission[symbols]
        evidence = joint.sum(axis=1)
        alpha = joint / evidence[:, None]
        total += np.log(evidence)
        predicted = alpha @ transition
    return {"posterior": alpha.astype(np.float32).ravel(), "log_likelihood": total.astype(np.float32)}
