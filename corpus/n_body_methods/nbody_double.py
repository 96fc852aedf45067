"""Gravitational accelerations of all pairs, softened."""

import numpy as np


def reference(a):
    """Return the acceleration of every body; its fourth component is zero."""
    bodies = a["bodies"].reshape(-1, 4).astype(np.float64)
    position, mass = bodies[:, :3], bodies[:, 3]
    out = np.zeros((len(bodies), 4))
    for i, centre in enumerate(position):
        distance = position - centre
        squared = (distance**2).sum(axis=1) + a["softening"]
        out[i, :3] = (mass * squared**-1.5) @ distance
    return {"acceleration": out.astype(np.float64).ravel()}
