"""The maximum of every 2 x 2 cell; an odd last row or column is dropped."""


def reference(a):
    """Return y after the launch."""
    h, w = a["h"] // 2, a["w"] // 2
    x = a["x"].reshape(a["planes"], a["h"], a["w"])[:, : 2 * h, : 2 * w]
    return {"y": x.reshape(a["planes"], h, 2, w, 2).max(axis=(2, 4)).ravel()}
