"""The examples that ship with the package: kernels with their launches, and files of the other verbs."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_FIRST = ("saxpy.cu", "matmul.cu", "transpose.cu", "reduce.cu", "stencil.cu")
"""Kernels, the easiest first; other files follow by name."""


def examples() -> dict[str, Traversable]:
    """Return the shipped files by name.

    >>> list(examples())[:2]
    ['saxpy.cu', 'matmul.cu']
    """
    folder = resources.files("warpwatt").joinpath("examples")
    files = {file.name: file for file in folder.iterdir() if file.is_file()}
    return {name: files[name] for name in (*_FIRST, *sorted(files.keys() - set(_FIRST)))}


def kernels() -> dict[str, Traversable]:
    """Return the shipped CUDA sources by name."""
    return {name: file for name, file in examples().items() if name.endswith(".cu")}


def summary(text: str) -> str:
    r"""Return a file's first comment; of a notebook, its first heading.

    >>> summary("// Sum of an array: in steps.\n")
    'Sum of an array: in steps.'
    >>> summary('{"cells": [{"source": ["# In a notebook\\n"]}]}')
    'In a notebook'
    """
    heading = re.search(r'"# ([^"\\]+)', text) if text.startswith("{") else None
    return heading[1] if heading else text.partition("\n")[0].lstrip("/# ").strip()
