"""The transpose of a row-major matrix."""


def reference(a):
    """Return out after the launch."""
    return {"out": a["in"].reshape(a["rows"], a["cols"]).T.ravel()}
