"""How often a pattern occurs in a text."""

import numpy as np


def inputs(a):
    """Return a text of four letters and a pattern taken from its middle, as its automaton."""
    generator = np.random.Generator(np.random.Philox(key=18))
    text = np.frombuffer(b"ACGT", np.uint8)[generator.integers(0, 4, a["n"], np.uint8)]
    pattern = text[a["n"] // 2 :][: a["length"]]
    table = np.zeros((a["length"] + 1, 256), np.uint8)
    for state in range(a["length"] + 1):
        for letter in b"ACGT":
            # The next state is the longest prefix of the pattern that ends what was read.
            seen = bytes(pattern[:state]) + bytes([letter])
            longest_first = range(min(len(seen), a["length"]), -1, -1)
            table[state, letter] = next(k for k in longest_first if seen.endswith(bytes(pattern[:k])))
    return {"text": text, "table": table.ravel()}


def reference(a):
    """Return the count; the pattern is read off the table."""
    table = a["table"].reshape(-1, 256)
    pattern = bytes(int(np.flatnonzero(table[k] == k + 1)[0]) for k in range(a["length"]))
    text, count, at = a["text"].tobytes(), 0, -1
    while (at := text.find(pattern, at + 1)) >= 0:
        count += 1
    return {"matches": np.array([count], np.uint32)}
