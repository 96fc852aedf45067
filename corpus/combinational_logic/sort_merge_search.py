"""Two sorted arrays merged."""

import numpy as np


def inputs(a):
    """Return sorted keys with some values in common."""
    generator = np.random.Generator(np.random.Philox(key=16))
    return {name: np.sort(generator.integers(0, 2 * a["m"], a[name].size, np.uint32)) for name in ("a", "b")}


def reference(a):
    """Return all keys in order."""
    return {"merged": np.sort(np.concatenate([a["a"], a["b"]]))}
