"""Pick one kernel by any unambiguous part of its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, TypeVar

from warpwatt.core.errors import KernelSelectionError

SHOWN_CANDIDATES = 20
"""Kernels listed where a name is ambiguous."""


class Named(Protocol):
    """Anything with a linker's and a human name, such as a ``Kernel``."""

    @property
    def name(self) -> str:
        """The linker's name."""
        ...

    @property
    def demangled(self) -> str:
        """The human name."""
        ...


N = TypeVar("N", bound=Named)


def select(kernels: Sequence[N], name: str = "") -> N:
    """Return the kernel that ``name`` means; without a name, the only one.

    The first of these that fits exactly one kernel wins: the whole mangled or demangled name, the plain
    function name, a part of either name, a template's name with its first arguments.

    Raises
    ------
    KernelSelectionError
        If none or several fit; ``details`` lists the candidates.
    """
    if not name and len(kernels) == 1:
        return kernels[0]
    for fits in (_whole, _plain, _part, _defaulted) if name else ():
        found = [kernel for kernel in kernels if fits(kernel, name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise _ambiguous(f"{len(found)} kernels match {name!r}", found)
    if not kernels:
        raise KernelSelectionError(
            "there is no kernel", hint="the input needs a __global__ function that is compiled"
        )
    if name:
        raise _ambiguous(f"no kernel matches {name!r}", kernels)
    raise _ambiguous(f"there are {len(kernels)} kernels", kernels)


def plain_name(demangled: str) -> str:
    """Return a function's name without its namespace, template arguments, result and parameters.

    >>> plain_name("void ns::axpy<float, (int)4>(int, float const*)")
    'axpy'
    """
    depth = 0
    kept: list[str] = []
    for character in demangled.replace("(anonymous namespace)", ""):
        depth -= character in ">)"
        if character == "(" and depth == 0 and kept:
            break
        if depth == 0 and character not in "<>()":
            kept.append(character)
        depth += character in "<("
    return "".join(kept).strip().split(" ")[-1].split("::")[-1]


def without_parameters(demangled: str) -> str:
    """Return a function's name without its result and parameters.

    >>> without_parameters("void (anonymous namespace)::axpy<f(int)::{lambda(float)#1}>(int, float const*)")
    '(anonymous namespace)::axpy<f(int)::{lambda(float)#1}>'
    """
    name, depth = demangled.replace(_ANONYMOUS, _ANONYMOUS_WORD), 0
    end, start = len(name), 0
    for place, character in enumerate(name):
        if depth == 0 and character == "(":
            end = place
            break
        if depth == 0 and character == " ":
            start = place + 1
        depth += (character in "<({") - (character in ">)}")
    return name[start:end].replace(_ANONYMOUS_WORD, _ANONYMOUS)


_FUNCTOR = re.compile(r"\b\w*(?:Functor|[Kk]ernelImpl|_functor|Ops?|_kernel_cuda)\b(?=[<(,>])")
_ANONYMOUS, _ANONYMOUS_WORD = "(anonymous namespace)", "anonymous-namespace"


def short_name(demangled: str, width: int) -> str:
    """Return a function's name without parameters, and if that is wider, without namespaces and arguments.

    Of the arguments there remains the last that is called a functor or an implementation, as in PyTorch.

    >>> short_name("void cub::detail::reduce<cub::policy<float>, int>(float*)", 20)
    'reduce<…>'
    >>> short_name("void vectorized<4, at::native::MulFunctor<float>, std::array<char*, 3ul> >(int)", 40)
    'vectorized<…MulFunctor…>'
    """
    name = without_parameters(demangled).replace(f"{_ANONYMOUS}::", "")
    if len(name) <= width:
        return name
    plain = plain_name(demangled)
    functors = _FUNCTOR.findall(name)
    inside = f"…{functors[-1]}…" if functors else "…"
    return f"{plain}<{inside}>" if name.endswith(">") else plain


def _whole(kernel: Named, name: str) -> bool:
    return name in (kernel.name, kernel.demangled)


def _plain(kernel: Named, name: str) -> bool:
    return name == plain_name(kernel.demangled)


def _part(kernel: Named, name: str) -> bool:
    squeezed = _squeezed(name)
    return squeezed in kernel.name or squeezed in _squeezed(kernel.demangled)


def _defaulted(kernel: Named, name: str) -> bool:
    """Whether the template's further arguments have their defaults: ``f<4>`` is ``f<4u, float>``."""
    return name.endswith(">") and f"{_squeezed(name)[:-1]}," in _squeezed(kernel.demangled)


def _squeezed(name: str) -> str:
    """Return a name without spaces, types written at numbers, and underscores before CUDA's types.

    >>> _squeezed("f<4u, (bool)1, __half>(long)")
    'f<4,1,half>(long)'
    >>> _squeezed("f<&(float ns::g<float>(float const&))>(int)")
    'f<ns::g<float>>(int)'
    """
    return _CUDA_TYPE.sub("", _NUMBER_TYPE.sub("", _FUNCTION.sub(r"\1", name))).replace(" ", "")


_NUMBER_TYPE = re.compile(r"(?<=\d)[uUlL]+\b|(?<=[<, ])\([\w ]+\)(?=-?\d)")
_FUNCTION = re.compile(r"&\((?:[^()]*? )?([\w:]+(?:<[^()]*>)?)\([^()]*\)\)")
"""A function as a template's argument, with result and parameters."""
_CUDA_TYPE = re.compile(r"\b__(?=(half|nv_bfloat16)2?\b)")
"""``half`` is a name of ``__half``, ``nv_bfloat16`` of ``__nv_bfloat16`` (cuda_fp16.h, cuda_bf16.h)."""


def _ambiguous(message: str, kernels: Sequence[Named]) -> KernelSelectionError:
    names = [f"  {kernel.demangled or kernel.name}" for kernel in kernels[:SHOWN_CANDIDATES]]
    if len(kernels) > SHOWN_CANDIDATES:
        names.append(f"  ... and {len(kernels) - SHOWN_CANDIDATES} more")
    return KernelSelectionError(
        message, hint="name one with --kernel NAME (any part that fits only one)", details="\n".join(names)
    )
