"""One file per compute capability: limits, lanes and throughput (``data/capabilities/*.toml``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.gpu import Capability
from warpwatt.core.units import KIB
from warpwatt.gpus.catalog import DATA
from warpwatt.gpus.datafile import Cited, DataFile

# Whole numbers every capability has, and those that may be unknown.
REQUIRED = tuple(field.name for field in fields(Capability) if field.type == "int")
OPTIONAL = ("lsu_lanes", "barriers_per_sm", "shared_bytes_per_clock", "l1_bytes_per_clock")


def versions() -> tuple[str, ...]:
    """Return the compute capabilities there is data for, oldest first.

    >>> versions()[0], versions()[-1], len(versions())
    ('2.0', '12.1', 26)
    """
    stems = (path.stem for path in (DATA / "capabilities").glob("*.toml"))
    return tuple(sorted(stems, key=lambda v: tuple(map(int, v.split(".")))))


@lru_cache(maxsize=64)
def capability(version: str) -> Capability:
    """Return the limits and lanes of a compute capability.

    Parameters
    ----------
    version
        Such as ``"9.0"``; ``"sm_90"`` and ``"90"`` mean the same.

    Raises
    ------
    UnsupportedGpuError
        If there is no such capability, or no data for it.

    >>> capability("sm_90").max_warps_per_sm, capability("12.0").max_warps_per_sm
    (64, 48)
    """
    return build(file(version))


def file(version: str) -> DataFile:
    """Return the file of a compute capability, or raise ``UnsupportedGpuError``."""
    digits = version.removeprefix("sm_").removeprefix("compute_").replace(".", "")
    path = DATA / "capabilities" / f"{digits[:-1]}.{digits[-1:]}.toml"
    if not (digits.isascii() and digits.isdigit() and path.is_file()):
        known = ", ".join(versions())
        raise UnsupportedGpuError(f"no data for compute capability {version!r}", hint=f"known: {known}")
    return _read(path)


@lru_cache(maxsize=64)
def _read(path: Path) -> DataFile:
    return DataFile(path)


def build(data: DataFile) -> Capability:
    """Return the capability a file describes, or raise ``ParseError``."""
    values = data.cited("values")
    for name in (*REQUIRED, "shared_carveouts_kib"):
        if name not in values:
            data.fail(f"{name} is missing", "values")
    throughput = data.cited("throughput")
    numbers: dict[str, Any] = {name: values[name].whole(least=0) for name in REQUIRED}
    numbers |= {name: values[name].whole() for name in OPTIONAL if name in values}
    numbers["lsu_lanes"] = numbers.get("lsu_lanes")
    pool = values.get("l1_shared_pool_kib")
    return Capability(
        version=data.text("version"),
        arch=data.text("arch"),
        shared_carveouts=tuple(kib * KIB for kib in values["shared_carveouts_kib"].value),
        l1_shared_pool=pool.whole() * KIB if pool else None,
        throughput={name: float(cited.number()) for name, cited in throughput.items()},
        sources=citations(values) | rate_citations(throughput),
        **numbers,
    )


def citations(values: Mapping[str, Cited]) -> dict[str, str]:
    """Return the source of each field, under the field's name in :class:`Capability`."""
    return {name.removesuffix("_kib"): str(cited.source) for name, cited in values.items()}


def rate_citations(throughput: Mapping[str, Cited]) -> dict[str, str]:
    """Return the source of each throughput class, as ``throughput.CLASS``."""
    return {f"throughput.{name}": str(cited.source) for name, cited in throughput.items()}


def adjust(base: Capability, values: Mapping[str, Cited], throughput: Mapping[str, Cited]) -> Capability:
    """Return ``base`` with the values in which one board differs (GeForce boards have fewer FP64 lanes).

    Raises
    ------
    ParseError
        If a name is not one of the capability's whole numbers.
    """
    if not values and not throughput:
        return base
    for name, cited in values.items():
        if name not in REQUIRED + OPTIONAL:
            cited.file.fail(
                f"unknown key {name!r}", name, hint=f"known keys are {', '.join(REQUIRED + OPTIONAL)}"
            )
    numbers: dict[str, Any] = {name: cited.whole(least=0) for name, cited in values.items()}
    rates = {name: float(cited.number()) for name, cited in throughput.items()}
    return replace(
        base,
        throughput={**base.throughput, **rates},
        sources={**base.sources, **citations(values), **rate_citations(throughput)},
        **numbers,
    )
