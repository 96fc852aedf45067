"""A maker of one-kernel programs in a temporary folder."""

from __future__ import annotations

import pytest

from tests.corpus.on_cpu import compiler
from warpwatt.lab.measure.corpus import load_program

MANIFEST = """
summary = "A test"
family = "test"
split = "test"
dwarf = "map reduce"
bound = "memory"
{extra}
[[size]]
name = "tiny"
args = {{ {args} }}
[[size.launch]]
kernel = "k"
grid = {grid}
block = {block}
shared = {shared}
"""


@pytest.fixture
def make_program(tmp_path):
    """Return a function from source text, arguments and launch to a loaded program."""
    if compiler() is None:
        pytest.skip("g++ is missing: the corpus cannot be run on the CPU")

    def make(source, args, *, grid="[1]", block="[64]", shared=0, reference="return {}", extra=""):
        path = tmp_path / "k.toml"
        path.write_text(
            MANIFEST.format(args=args, grid=grid, block=block, shared=shared, extra=extra), encoding="utf-8"
        )
        path.with_suffix(".cu").write_text(source, encoding="utf-8")
        text = f'"""Test."""\nimport numpy as np\n\n\ndef reference(a):\n    {reference}\n'
        path.with_suffix(".py").write_text(text, encoding="utf-8")
        return load_program(path)

    return make
