"""5 x 5 cross-correlation with zero borders."""

import numpy as np


def reference(a):
    """Return output after the launch."""
    image = np.pad(a["image"].reshape(a["h"], a["w"]).astype(np.float64), 2)
    windows = np.lib.stride_tricks.sliding_window_view(image, (5, 5))
    output = np.einsum("yxrs,rs->yx", windows, a["filter"].reshape(5, 5).astype(np.float64))
    return {"output": output.astype(np.float32).ravel()}
