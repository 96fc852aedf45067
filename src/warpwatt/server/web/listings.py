"""What can be chosen: GPUs, models, examples."""

from __future__ import annotations

import re
from typing import Any

from warpwatt.storage import shipped


def gpus() -> dict[str, Any]:
    """Return every GPU with what people choose by."""
    from warpwatt.gpus.describe import rows

    return {
        "gpus": [
            {
                "name": row.name,
                "aliases": list(row.aliases),
                "architecture": row.arch,
                "capability": row.capability,
                "sm_count": row.sm_count,
                "boost_clock": row.boost_clock,
                "memory_size": row.memory_size,
                "memory_type": row.memory_type,
                "memory_bandwidth": row.memory_bandwidth,
                "power_limit": row.power_limit,
                "missing": list(row.missing),
            }
            for row in rows()
        ]
    }


def models() -> dict[str, Any]:
    """Return every time and power model."""
    from warpwatt.models import registry

    kinds = (
        ("time", registry.time_models(), registry.time_model, registry.DEFAULT_TIME),
        ("power", registry.power_models(), registry.power_model, registry.DEFAULT_POWER),
    )
    return {
        "models": [
            {"kind": kind, "name": name, "summary": make(name).summary, "default": name == default}
            for kind, names, make, default in kinds
            for name in names
        ]
    }


def examples() -> dict[str, Any]:
    """Return the kernels to start from; a title is the first comment's first clause.

    >>> examples()["examples"][0]["name"]
    'saxpy.cu'
    """
    texts = {name: file.read_text(encoding="utf-8") for name, file in shipped.kernels().items()}
    return {
        "examples": [{"name": name, "title": _title(text), "source": text} for name, text in texts.items()]
    }


def _title(text: str) -> str:
    r"""Return the first comment's first clause.

    >>> _title("// Sum of an array: in steps.\n")
    'Sum of an array'
    """
    return re.split(r"[:.,](?:\s|$)", shipped.summary(text))[0]
