"""The sum of two arrays; a single float addition is exact to the bit."""


def reference(a):
    """Return out after the launch."""
    return {"out": a["x"] + a["residual"]}
