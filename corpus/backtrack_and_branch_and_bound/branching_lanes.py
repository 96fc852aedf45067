"""Eight maps of the line, iterated."""

import numpy as np

MAPS = (
    lambda v: 0.5 * v + 0.25,
    lambda v: np.sqrt(v + 1),
    lambda v: 1 / (v + 1),
    lambda v: 0.25 * v**2 + 0.125 * v + 0.1,
    lambda v: np.exp(-v),
    lambda v: np.log(v + 2),
    lambda v: abs(v - 0.75) / 2 + np.minimum(v, 0.5),
    lambda v: 0.5 * np.cos(v),
)


def reference(a):
    """Return every element after its map was applied ``rounds`` times."""
    x = a["x"].astype(np.float64)
    for way in range(a["ways"]):
        part = x[way :: a["ways"]]
        for _ in range(a["rounds"]):
            part = MAPS[way](part)
        x[way :: a["ways"]] = part
    return {"x": x.astype(np.float32)}
