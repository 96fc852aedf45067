"""Discrete Fourier transform; the stages go back and forth between two buffers."""

import numpy as np


def reference(a):
    """Return the transform in ``x`` (an even number of stages) and the last stage but one in ``y``."""
    n = a["n"]
    x = a["x"].astype(np.float64).view(np.complex128)
    # Before the last stage there are two transforms of length n/2, of even and odd samples.
    halves = np.concatenate([np.fft.fft(x[0::2]), np.fft.fft(x[1::2])])
    assert n.bit_length() % 2 == 1
    return {name: v.view(np.float64).astype(np.float32) for name, v in (("x", np.fft.fft(x)), ("y", halves))}
