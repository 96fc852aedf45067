r"""The text of a document: kernels, ``// warpwatt:`` lines, and what compilers would see of it.

Nothing here parses C++; macros may hide a kernel, which then has no lens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from warpwatt.core.errors import InputError
from warpwatt.frontend.signatures import blank_comments
from warpwatt.request.directives import MARK, read_directives
from warpwatt.server.lsp.facts import PlacedLaunch, Problem

_GLOBAL = re.compile(r"\b__global__\b")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\(")
_ATTRIBUTES = re.compile(r"__\w+__$|^alignas$|^requires$|^noexcept$|^__maxnreg__$|^__launch_bounds__$")
_TEMPLATE = re.compile(r"\btemplate\s*<[^;{}]*>\s*(?:(?:static|inline|extern\s*\"C\"|\w+)\s*)*$")
_SEARCH = 4000
"""Characters after ``__global__`` in which the kernel's name is looked for."""
_COMMENT_OR_STRING = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^\s()\\]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)
_IGNORE = re.compile(r"warpwatt-ignore(?::\s*(?P<codes>[\w, -]+))?")


@dataclass(frozen=True, slots=True)
class KernelPlace:
    """A ``__global__`` function; lines from 1, columns in code points from 0.

    ``first`` is the line its declaration starts in, ``last`` that of its closing brace, ``line`` and
    ``column`` where its name stands. ``parameters`` are the declarations as written, without comments.
    """

    name: str
    first: int
    last: int
    line: int
    column: int
    parameters: tuple[str, ...]
    template: bool


def plain_lines(text: str) -> str:
    r"""Return the text with every line end of the protocol (``\r\n``, ``\r``) as ``\n``.

    Lone surrogates, which some editors send, become question marks.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()


def without_comments(text: str) -> str:
    r"""Return the text without comments and blanks at the ends of lines; lines stay where they are.

    An edit of a comment then leaves what is compiled as it is. A comment that ends in a backslash stays.

    >>> without_comments('x = 1; // one\ns = "//"; /* a\nb */ y;')
    'x = 1;\ns = "//";\n     y;'
    """

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        if found[0] != "/" or found.endswith("\\"):
            return found
        return re.sub(r"[^\n]", " ", found)

    lines = (_stripped(line) for line in _COMMENT_OR_STRING.sub(blank, text).split("\n"))
    return "\n".join(lines)


def _stripped(line: str) -> str:
    """Return a line without blanks at its end, unless that would make it continue on the next line."""
    short = line.rstrip(" \t\f\v")
    return line if short.endswith("\\") else short


@lru_cache(maxsize=16)
def kernels(text: str) -> tuple[KernelPlace, ...]:
    r"""Return the kernels that a text defines, in order.

    >>> text = "template <int N>\n__global__ void __launch_bounds__(256)\nf(int n, float *x) {\n}\n"
    >>> found, = kernels(text)
    >>> found.name, found.first, found.line, found.column, found.last, found.parameters, found.template
    ('f', 1, 3, 0, 4, ('int n', 'float *x'), True)
    """
    code = blank_comments(text)
    starts = [match.start() for match in _GLOBAL.finditer(code)]
    spans = zip(starts, [*starts[1:], len(code)], strict=False)  # one end too many where there is none
    return tuple(place for start, end in spans if (place := _kernel(code, start, end)))


def _kernel(code: str, start: int, end: int) -> KernelPlace | None:
    """Read the kernel whose ``__global__`` stands at ``start``; its head ends before ``end``."""
    position = start + len("__global__")
    end = min(end, start + _SEARCH)
    while match := _NAME.search(code, position, end):
        if set(code[position : match.start()]) & set("{;}"):
            return None
        close = _closing(code, match.end() - 1, end)
        if close is None:
            return None
        if _ATTRIBUTES.search(match[1]):
            position = close + 1
            continue
        rest = re.compile(r"[^{;]*").match(code, close + 1)
        opening = rest.end() if rest else close
        if code[opening : opening + 1] != "{":
            return None  # a declaration
        return _place(code, start, match, close, opening)
    return None


def _place(code: str, start: int, name: re.Match[str], close: int, opening: int) -> KernelPlace:
    head = _TEMPLATE.search(code, max(0, start - _SEARCH), start)
    first = head.start() if head else start
    last = _closing(code, opening, len(code), "{", "}")
    column = name.start() - (code.rfind("\n", 0, name.start()) + 1)
    return KernelPlace(
        name[1],
        _line(code, first),
        _line(code, len(code) if last is None else last),
        _line(code, name.start()),
        column,
        _parameters(code[name.end() : close]),
        head is not None,
    )


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _closing(code: str, start: int, end: int, opens: str = "(", closes: str = ")") -> int | None:
    """Return the position of the bracket that closes the one at ``start``."""
    depth = 0
    for match in re.compile(f"[{re.escape(opens + closes)}]").finditer(code, start, end):
        depth += 1 if match[0] == opens else -1
        if depth == 0:
            return match.start()
    return None


def _parameters(text: str) -> tuple[str, ...]:
    """Split a parameter list at the commas outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "(<[{") - (character in ")>]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    words = tuple(" ".join(part.split()) for part in parts)
    return () if words in (("",), ("void",)) else words


def annotated_launches(text: str) -> tuple[tuple[PlacedLaunch, ...], tuple[Problem, ...]]:
    r"""Return the launches in ``// warpwatt:`` lines, and what is wrong with lines that cannot be read.

    >>> launches, problems = annotated_launches("// warpwatt: --grid 8 --block 64\n// warpwatt: --gird 8")
    >>> launches[0].line, problems[0].line, problems[0].text
    (1, 2, "cannot read the launch: no option '--gird'")
    """
    found: list[PlacedLaunch] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if MARK not in line:
            continue
        try:
            launches = read_directives(line.replace("\f", " "), "")
        except InputError as error:
            problems.append(Problem("launch", error.message, number, hint=error.hint))
            continue
        found += [PlacedLaunch.at(one, line=number) for one in launches]
    return tuple(found), tuple(problems)


def ignored(line: str) -> frozenset[str] | None:
    """Return the codes that a ``// warpwatt-ignore: CODE, CODE`` comment names, None where there is none.

    An empty set means all.

    >>> sorted(ignored("x = y; // warpwatt-ignore: spills, divergence")), ignored("x = y;")
    (['divergence', 'spills'], None)
    """
    found = _IGNORE.search(line)
    if found is None:
        return None
    return frozenset(re.split(r"[,\s]+", found["codes"].strip())) if found["codes"] else frozenset()
