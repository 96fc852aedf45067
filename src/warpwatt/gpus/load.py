"""Finding GPUs by name."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.gpus import boards, catalog
from warpwatt.gpus.boost import clock_spread, free_clock
from warpwatt.gpus.calibrations import calibration_files, load_calibration, stack_calibrations
from warpwatt.gpus.catalog import Entry

# What a prediction looks at beyond the fields every Gpu has.
_TIMINGS = ("shared_latency", "l1_latency", "l2_latency", "dram_latency")
"""Measured ones that a prediction needs; bandwidths that nobody measured are a constant share of the peak."""
_FIELDS = ("l1_shared_per_sm", "power_limit")
ARCHITECTURES = {
    name.lower(): name
    for name in (
        "Fermi",
        "Kepler",
        "Maxwell",
        "Pascal",
        "Volta",
        "Turing",
        "Ampere",
        "Ada",
        "Hopper",
        "Blackwell",
    )
}
"""What a list of GPUs may name besides GPUs, in small letters."""
_RATES = ("fp32_add_mul_fma", "int32_add_sub", "fp32_special")


def find(name: str) -> Gpu:
    """Return the GPU called ``name``: case, blanks, punctuation and the vendor's words do not matter.

    Raises
    ------
    UnknownGpuError
        If no GPU or several are called so; the hint names those that come near.
    ParseError
        If a file in the user's own directories is malformed.

    >>> find("h200").name, find("a100-sxm4-40gb").name, find("NVIDIA GeForce RTX 4090").name
    ('NVIDIA H200', 'NVIDIA A100-SXM4-40GB', 'GeForce RTX 4090')
    """
    return _gpu(catalog.lookup(name))


def uncalibrated(name: str) -> Gpu:
    """Return the GPU called ``name`` as its file has it: what no calibration changes costs no reading of any.

    Raises as :func:`find`.

    >>> uncalibrated("h200").capability.version
    '9.0'
    """
    return _board(catalog.lookup(name))


def find_many(text: str) -> tuple[Gpu, ...]:
    """Return the GPUs of a comma-separated list, each once, or every GPU for ``"all"``.

    A name of the list may be an architecture, for all its GPUs.

    Raises
    ------
    UnknownGpuError
        If one of the names is unknown or ambiguous, or the list is empty.

    >>> [gpu.name for gpu in find_many("h200, v100")]
    ['NVIDIA H200', 'Tesla V100 SXM2 16GB']
    """
    if text.strip().lower() == "all":
        return tuple(dict.fromkeys(find(name) for name in catalog.names()))
    return tuple(dict.fromkeys(gpu for part in text.split(",") for gpu in _family(part.strip())))


def names_many(text: str) -> bool:
    """Whether a list names GPUs by what they have in common: such a GPU may turn out not to be fit.

    >>> names_many("h200,a100"), names_many("h200,Ada"), names_many("all")
    (False, True, True)
    """
    return any(part.strip().lower() in ("all", *ARCHITECTURES) for part in text.split(","))


def _family(name: str) -> tuple[Gpu, ...]:
    """Return the GPU of a name, or all of an architecture."""
    family = ARCHITECTURES.get(name.lower())
    if family is None:
        return (find(name),)
    boards = (find(one) for one in catalog.names())
    return tuple(gpu for gpu in boards if architecture(gpu) == family)


def architecture(gpu: Gpu) -> str:
    """Return NVIDIA's name of a GPU's architecture.

    >>> architecture(find("h200")), architecture(find("rtx4090"))
    ('Hopper', 'Ada')
    """
    return (gpu.arch or gpu.capability.arch).split()[0]


def _gpu(entry: Entry) -> Gpu:
    gpu = _board(entry)
    paths = calibration_files(gpu.name)
    return _calibrated(gpu, tuple((path, path.stat().st_mtime_ns) for path in paths)) if paths else gpu


def _board(entry: Entry) -> Gpu:
    # A user's file, and what it inherits from, may change while a server runs: read it each time.
    return boards.read_gpu(entry) if entry.user else _packaged(entry)


@lru_cache(maxsize=64)
def _calibrated(gpu: Gpu, files: tuple[tuple[Path, int], ...]) -> Gpu:
    """Return the GPU with the calibrations in files; their times of modification are part of the key."""
    return replace(gpu, calibration=stack_calibrations([load_calibration(path) for path, _ in files]))


@lru_cache(maxsize=256)
def _packaged(entry: Entry) -> Gpu:
    return boards.read_gpu(entry)


def default_clocks(gpu: Gpu) -> Clocks:
    """Return the clocks of a CUDA program that nothing holds back (what a power limit sustains may be lower).

    Boards that raise their clock by themselves have the one that somebody observed, or that is usual for
    boards like them, with a spread (:mod:`~warpwatt.gpus.boost`).

    >>> default_clocks(find("h200"))
    Clocks(sm=1980000000.0, memory=3186000000.0, sustained=False, spread=0.0)
    >>> default_clocks(find("rtx-3060-ti"))
    Clocks(sm=1965000000.0, memory=6801000000.0, sustained=False, spread=0.05)
    """
    return Clocks(
        sm=free_clock(gpu),
        memory=gpu.compute_memory_clock or gpu.memory_clock,
        spread=clock_spread(gpu),
    )


def without_ecc(gpu: Gpu) -> Gpu:
    """Return ``gpu`` with error correction switched off (``nvidia-smi -e 0``).

    >>> [round(gpu.memory.dram_bandwidth / 1e9) for gpu in (find("a40"), without_ecc(find("a40")))]
    [578, 680]
    """
    share, memory = gpu.ecc_dram_share or 1.0, gpu.memory
    read, copied = (x and x / share for x in (memory.dram_bandwidth, memory.dram_copy_bandwidth))
    return replace(
        gpu, ecc_dram_share=None, memory=replace(memory, dram_bandwidth=read, dram_copy_bandwidth=copied)
    )


def with_power_limit(gpu: Gpu, watts: float) -> Gpu:
    """Return ``gpu`` whose maker or operator (``nvidia-smi -pl``) set another power limit.

    >>> gpu = with_power_limit(find("rtx3090"), 420.0)
    >>> gpu.power_limit, gpu.rated_power
    (420.0, 350.0)
    """
    return replace(gpu, power_limit=watts, listed_power_limit=gpu.rated_power)


def missing(gpu: Gpu) -> tuple[str, ...]:
    """Return the names of what a prediction needs and nobody has supplied for this GPU; empty is good.

    Borrowed measurements count as known: they are flagged by ``gpu.memory.borrowed_from``.

    >>> missing(find("h200")), missing(replace(find("h200"), power_limit=None))
    ((), ('power_limit',))
    """
    return (
        *(name for name in _FIELDS if getattr(gpu, name) is None),
        *(f"memory.{name}" for name in _TIMINGS if getattr(gpu.memory, name) is None),
        *(f"throughput.{name}" for name in _RATES if name not in gpu.capability.throughput),
        *(() if gpu.latencies else ("latencies",)),
    )
