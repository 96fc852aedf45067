"""Docstrings to Markdown: doctests become code, roles and literal blocks of reStructuredText too."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

_ROLE = re.compile(r":(?:func|class|mod|attr|data|meth|exc):`~?\.*([^`]+)`")
_LITERAL = re.compile(r"\n::[ ]*\n|::[ ]*\n(?=\n[ ]{4})")
_SECTION = re.compile(r"^\w+\n-{3,}$", re.MULTILINE)


class Markdown(griffe.Extension):
    """Rewrites every docstring as it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    r"""Return a docstring as Markdown.

    >>> print(markdown("See :func:`~a.b`::\n\n    x\n\n>>> 1 + 1\n2"))
    See `b`:
    <BLANKLINE>
        x
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    text = _ROLE.sub(lambda found: f"`{found[1].rpartition('.')[2]}`", text)
    text = _LITERAL.sub(lambda found: "\n" if found[0].startswith("\n") else ":\n", text)
    kept: list[str] = []
    doctests: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.split("\n")
        start = next((i for i, line in enumerate(lines) if line.lstrip().startswith(">>>")), None)
        if start is None:
            kept.append(block)
            continue
        kept += ["\n".join(lines[:start])] * bool(start)
        doctests.append(textwrap.dedent("\n".join(lines[start:])))
    if not doctests:
        return "\n\n".join(kept)
    code = "\n\n".join(doctests)
    # after a section such as Raises, a doctest needs a section of its own
    shown = f"Examples\n--------\n{code}" if _SECTION.search(text) else f"```pycon\n{code}\n```"
    return "\n\n".join([*kept, shown])
