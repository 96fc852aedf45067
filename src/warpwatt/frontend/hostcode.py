"""Make a whole ``.cu`` file fit for NVRTC, which has no host headers and no host code.

Functions without a device annotation are blanked (lines stay where they are), host headers are replaced
by empty ones, and template kernels that host code launches become name expressions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from warpwatt.frontend.signatures import blank_comments

_DEVICE = ("__global__", "__device__", "__constant__", "__shared__", "__managed__")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_TRANSPARENT = re.compile(r"^\s*(?:inline\s+)?(?:namespace(?:\s+[\w:]+)?|extern)\s*$")
_LAUNCH = re.compile(r"\b([A-Za-z_][\w:]*\s*<[^;{}]*?>)\s*<<<")
_TYPE = re.compile(
    r"^\s*(?:template\s*<.*>\s*)?(?:typedef\b|using\b|struct\b|class\b|union\b|enum\b)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration at namespace scope, characters ``start`` to ``end``; ``body``: it defines a function."""

    start: int
    end: int
    text: str
    body: bool

    def on_device(self, annotations: frozenset[str]) -> bool:
        """Whether it may matter to device code."""
        return not annotations.isdisjoint(re.findall(r"\w+", self.text))


def without_host_functions(text: str, known: frozenset[str] = frozenset()) -> str:
    r"""Blank every function at namespace scope that has no device annotation and is not ``constexpr``.

    ``known``: annotations that other files define.

    >>> without_host_functions("__global__ void f() {}\nint main() {\n f<<<1, 1>>>(); }\n").split("\n")
    ['__global__ void f() {}', '            ', '                  ', '']
    """
    annotations = device_words(text) | known | {"constexpr"}
    hosts = [d for d in declarations(text) if d.body and not d.on_device(annotations)]
    return _blank(text, hosts)


def without_lines(text: str, lines: set[int], known: frozenset[str] = frozenset()) -> str:
    """Blank the host declarations that cover any of these lines (from 1); device code stays."""
    annotations, hosts = device_words(text) | known, []
    for declaration in declarations(text):
        first = text.count("\n", 0, declaration.start) + 1
        last = text.count("\n", 0, declaration.end) + 1
        covered = any(first <= line <= last for line in lines)
        if covered and not declaration.on_device(annotations):
            hosts.append(declaration)
    return _blank(text, hosts)


def launched_templates(text: str) -> tuple[str, ...]:
    """Return the template instances that host code launches.

    >>> launched_templates("axpy<float, 4><<<g, b>>>(n, x); red<<<1, 2>>>(x);")
    ('axpy<float, 4>',)
    """
    found = (re.sub(r"\s+", " ", match[1]) for match in _LAUNCH.finditer(blank_comments(text)))
    return tuple(dict.fromkeys(found))


def device_words(text: str) -> frozenset[str]:
    """Return the annotations of device code, macros that stand for them included."""
    words = set(_DEVICE)
    for _ in range(2):  # a macro of a macro
        words |= {m[1] for m in _DEFINE.finditer(text) if words & set(re.findall(r"\w+", m[2]))}
    return frozenset(words)


def declarations(text: str) -> list[Declaration]:
    """Split a translation unit into its declarations at namespace scope."""
    code = _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), blank_comments(text))
    found: list[Declaration] = []
    start, depth, function = 0, 0, False
    for match in re.finditer(r"[{};]", code):
        position, mark = match.start(), match[0]
        head = code[start:position]
        if depth == 0 and mark == "{" and _TRANSPARENT.match(head):
            start = position + 1
        elif mark == "{":
            function = function if depth else _defines_function(head)
            depth += 1
        elif mark == "}" and depth == 0:
            start = position + 1  # the end of a namespace
        else:
            depth -= mark == "}"
            if depth == 0 and (mark == ";" or function):
                whole = code[start : position + 1]
                first = start + len(whole) - len(whole.lstrip())
                found.append(Declaration(first, position + 1, code[first : position + 1], function))
                start, function = position + 1, False
    return found


def _defines_function(head: str) -> bool:
    return ")" in head and not _TYPE.match(head) and not re.search(r"(?<![=!<>])=(?!=)", _outside(head))


def _outside(head: str) -> str:
    """Return the text outside parentheses and template brackets, where ``=`` means an initialiser."""
    previous = ""
    while previous != head:
        previous, head = head, re.sub(r"\([^()]*\)|<[^<>]*>", "", head)
    return re.sub(r"\boperator\b.*", "", head)


def _blank(text: str, parts: list[Declaration]) -> str:
    for part in reversed(parts):
        blanked = _keep_directives(text[part.start : part.end])
        text = text[: part.start] + blanked + text[part.end :]
    return text


def _keep_directives(text: str) -> str:
    """Replace all but preprocessor lines by spaces: an ``#endif`` inside must survive."""
    kept = [(match.start(), match.end()) for match in _DIRECTIVE.finditer(text)]
    result, end = [], 0
    for first, last in kept:
        result += [re.sub(r"[^\n]", " ", text[end:first]), text[first:last]]
        end = last
    return "".join([*result, re.sub(r"[^\n]", " ", text[end:])])
