"""``component.toml`` as it is: numbers with their sources, by table."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@lru_cache(maxsize=1)
def component_table() -> Mapping[str, Any]:
    """Return the tables of ``component.toml``."""
    text = files("warpwatt.models.component").joinpath("component.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def tensor_weight(throughput_class: str) -> float:
    """Return the energy of an operation of a tensor instruction over that of one in FP16.

    >>> tensor_weight("tensor_tf32_fma") > tensor_weight("tensor_fp16_fma") > tensor_weight("tensor_fp8_fma")
    True
    """
    entry = component_table()["tensor_type"].get(throughput_class)
    return float(entry["value"]) if entry else 1.0


@lru_cache(maxsize=64)
def number(table: str, key: str) -> float:
    """Return one number of ``component.toml``.

    >>> 0 < number("model", "scalar_issue") < 1
    True
    """
    return float(component_table()[table][key]["value"])
