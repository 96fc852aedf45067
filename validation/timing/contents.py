"""Contents of buffers that decide what the kernels of public data sets do, written to temporary files."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEYS, LARGEST_KEY, TILE, SAMPLE = 1 << 22, 65536, 1024, 128
"""The merge sort of nv_dvfs_benchmark: keys, bound of their values, first sorted tiles, sampling stride."""


@cache
def content(name: str) -> str:
    """Return the path of a file with what ``{name}`` stands for in an argument.

    ``words.COUNT``: random 32-bit words; ``merge.PART.STRIDE``: an array of the merge sort before the stage
    that merges sorted runs of that many keys.
    """
    kind, _, rest = name.partition(".")
    if kind == "words":
        values = np.random.default_rng(0).integers(0, 2**32, int(rest), np.uint32)
    else:
        part, _, stride = rest.partition(".")
        values = merge_stage(int(stride))[part]
    return saved(name, values)


def saved(name: str, values: NDArray[np.generic]) -> str:
    """Write an array to a temporary file and return its path."""
    path = _folder() / f"{name}.npy"
    np.save(path, values)
    return str(path)


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="contents"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@lru_cache(maxsize=2)
def merge_stage(stride: int) -> dict[str, NDArray[np.uint32]]:
    """Return the keys in sorted runs of ``stride``, and the ranks and limits that their merge finds.

    For every run's each 128th key its rank in both runs of the pair; limits are the ranks in the order of the
    merged run.
    """
    keys = np.random.default_rng(0).integers(0, LARGEST_KEY, KEYS, np.uint32)
    if stride < TILE:
        return {"keys": keys}
    runs = np.sort(keys.reshape(-1, 2, stride), axis=2)
    found: dict[str, list[NDArray[np.int64]]] = {"ranks_a": [], "ranks_b": [], "limits_a": [], "limits_b": []}
    own = np.arange(0, stride, SAMPLE)
    for a, b in runs:
        of_a = (own, np.searchsorted(b, a[::SAMPLE], "left"))
        of_b = (np.searchsorted(a, b[::SAMPLE], "right"), own)
        for side, name in enumerate(("a", "b")):
            ranks = np.concatenate((of_a[side], of_b[side]))
            found[f"ranks_{name}"].append(ranks)
            found[f"limits_{name}"].append(np.sort(ranks))
    arrays = {name: np.concatenate(parts).astype(np.uint32) for name, parts in found.items()}
    return {"keys": runs.reshape(-1), **arrays}
