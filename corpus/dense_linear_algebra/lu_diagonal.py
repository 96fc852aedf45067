"""LU factors by recursive halving: the Schur complement of the leading half is factorised in turn."""

import numpy as np


def inputs(a):
    """Return diagonally dominant blocks, which need no pivoting."""
    blocks = a["A"].reshape(-1, 32, 32)
    blocks[:, range(32), range(32)] += 32
    return {"A": blocks.ravel()}


def factorise(m):
    """Return L (below the diagonal, ones implied) and U of a stack of matrices, in one stack."""
    size = m.shape[-1]
    if size == 1:
        return m
    h = size // 2
    lead = factorise(m[:, :h, :h])
    lower = np.tril(lead, -1) + np.eye(h)
    upper = np.triu(lead)
    right = np.linalg.solve(lower, m[:, :h, h:])
    below = m[:, h:, :h] @ np.linalg.inv(upper)
    rest = factorise(m[:, h:, h:] - below @ right)
    return np.block([[lead, right], [below, rest]])


def reference(a):
    """Return A after the launch."""
    factors = factorise(a["A"].reshape(-1, 32, 32).astype(np.float64))
    return {"A": factors.astype(np.float32).ravel()}
