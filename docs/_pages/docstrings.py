"""Docstrings to Markdown: doctests become code, roles and literal blocks of reStructuredText too."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:func|class|mod|attr|data|meth|exc):`~?\.*([^`]+)`")
_LITERAL = re.compile(r"::[ ]*\n(?=\n[ ]{4})")


class Markdown(griffe.Extension):
    """Rewrites every docstring as it is loaded."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)

    on_object = on_instance


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
    text = _LITERAL.sub(":\n", text).removesuffix("::")
    parts: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.split("\n")
        start = next((i for i, line in enumerate(lines) if line.lstrip().startswith(">>>")), None)
        if start is None or "```" in block:
            parts.append(block)
            continue
        indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
        code = "\n".join(lines[start:])
        parts += ["\n".join(lines[:start])] * bool(start)
        parts.append(f"{indent}```pycon\n{code}\n{indent}```")
    return "\n\n".join(parts)
