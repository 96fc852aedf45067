"""Docstrings to Markdown: doctests become code, roles and literal blocks of reStructuredText too."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

_ROLE = re.compile(r":(?:func|class|mod|attr|data|meth|exc):`~?\.*([^`]+)`")
_LITERAL = re.compile(r"\n::[ ]*\n|::[ ]*\n(?=\n[ ]{4})")
_SECTION = re.compile(r"\w+\n-{3,}$", re.MULTILINE)


class Markdown(griffe.Extension):
    """Rewrites every docstring as it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    r"""Return a docstring as Markdown; text behind its sections comes before them, where a parser expects it.

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
    sections: list[str] = []
    doctests: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.split("\n")
        if _SECTION.match(block) or (sections and any(line.startswith(" ") for line in lines)):
            sections.append(block)
            continue
        start = next((i for i, line in enumerate(lines) if line.lstrip().startswith(">>>")), None)
        if start is None:
            kept.append(block)
            continue
        kept += ["\n".join(lines[:start])] * bool(start)
        doctests.append(textwrap.dedent("\n".join(lines[start:])))
    code = "\n\n".join(doctests)
    if code and sections:  # after a section such as Raises, a doctest needs a section of its own
        sections.append(f"Examples\n--------\n{code}")
    elif code:
        kept.append(f"```pycon\n{code}\n```")
    return "\n\n".join([*kept, *sections])
