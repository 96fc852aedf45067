"""What compilers forget of kernel parameters: names from CUDA source text, types from mangled C++ names.

Users write ``--arg n=1024``, not ``--arg 3=1024``, but PTX has no parameter names; reading them from the
source is a best effort that macros may defeat. Machine code knows only the sizes of parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from warpwatt.core.program import Parameter, Program

_COMMENT_OR_STRING = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^\s()\\]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)
_TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|[<>(){}\[\],;=&*.:]|\S")
_OPENING, _CLOSING = "(<[{", ")>]}"
_ATTRIBUTES = {"__launch_bounds__", "__cluster_dims__", "__attribute__", "__maxnreg__", "__block_size__"}
_NOT_NAMES = {"const", "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__"}
_PTX_TYPES = {
    "char": "s8", "signed char": "s8", "unsigned char": "u8", "bool": "u8", "short": "s16",
    "unsigned short": "u16", "int": "s32", "unsigned int": "u32", "long": "s64", "unsigned long": "u64",
    "long long": "s64", "unsigned long long": "u64", "float": "f32", "double": "f64", "__half": "f16",
    "__nv_bfloat16": "bf16",
}  # fmt: skip


def blank_comments(text: str) -> str:
    r"""Replace comments and literals by spaces; line numbers and columns stay.

    >>> blank_comments('int a; // "x"\n')
    'int a;       \n'
    """
    return _COMMENT_OR_STRING.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def parameter_names(text: str) -> dict[str, tuple[str, ...]]:
    """Return the parameter names of every ``__global__`` function by the function's plain name.

    A definition wins over a declaration without body. Kernels whose names cannot be read are left out, and
    so are overloads that differ in them.

    >>> parameter_names("template <int N> __global__ void f(const float *x, int (*g)(int), S<N, 2> s) {}")
    {'f': ('x', 'g', 's')}
    """
    found: dict[str, set[tuple[str, ...]]] = {}
    declared: dict[str, set[tuple[str, ...]]] = {}
    for head in kernel_heads(blank_comments(text)):
        (found if head.is_definition else declared).setdefault(head.name, set()).add(head.parameter_names)
    candidates = {**declared, **found}
    unique = {name: next(iter(several)) for name, several in candidates.items() if len(several) == 1}
    return {name: names for name, names in unique.items() if all(names)}


class KernelHead(NamedTuple):
    """``__global__ [attributes] void [attributes] name ( parameters )``, as places in a text."""

    start: int
    """Of ``__global__``."""
    name: str
    opening: int
    """Of the parenthesis before the parameters."""
    closing: int
    parameter_names: tuple[str, ...]
    """Empty where a name cannot be read."""
    is_definition: bool
    """Whether a body follows."""


def kernel_heads(text: str) -> Iterator[KernelHead]:
    """Yield the heads of a source's kernels; comments are blank.

    >>> head, = kernel_heads("__global__ void __launch_bounds__(8 * (2)) f(int n, void (*g)(int));")
    >>> head.name, head.parameter_names, head.is_definition
    ('f', ('n', 'g'), False)
    """
    for start in re.finditer(r"\b__global__\b", text):
        # A declaration ends at its body or semicolon; 4000 characters bound a broken one.
        if head := _head(start.start(), list(_TOKEN.finditer(text, start.end(), start.end() + 4000))):
            yield head


def _head(start: int, tokens: list[re.Match[str]]) -> KernelHead | None:
    words = [token[0] for token in tokens]
    index = 0
    while index < len(words) - 1:
        word = words[index]
        if word in "{;}=":
            return None
        if words[index + 1] == "(" and re.match(r"[A-Za-z_]", word):
            end = _matching(words, index + 1)
            if end is None:
                return None
            if word not in _ATTRIBUTES:
                names = tuple(_parameter_name(p) for p in _parameters(words[index + 2 : end]))
                opening, closing = tokens[index + 1].start(), tokens[end].start()
                return KernelHead(start, word, opening, closing, names, words[end + 1 : end + 2] == ["{"])
            index = end
        index += 1
    return None


def _matching(tokens: list[str], start: int) -> int | None:
    """Index of the parenthesis that closes the one at ``start``."""
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index], 0)
        if depth == 0:
            return index
    return None


def _parameters(tokens: list[str]) -> list[list[str]]:
    """Split at commas outside brackets; ``(void)`` and ``()`` have no parameters."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in tokens:
        depth += (word in _OPENING) - (word in _CLOSING)
        if word == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return [] if parts in ([[]], [["void"]]) else parts


def _parameter_name(tokens: list[str]) -> str:
    """Return a parameter's name: the last identifier before an array bound or default, or in ``(*name)``."""
    for index, word in enumerate(tokens):
        if word == "(" and tokens[index + 1 : index + 2] in (["*"], ["&"]):
            return next((t for t in tokens[index + 2 :] if re.match(r"[A-Za-z_]", t)), "")
    words, depth = [], 0
    for word in tokens:
        if word in "=[" and depth == 0:
            break
        depth += (word in _OPENING) - (word in _CLOSING)
        if depth == 0 and word not in _NOT_NAMES:
            words.append(word)
    has_type = len(words) > 1 and words[-2] != "::"
    return words[-1] if has_type and re.fullmatch(r"[A-Za-z_]\w*", words[-1]) else ""


def with_signature_types(program: Program, demangled: str) -> Program:
    """Return a program whose parameters carry the types of the C++ signature, where sizes agree.

    An ``extern "C"`` kernel has no signature in its name; its parameters stay untyped (``b64``).
    """
    types = signature(demangled)
    if len(types) != len(program.parameters):
        return program
    pairs = zip(program.parameters, types, strict=True)
    return replace(program, parameters=tuple(_typed(parameter, kind) for parameter, kind in pairs))


def signature(demangled: str) -> tuple[str, ...]:
    """Return the parameter types of a demangled function name.

    >>> signature("void saxpy<float, 2>(int, std::pair<int, int>, float const*)")
    ('int', 'std::pair<int, int>', 'float const*')
    >>> signature("saxpy")
    ()
    """
    if not demangled.endswith(")"):
        return ()
    parts, depth, end = [], 0, len(demangled) - 1
    for at in range(end - 1, -1, -1):
        char = demangled[at]
        depth += (char in ")>]}") - (char in "(<[{")
        if depth < 0 or (char == "," and depth == 0):
            parts.append(demangled[at + 1 : end].strip())
            end = at
        if depth < 0:
            break
    return tuple(part for part in reversed(parts) if part)


def _typed(parameter: Parameter, kind: str) -> Parameter:
    """Return a parameter with its PTX type; a size that does not fit the type leaves it as it is."""
    if kind.endswith(("*", "* __restrict")) and parameter.size == 8:
        return replace(parameter, type="u64", pointer=True)
    found = _PTX_TYPES.get(kind, "")
    fits = found and int(found.lstrip("bsuf")) == 8 * parameter.size
    return replace(parameter, type=found) if fits else parameter
