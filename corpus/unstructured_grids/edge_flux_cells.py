"""Rusanov fluxes of the shallow-water equations, summed over the three edges of every triangle."""

import numpy as np

GRAVITY = 9.81


def inputs(args):
    """Return a mesh of side x side squares cut along their diagonals, cells in order of their squares.

    Cell 2q is the lower triangle of square q, 2q + 1 the upper one; edges are the diagonal, the horizontal
    and the vertical one. Neighbour -1 is a wall. Depths lie in [1, 2), momenta in [-0.5, 0.5).
    """
    rng = np.random.default_rng(1)
    side, cells = args["side"], args["cells"]
    square = np.arange(side * side, dtype=np.int32)
    x, y = square % side, square // side
    lower = [
        2 * square + 1,
        np.where(y > 0, 2 * (square - side) + 1, -1),
        np.where(x > 0, 2 * square - 1, -1),
    ]
    upper = [
        2 * square,
        np.where(y < side - 1, 2 * (square + side), -1),
        np.where(x < side - 1, 2 * (square + 1), -1),
    ]
    neighbour = np.stack([lower, upper], axis=2).astype(np.int32)
    outwards = np.array([[[1, 1], [0, -1], [-1, 0]], [[-1, -1], [0, 1], [1, 0]]], np.float64)
    length = np.linalg.norm(outwards, axis=2)
    normal = outwards / length[..., None]
    state = rng.random((3, cells), dtype=np.float32) + np.array([[1], [-0.5], [-0.5]], np.float32)
    per_cell = (side * side, 1)
    return {
        "neighbour": neighbour.ravel(),
        "normal_x": np.concatenate([np.tile(normal[:, k, 0], per_cell).ravel() for k in range(3)]).astype(
            np.float32
        ),
        "normal_y": np.concatenate([np.tile(normal[:, k, 1], per_cell).ravel() for k in range(3)]).astype(
            np.float32
        ),
        "length": np.concatenate([np.tile(length[:, k], per_cell).ravel() for k in range(3)]).astype(
            np.float32
        ),
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
    inside = a["state"].reshape(3, cells).astype(np.float64)
    change = np.zeros_like(inside)
    edges = (a[name].reshape(3, cells) for name in ("neighbour", "normal_x", "normal_y", "length"))
    for other, nx, ny, length in zip(*edges, strict=True):
        normal = np.stack([nx, ny]).astype(np.float64)
        mirrored = inside.copy()
        mirrored[1:] -= 2 * (inside[1:] * normal).sum(axis=0) * normal
        outside = np.where(other >= 0, inside[:, other], mirrored)
        (flux_in, speed_in), (flux_out, speed_out) = flux(inside, normal), flux(outside, normal)
        speed = np.maximum(speed_in, speed_out)
        change -= 0.5 * length * (flux_in + flux_out - speed * (outside - inside))
    return {"change": change.astype(np.float32).ravel()}
