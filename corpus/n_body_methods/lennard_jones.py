"""Lennard-Jones forces (unit depth and diameter) of particles on a shaken lattice, by neighbour lists."""

import numpy as np


def inputs(a):
    """Return particles near the points of a cubic lattice, and the 26 around each as its neighbours."""
    side = a["side"]
    points = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    particles = a["particles"].reshape(-1, 4)
    particles[:, :3] = 1.1 * points + 0.15 * particles[:, :3]
    number = np.arange(side**3, dtype=np.int32).reshape(side, side, side)
    offsets = (np.unravel_index(k, (3, 3, 3)) for k in range(27) if k != 13)  # 13 is no step at all
    neighbours = [np.roll(number, np.array(offset) - 1, (0, 1, 2)).ravel() for offset in offsets]
    return {"particles": particles.ravel(), "neighbours": np.concatenate(neighbours)}


def reference(a):
    """Return force and energy of every particle."""
    position = a["particles"].reshape(-1, 4)[:, :3].astype(np.float64)
    neighbours = a["neighbours"].reshape(26, -1)
    distance = position - position[neighbours]
    distance -= a["box"] * np.rint(distance / a["box"])
    squared = (distance**2).sum(axis=2)
    near = squared < a["cutoff"] ** 2
    force = np.where(near, 24 * (2 * squared**-7 - squared**-4), 0)[:, :, None] * distance
    energy = np.where(near, 2 * (squared**-6 - squared**-3), 0).sum(axis=0)
    return {"force": np.column_stack([force.sum(axis=0), energy]).astype(np.float32).ravel()}
