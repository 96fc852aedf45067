"""Signed volumes of tetrahedra."""

import itertools

import numpy as np


def inputs(args):
    """Return a grid of side**3 cubes of six tetrahedra each, numbered along x, corners moved by up to 0.2.

    The six share the diagonal from corner (0, 0, 0) to (1, 1, 1), one per order of the three axes.
    """
    rng = np.random.default_rng(1)
    side = args["side"]
    points = side + 1
    strides = np.array([1, points, points * points], np.int32)
    paths = [np.concatenate([[0], np.cumsum(strides[list(o)])]) for o in itertools.permutations(range(3))]
    along = np.arange(side, dtype=np.int32)
    cube = (along[:, None, None] * strides[2] + along[:, None] * strides[1] + along).ravel()
    corners = cube[:, None, None] + np.array(paths, np.int32)
    grid = np.arange(points, dtype=np.float32)
    position = np.zeros((points, points, points, 4), np.float32)
    position[..., 0], position[..., 1], position[..., 2] = grid, grid[:, None], grid[:, None, None]
    position[..., :3] += 0.4 * rng.random((*position.shape[:3], 3), dtype=np.float32) - np.float32(0.2)
    return {"corners": corners.ravel(), "position": position.ravel()}


def reference(a):
    """Return the volumes: a sixth of the determinant of three edges."""
    points = a["position"].reshape(-1, 4)[:, :3].astype(np.float64)[a["corners"].reshape(-1, 4)]
    return {"volume": (np.linalg.det(points[:, 1:] - points[:, :1]) / 6).astype(np.float32)}
