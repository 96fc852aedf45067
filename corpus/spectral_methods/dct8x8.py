"""Two-dimensional discrete cosine transform (type II, orthonormal) of 8 x 8 blocks."""

import numpy as np


def inputs(_a):
    """Return the basis: row u is the u-th cosine."""
    u, k = np.arange(8)[:, None], np.arange(8)
    basis = np.sqrt(np.where(u == 0, 1, 2) / 8) * np.cos((2 * k + 1) * u * np.pi / 16)
    return {"basis": basis.astype(np.float32).ravel()}


def reference(a):
    """Return the coefficients where the pixels were."""
    basis = a["basis"].astype(np.float64).reshape(8, 8)
    height, width = a["height"], a["width"]
    blocks = a["image"].reshape(height // 8, 8, width // 8, 8).astype(np.float64)
    out = np.einsum("uy,iyjx,vx->iujv", basis, blocks, basis)
    return {"out": out.ravel().astype(np.float32)}
