"""Which strings are valid UTF-8."""

import numpy as np

LIMITS = (0x80, 0x800, 0x10000, 0x110000)
"""First code points that need two, three and four bytes, and the end of Unicode."""


def string(generator, length):
    """Return random characters of one to four bytes; every second time one byte is replaced at random."""
    text = b""
    while len(text) < length:
        point = int(generator.integers(0, LIMITS[generator.integers(0, 4)]))
        character = chr(point).encode("utf-8", "surrogatepass")
        text += character if len(text) + len(character) <= length else b" "
    if generator.integers(0, 2):
        at = generator.integers(0, length)
        text = text[:at] + bytes([generator.integers(0, 256)]) + text[at + 1 :]
    return text


def inputs(a):
    """Return strings drawn from 500 different ones."""
    generator = np.random.Generator(np.random.Philox(key=19))
    pool = np.frombuffer(b"".join(string(generator, a["length"]) for _ in range(500)), np.uint8)
    return {"text": pool.reshape(500, -1)[generator.integers(0, 500, a["n"])].ravel()}


def is_valid(text):
    """Return whether Python, which follows the standard, decodes it."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def reference(a):
    """Return one for each valid string."""
    rows = a["text"].reshape(a["n"], -1)
    return {"valid": np.array([is_valid(row.tobytes()) for row in rows], np.uint8)}
