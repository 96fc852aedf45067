"""17 taps along rows, then along columns, with zero borders."""

import numpy as np


def filtered(image, taps, axis):
    """Return the cross-correlation of an image with taps along one axis."""
    width = [(8, 8) if axis == which else (0, 0) for which in (0, 1)]
    return np.lib.stride_tricks.sliding_window_view(np.pad(image, width), 17, axis=axis) @ taps


def reference(a):
    """Return middle and output after the launches."""
    taps = a["taps"].astype(np.float64)
    middle = filtered(a["image"].reshape(a["h"], a["w"]).astype(np.float64), taps, 1)
    output = filtered(middle, taps, 0)
    results = {"middle": middle, "output": output}
    return {name: value.astype(np.float32).ravel() for name, value in results.items()}
