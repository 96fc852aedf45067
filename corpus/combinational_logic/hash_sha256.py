"""SHA-256 of messages of 55 bytes, whose padded form is one block; blocks and digests stand word-major."""

import hashlib

import numpy as np


def inputs(a):
    """Return random messages of 55 bytes, padded as the standard (FIPS 180-4) says."""
    generator = np.random.Generator(np.random.Philox(key=12))
    blocks = np.zeros((a["n"], 64), np.uint8)
    blocks[:, :55] = generator.integers(0, 256, (a["n"], 55), np.uint8)
    blocks[:, 55] = 0x80
    blocks[:, 62:] = 55 * 8 >> 8, 55 * 8 & 255
    return {"blocks": blocks.view(">u4").T.astype(np.uint32).ravel()}


def reference(a):
    """Return the digests."""
    blocks = a["blocks"].reshape(16, a["n"]).T.astype(">u4")
    digests = b"".join(hashlib.sha256(block.tobytes()[:55]).digest() for block in blocks)
    return {"digests": np.frombuffer(digests, ">u4").reshape(-1, 8).T.astype(np.uint32).ravel()}
