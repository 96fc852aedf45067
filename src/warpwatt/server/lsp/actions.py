"""Code actions: a launch for a kernel that has none, names put right, a diagnostic silenced."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from warpwatt.server.lsp.diagnostics import EXPLANATIONS, SOURCE
from warpwatt.server.lsp.document import bare
from warpwatt.server.lsp.source import ignored

if TYPE_CHECKING:
    from warpwatt.server.lsp.document import Document
    from warpwatt.server.lsp.source import KernelPlace

SILENCED = frozenset(
    {"uncoalesced-access", "bank-conflicts", "divergence", "spills", "low-occupancy", "idle-sms"}
)
ELEMENTS = 1 << 20
"""Elements of the launch that is proposed."""
THREADS = 256
_WRONG_NAME = re.compile(r"(?:no kernel matches|has no argument) '([^']+)'")
_BUFFER = re.compile(r"^(?:const |volatile )*(?P<type>[\w ]+?)(?: const)? ?[*&]+.*?(?P<name>\w+)(?:\[\])?$")
_SCALAR = re.compile(r"^(?:const )?(?P<type>[\w ]+?) (?P<name>\w+)$")
_TYPES = {
    "float": "f32", "double": "f64", "half": "f16", "__half": "f16", "__nv_bfloat16": "bf16",
    "int": "i32", "unsigned": "u32", "unsigned int": "u32", "int32_t": "i32", "uint32_t": "u32",
    "char": "i8", "signed char": "i8", "unsigned char": "u8", "int8_t": "i8", "uint8_t": "u8",
    "short": "i16", "unsigned short": "u16", "int16_t": "i16", "uint16_t": "u16",
    "long": "i64", "long long": "i64", "unsigned long": "u64", "unsigned long long": "u64",
    "int64_t": "i64", "uint64_t": "u64", "size_t": "u64",
}  # fmt: skip
"""C++ type to the element type of an argument."""
_COUNTS = ("n", "N", "size", "count", "len", "length", "num", "total")


def actions(
    document: Document, where: types.Range, found: Iterable[types.Diagnostic]
) -> list[types.CodeAction]:
    """Return what can be done at a range, about these of its diagnostics."""
    result = [
        action
        for diagnostic in found
        if diagnostic.source == SOURCE
        for action in _for_diagnostic(document, diagnostic)
    ]
    for place in document.places:
        if place.first <= where.start.line + 1 <= place.last and not launched(document, place):
            edit = insertion(document, place)
            title = f"Add a launch of {place.name} for WarpWatt"
            result.append(types.CodeAction(title, kind=types.CodeActionKind.RefactorRewrite, edit=edit))
    return result


def launched(document: Document, place: KernelPlace) -> bool:
    """Whether a launch of this kernel is known."""
    return any(bare(words.kernel) in ("", place.name) for words in document.launches())


def _for_diagnostic(document: Document, diagnostic: types.Diagnostic) -> Iterator[types.CodeAction]:
    code, line = str(diagnostic.code), diagnostic.range.start.line + 1
    if code in SILENCED and not document.text.line(line).rstrip().endswith("\\"):
        yield types.CodeAction(
            f"Ignore {code} here ({EXPLANATIONS[code].rstrip('.')})",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            edit=_edit(document, _silencing(document, line, code)),
        )
    wrong = _WRONG_NAME.search(diagnostic.message)
    if code == "launch" and wrong:
        yield from _renamings(document, diagnostic, wrong[1], line)


def _silencing(document: Document, line: int, code: str) -> types.TextEdit:
    """Return the edit that silences a code in a line, in a comment that may be there already."""
    content = document.text.line(line)
    known = ignored(content)
    if known:
        end = max(content.rfind(name) + len(name) for name in known)
        where = document.text.range(line, end, end)
        return types.TextEdit(where, f", {code}")
    at = len(content.rstrip())
    return types.TextEdit(document.text.range(line, at, len(content)), f"  // warpwatt-ignore: {code}")


def _renamings(
    document: Document, diagnostic: types.Diagnostic, wrong: str, line: int
) -> Iterator[types.CodeAction]:
    """Yield the nearest names that exist in place of a wrong one."""
    names = [place.name for place in document.places]
    if "has no argument" in diagnostic.message:
        said = re.search(r"its arguments are: (.*)", diagnostic.message)
        names = re.findall(r"(\w+) \(", said[1]) if said else []
    for name in difflib.get_close_matches(wrong, names, 3, 0.3) or names[:3]:
        edit = types.TextEdit(document.text.word(line, wrong), name)
        yield types.CodeAction(
            f"Write {name} instead of {wrong}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            edit=_edit(document, edit),
        )


def insertion(document: Document, place: KernelPlace) -> types.WorkspaceEdit:
    """Return the edit that puts a proposed launch above a kernel."""
    start = document.text.start(place.first)
    content = document.text.line(place.first)
    indent = content[: len(content) - len(content.lstrip())]
    return _edit(document, types.TextEdit(types.Range(start, start), f"{indent}{proposal(place)}\n"))


def proposal(place: KernelPlace) -> str:
    """Return a launch over a million elements as a comment: the one thing that may need a change.

    >>> from warpwatt.server.lsp.source import kernels
    >>> proposal(kernels("__global__ void f(int n, float a, const float *x) {}")[0])
    '// warpwatt: --kernel f --grid 4096 --block 256 --arg n=1048576 --arg a=1 --arg x=f32[n]'
    """
    scalars = {m["name"]: m["type"] for p in place.parameters if (m := _SCALAR.match(_plain(p)))}
    whole = [name for name, kind in scalars.items() if _TYPES.get(kind, "f32")[0] in "iu"]
    size = next((name for name in _COUNTS if name in whole), whole[0] if whole else "")
    words = [f"--kernel {place.name} --grid {ELEMENTS // THREADS} --block {THREADS}"]
    for parameter in place.parameters:
        text = _plain(parameter)
        if scalar := _SCALAR.match(text):
            words.append(f"--arg {scalar['name']}={ELEMENTS if scalar['name'] == size else 1}")
        elif buffer := _BUFFER.match(text):
            element = _TYPES.get(buffer["type"].strip(), "f32")
            words.append(f"--arg {buffer['name']}={element}[{size or ELEMENTS}]")
    return "// warpwatt: " + " ".join(words)


def _plain(parameter: str) -> str:
    """Return a parameter without its default, its qualifiers of no matter here, and blanks at asterisks."""
    text = re.sub(r"\b(__restrict__|__restrict|restrict|__grid_constant__|const|volatile)\b", "", parameter)
    text = re.sub(r"\s*([*&])\s*", r" \1", text.partition("=")[0])
    return " ".join(text.split())


def _edit(document: Document, edit: types.TextEdit) -> types.WorkspaceEdit:
    return types.WorkspaceEdit(changes={document.uri: [edit]})
