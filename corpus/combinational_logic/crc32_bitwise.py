"""CRC-32 (as in zlib) of rows of bytes."""

import zlib

import numpy as np


def reference(a):
    """Return the checksum of every row."""
    rows = a["rows"].reshape(a["n"], -1)
    return {"checksums": np.array([zlib.crc32(row.tobytes()) for row in rows], np.uint32)}
