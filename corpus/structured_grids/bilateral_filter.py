"""Bilateral filter with Gaussian distance and range weights and replicated edges."""

import numpy as np

RADIUS = 4


def reference(a):
    """Return the filtered image."""
    height, width = a["height"], a["width"]
    image = a["image"].reshape(height, width).astype(np.float64)
    padded = np.pad(image, RADIUS, mode="edge")
    total = np.zeros_like(image)
    weighted = np.zeros_like(image)
    for dy, dx in np.ndindex(2 * RADIUS + 1, 2 * RADIUS + 1):
        value = padded[dy : dy + height, dx : dx + width]
        distance = (dy - RADIUS) ** 2 + (dx - RADIUS) ** 2
        weight = np.exp(-a["distance_falloff"] * distance - a["range_falloff"] * (value - image) ** 2)
        total += weight
        weighted += weight * value
    return {"filtered": (weighted / total).astype(np.float32).ravel()}
