"""Gray code and bit-reversal permutation."""


def reference(a):
    """Return the codes, and the codes with the axes of their hypercube in reverse order."""
    gray = a["x"] ^ a["x"] // 2
    return {"gray": gray, "y": gray.reshape((2,) * a["bits"]).transpose().ravel()}
