"""Kernels as a source's text has them: for messages that come before anything is compiled, or instead."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warpwatt.core.errors import CompileError
from warpwatt.frontend.hostcode import launched_templates
from warpwatt.frontend.signatures import KernelHead, blank_comments, kernel_heads

SHOWN = 12
"""Kernels listed in a message."""
_TEMPLATE = re.compile(r"\btemplate\s*<([^;{}]*)>\s*(?:(?:static|inline|extern)\s+)*$")
_WHOLE = re.compile(
    r"^(?:const\s+)?(?:(?:un)?signed|int|long|short|size_t|u?int\d+_t|uint)(?:\s+(?:int|long|const))*"
    r"\s*(?:const\s+)?(?:&\s*)?(\w+)$"
)
_BOUNDS = re.compile(r"__launch_bounds__\s*\(\s*(\d+)")
_BRACE = re.compile(r"\bnamespace\s+(?P<name>[\w:]+)\s*\{|[{}]")
_KNOWN_TYPES = {
    "bool", "char", "signed", "unsigned", "short", "int", "long", "float", "double", "half", "__half",
    "__nv_bfloat16", "true", "false",
}  # fmt: skip
_BODY = 20_000
"""Characters of a kernel that are looked at."""


@dataclass(frozen=True, slots=True)
class WrittenKernel:
    """A kernel's definition: its name, parameters as they are written, and what a launch would need."""

    name: str
    template: str
    parameters: str
    sizes: tuple[str, ...]
    """Parameters that are whole numbers."""
    dimensions: int
    """Of a block, by the indices that the body uses."""
    threads: int | None
    """Of its ``__launch_bounds__``, where that is a number."""
    namespace: str = ""
    """With ``::`` behind every name."""

    def __str__(self) -> str:
        """Return the definition's head.

        >>> print(*written_kernels("template <int N> __global__ void f(const float *x, int n) { x[0]; }"))
        template <int N> f(const float *x, int n)
        """
        head = f"template <{self.template}> " if self.template else ""
        return f"{head}{self.name}({self.parameters})"


def written_kernels(text: str) -> tuple[WrittenKernel, ...]:
    """Return the kernels that a source defines, in order; those that macros hide are left out.

    >>> one, = written_kernels("__global__ void __launch_bounds__(64) f(int n, float *x) { x[threadIdx.y]; }")
    >>> one.name, one.sizes, one.dimensions, one.threads
    ('f', ('n',), 2, 64)
    """
    plain = blank_comments(text)
    found = [_read(plain, head) for head in kernel_heads(plain) if head.is_definition]
    return tuple({kernel.name: kernel for kernel in found}.values())


def _read(text: str, head: KernelHead) -> WrittenKernel:
    parameters = " ".join(text[head.opening + 1 : head.closing].split())
    whole = (_WHOLE.match(part.strip()) for part in parameters.split(","))
    following = text.find("__global__", head.closing)
    body = text[head.closing : min(following if following > 0 else len(text), head.closing + _BODY)]
    template = _TEMPLATE.search(text, max(0, head.start - _BODY), head.start)
    bounds = _BOUNDS.search(text, head.start, head.opening)
    used = [number for number, axis in enumerate("xyz", 1) if re.search(rf"threadIdx\.{axis}", body)]
    return WrittenKernel(
        name=head.name,
        template=" ".join(template[1].split()) if template else "",
        parameters=parameters,
        sizes=tuple(found[1] for found in whole if found),
        dimensions=max(used, default=1),
        threads=int(bounds[1]) if bounds else None,
        namespace=_namespace(text[: head.start]),
    )


def _namespace(before: str) -> str:
    """Return the namespaces that are open behind a text, unnamed ones left out.

    >>> _namespace("namespace a { namespace b::c { void f() { } namespace { struct S {};")
    'a::b::c::'
    """
    depth: list[str] = []
    for found in _BRACE.finditer(before):
        if found[0] == "}":
            depth[-1:] = []
        else:
            depth.append(found["name"] or "")
    return "".join(f"{name}::" for name in depth if name)


def qualified(name: str, text: str) -> str:
    """Return an instance of a template with the namespace in which the source has it.

    >>> qualified("f<3>", "namespace ns { template <int N> __global__ void f() { } }")
    'ns::f<3>'
    """
    plain = name.partition("<")[0].strip()
    spaces = {kernel.namespace for kernel in written_kernels(text) if kernel.name == plain}
    return spaces.pop() + name if len(spaces) == 1 else name


def listed(kernels: tuple[WrittenKernel, ...]) -> str:
    """Return kernels line by line, the first of many."""
    lines = [f"  {kernel}" for kernel in kernels[:SHOWN]]
    if len(kernels) > SHOWN:
        lines.append(f"  ... and {len(kernels) - SHOWN} more")
    return "\n".join(lines)


def instance_of(kernel: WrittenKernel, text: str) -> str:
    """Return how to name a kernel: a template as host code launches it, else with what fits its parameters.

    >>> text = "template <typename T, int M, int N = 4> __global__ void f(T *x) { }"
    >>> instance_of(written_kernels(text)[0], text)
    "'f<float,M,4>'"
    """
    if not kernel.template:
        return kernel.name
    for launched in launched_templates(text):
        name, _, arguments = launched.partition("<")
        known = set(re.findall(r"[A-Za-z_]\w*", arguments)) <= _KNOWN_TYPES
        if name.rpartition("::")[2].strip() == kernel.name and known:
            return f"'{launched}'"
    return f"'{kernel.name}<{','.join(map(_argument, kernel.template.split(',')))}>'"


def _argument(parameter: str) -> str:
    """Return an argument for a template's parameter: its default, a usual type, or its name to replace."""
    declared, _, default = parameter.partition("=")
    words = declared.split()
    if default:
        return default.strip()
    return "float" if words and words[0] in ("typename", "class") else words[-1] if words else ""


def no_instance(error: CompileError, text: str, names: tuple[str, ...]) -> CompileError:
    """Return the error of an instance of a template that a user names and the source cannot make."""
    plain = {name.partition("<")[0].rpartition("::")[2].strip() for name in names}
    kernels = written_kernels(text)
    meant = tuple(kernel for kernel in kernels if kernel.name in plain)
    fix = "name a kernel of the source"
    if meant:
        fix = (
            f"name every argument of the template that has no default: --kernel {instance_of(meant[0], text)}"
        )
    return CompileError(
        f"--kernel {' '.join(names)}: {error.message}", hint=fix, details=listed(meant or kernels)
    )
