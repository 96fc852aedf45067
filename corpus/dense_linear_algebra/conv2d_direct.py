"""3 x 3 cross-correlation with zero padding, summed over input channels."""

import numpy as np


def reference(a):
    """Return output after the launch."""
    h, w = a["h"], a["w"]
    image = a["input"].reshape(a["c_in"], h, w).astype(np.float64)
    weight = a["weight"].reshape(a["c_out"], a["c_in"], 3, 3)
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    output = np.einsum("cyxrs,kcrs->kyx", windows, weight, optimize=True)
    return {"output": output.astype(np.float32).ravel()}
