"""Kernel Tuner itself, in simulation mode on a public cache, with our strategy: the whole way a user takes.

The convolution on the RTX 2080 Ti (``time_searches.py``): Kernel Tuner's own rows become its cache file
again, ``tune_kernel`` searches them, and the strategy predicts from the kernel's source. Nothing is taken
from executions computed before.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from kernel_tuner import tune_kernel

from validation.autotuners.figures import random_loss
from validation.timing.searches import IMAGE, SEARCHES
from validation.timing.tuning import _milliseconds, _read, _unusable
from warpwatt.integrations.kernel_tuner import Pruner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEARCH = "convolution_rtx2080ti"
CONFIGURATIONS = 40
"""Configurations drawn from the search: each is compiled and emulated, which takes seconds."""
KEEP = 0.1
SEED = 0

PROTOCOL = """\
## Kernel Tuner itself

`tune_kernel` in simulation mode, its cache file made of the public rows of the convolution on the RTX 2080
Ti: {count} configurations drawn from the search (seed {seed}), the kernel's public source, and
`strategy=Pruner("GeForce RTX 2080 Ti", keep={keep})`, which compiles and predicts every one of them. The
fastest that Kernel Tuner then found is {loss:.1f} % slower than the fastest of all {count}; as many runs
drawn blindly would lose {random:.1f} % on average. Predicting took {seconds:.1f} s per configuration on the
machine that wrote this page, which was busy; compilers included. What it said:

```
{said}
```"""


def section(data: Path, hub: Path) -> str:
    """Return the section of the page."""
    search = next(s for s in SEARCHES if s.file == SEARCH)
    rows = [row for row in _read(data / "autotuning_hub" / f"{SEARCH}.csv.gz") if not _unusable(row)]
    drawn = random.Random(SEED).sample(rows, CONFIGURATIONS)
    configurations = {tuple(int(row[c]) for c in search.columns): float(_milliseconds(row)) for row in drawn}
    pruner = Pruner(search.gpu, keep=KEEP, toolkit=search.toolkit, quiet=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = _tune(hub / search.source, search.columns, configurations, pruner, Path(folder))
    assert pruner.ranking is not None
    best = min(configurations.values())
    return PROTOCOL.format(
        count=len(configurations),
        seed=SEED,
        keep=KEEP,
        loss=100 * (min(found) / best - 1),
        random=100 * random_loss(list(configurations.values()), len(found)),
        seconds=(time.monotonic() - begun) / len(configurations),
        said=pruner.ranking,
    )


def _tune(
    source: Path,
    names: Sequence[str],
    configurations: Mapping[tuple[int, ...], float],
    pruner: Pruner,
    folder: Path,
) -> list[float]:
    """Return the times in ms of the configurations that Kernel Tuner ran."""
    space = {name: sorted({c[i] for c in configurations}) for i, name in enumerate(names)}
    filters = space["filter_height"][0], space["filter_width"][0]

    def was_measured(p: Mapping[str, int]) -> bool:
        return tuple(p[name] for name in names) in configurations

    results, _ = tune_kernel(
        "convolution_kernel",
        str(source),
        (IMAGE, IMAGE),
        [
            np.zeros((IMAGE, IMAGE), np.float32),
            np.random.default_rng(SEED).random((IMAGE + filters[0] - 1, IMAGE + filters[1] - 1), np.float32),
        ],
        space,
        grid_div_x=["block_size_x", "tile_size_x"],
        grid_div_y=["block_size_y", "tile_size_y"],
        cmem_args={"d_filter": np.ones(filters, np.float32)},
        restrictions=[was_measured],
        strategy=pruner,
        cache=str(_cache(space, configurations, folder)),
        simulation_mode=True,
        quiet=True,
        lang="CUDA",
    )
    return [result["time"] for result in results]


def _cache(
    space: Mapping[str, Sequence[int]], configurations: Mapping[tuple[int, ...], float], folder: Path
) -> Path:
    """Write the configurations as Kernel Tuner's cache file."""
    parts = ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time")
    spent = {**dict.fromkeys(parts, 0.0), "timestamp": ""}
    entries = {
        ",".join(map(str, chosen)): {**dict(zip(space, chosen, strict=True)), "time": ms, **spent}
        for chosen, ms in configurations.items()
    }
    head = {"device_name": "RTX 2080 Ti", "kernel_name": "convolution_kernel", "objective": "time"}
    sizes = {"problem_size": [IMAGE, IMAGE], "tune_params_keys": list(space), "tune_params": space}
    file = folder / "cache.json"
    file.write_text(json.dumps({**head, **sizes, "cache": entries}))
    return file
