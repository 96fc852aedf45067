"""D2Q9 lattice Boltzmann step: streaming, then relaxation towards the local equilibrium."""

import numpy as np

VELOCITIES = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)


def inputs(args):
    """Return populations near rest: the lattice weights, each disturbed by up to ten per cent."""
    cells = args["width"] * args["height"]
    disturbance = np.random.default_rng(1).random((9, cells), dtype=np.float32)
    return {"in": (WEIGHTS[:, None].astype(np.float32) * (1 + np.float32(0.1) * disturbance)).ravel()}


def reference(a):
    """Return the populations after the step."""
    f = a["in"].reshape(9, a["height"], a["width"]).astype(np.float64)
    f = np.stack([np.roll(p, (cy, cx), axis=(0, 1)) for p, (cx, cy) in zip(f, VELOCITIES, strict=True)])
    density = f.sum(axis=0)
    velocity = np.tensordot(VELOCITIES.T, f, axes=1) / density
    along = np.tensordot(VELOCITIES, velocity, axes=1)
    shape = 1 + 3 * along + 4.5 * along**2 - 1.5 * (velocity**2).sum(axis=0)
    equilibrium = WEIGHTS[:, None, None] * density * shape
    return {"out": (f + a["omega"] * (equilibrium - f)).astype(np.float32).ravel()}
