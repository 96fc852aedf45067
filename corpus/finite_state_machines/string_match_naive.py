"""Where a pattern occurs in a text."""

import numpy as np


def inputs(a):
    """Return a text of four letters and a pattern taken from its middle."""
    generator = np.random.Generator(np.random.Philox(key=18))
    text = np.frombuffer(b"ACGT", np.uint8)[generator.integers(0, 4, a["n"], np.uint8)]
    pattern = text[a["n"] // 2 :][: a["length"]]
    return {"text": text, "pattern": pattern.copy()}


def reference(a):
    """Return one where an occurrence begins."""
    windows = np.lib.stride_tricks.sliding_window_view(a["text"], a["length"])
    found = np.zeros(a["n"], np.uint8)
    found[: len(windows)] = (windows == a["pattern"]).all(axis=1)
    return {"found": found}
