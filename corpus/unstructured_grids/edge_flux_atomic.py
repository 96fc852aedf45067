"""Rusanov fluxes of the shallow-water equations, summed per cell over the edges of a mesh."""

import numpy as np

GRAVITY = 9.81


def inputs(args):
    """Return a mesh of side x side quadrilaterals renumbered at random within windows of 1024 cells.

    Cells have four edges (two at corners); edges come in order of the cell left of them before renumbering.
    Normals vary by up to 0.1 rad around the axes, lengths by ten per cent; depths lie in [1, 2), momenta in
    [-0.5, 0.5).
    """
    rng = np.random.default_rng(1)
    side, cells = args["side"], args["cells"]
    cell = np.arange(cells, dtype=np.int32)
    names = cell.copy()
    for start in range(0, cells, 1024):
        rng.shuffle(names[start : start + 1024])
    east, north = cell % side < side - 1, cell // side < side - 1
    has_edge = np.stack([east, north], axis=1)
    left = np.repeat(cell, 2).reshape(cells, 2)[has_edge]
    right = np.stack([cell + 1, cell + side], axis=1)[has_edge]
    angle = np.broadcast_to([0, np.pi / 2], (cells, 2))[has_edge] + 0.2 * rng.random(left.size) - 0.1
    state = rng.random((3, cells), dtype=np.float32) + np.array([[1], [-0.5], [-0.5]], np.float32)
    return {
        "left": names[left],
        "right": names[right],
        "normal_x": np.cos(angle).astype(np.float32),
        "normal_y": np.sin(angle).astype(np.float32),
        "length": (0.9 + 0.2 * rng.random(left.size)).astype(np.float32),
        "state": state.ravel(),
    }


def flux(state, normal):
    """Return the physical flux through `normal` and the fastest wave speed."""
    depth, momentum = state[0], state[1:]
    velocity = (momentum * normal).sum(axis=0) / depth
    pressure = 0.5 * GRAVITY * depth**2
    through = np.concatenate([[depth * velocity], momentum * velocity + pressure * normal])
    return through, np.abs(velocity) + np.sqrt(GRAVITY * depth)


def reference(a):
    """Return the rate of change of every cell's depth and momenta, times its area."""
    cells = a["cells"]
    state = a["state"].reshape(3, cells).astype(np.float64)
    normal = np.stack([a["normal_x"], a["normal_y"]]).astype(np.float64)
    left, right = state[:, a["left"]], state[:, a["right"]]
    (flux_left, speed_left), (flux_right, speed_right) = flux(left, normal), flux(right, normal)
    speed = np.maximum(speed_left, speed_right)
    through = 0.5 * a["length"] * (flux_left + flux_right - speed * (right - left))
    gained = [np.bincount(a["right"], f, cells) - np.bincount(a["left"], f, cells) for f in through]
    return {"change": np.concatenate(gained).astype(np.float32)}
