"""What was launched, on what, with which measured launch beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.arguments import Scalar
from warpwatt.render.document.values import extent_document, sorted_document

if TYPE_CHECKING:
    from warpwatt.core.arguments import Argument
    from warpwatt.core.case import Profile
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.launch import Launch
    from warpwatt.render.document.values import Json


def launch_document(launch: Launch) -> Json:
    """Return everything the host says when it starts the kernel; shared memory in bytes."""
    return {
        "grid": extent_document(launch.grid),
        "block": extent_document(launch.block),
        "cluster": extent_document(launch.cluster),
        "dynamic_shared": launch.dynamic_shared,
        "carveout": launch.carveout,
        "cooperative": launch.cooperative,
        "graph": launch.graph,
        "repeats": launch.repeats,
        "l2": str(launch.l2),
        "threads": launch.threads,
        "warps": launch.warps,
        "arguments": {name: argument_document(a) for name, a in launch.arguments.items()},
    }


def argument_document(argument: Argument) -> Json:
    """Return a scalar as ``{kind, value}`` and a buffer as ``{kind, dtype, shape, ...}``.

    >>> argument_document(Scalar(3))
    {'kind': 'scalar', 'value': 3}
    """
    if isinstance(argument, Scalar):
        return {"kind": "scalar", "value": argument.value}
    return {
        "kind": "buffer",
        "dtype": str(argument.dtype),
        "shape": list(argument.shape),
        "bytes": argument.nbytes,
        "fill": str(argument.fill),
        "seed": argument.seed,
        "path": argument.path,
        "assumed_fill": argument.assumed_fill,
    }


def device_document(gpu: Gpu) -> Json:
    """Return the numbers of a GPU that a reader needs to judge the result."""
    return {
        "name": gpu.name,
        "arch": gpu.arch or gpu.capability.arch,
        "capability": gpu.capability.version,
        "sm_count": gpu.sm_count,
        "boost_clock": gpu.boost_clock,
        "memory_clock": gpu.memory_clock,
        "memory_bandwidth": gpu.memory_bandwidth,
        "l2_size": gpu.l2_size,
        "power_limit": gpu.power_limit,
        "calibrated": gpu.calibration is not None,
        "memory_timings_from": gpu.memory.borrowed_from or gpu.name,
    }


def profile_document(profile: Profile | None) -> Json | None:
    """Return a measured launch, None for none."""
    if profile is None:
        return None
    return {
        "gpu": profile.gpu,
        "time": profile.time,
        "power": profile.power,
        "counters": sorted_document(profile.counters),
    }
