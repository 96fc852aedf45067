"""One text compiled for one target, and its kernels by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.program import Kernel
from warpwatt.frontend.compilation import compile_cuda
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.entries import compiled_entries
from warpwatt.frontend.select import select
from warpwatt.frontend.toolkits import for_target
from warpwatt.native.demangle import demangle
from warpwatt.request.options import CompilationOptions, ModelOptions
from warpwatt.request.session import Session
from warpwatt.server.lsp.moved import entry_codes
from warpwatt.server.lsp.source import without_comments

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Compiled
    from warpwatt.frontend.toolkits import ToolkitChoice
    from warpwatt.server.lsp.facts import Query
    from warpwatt.server.lsp.moved import Code


@dataclass(frozen=True, slots=True)
class Named:
    """A kernel by its linker's and its human name."""

    name: str
    demangled: str


@dataclass(slots=True)
class Module:
    """What the compiler made of the text for one target; kernels are parsed when somebody wants them."""

    session: Session
    source: Source
    choice: ToolkitChoice
    target: str
    compiled: Compiled
    _kernels: dict[str, Kernel] = field(default_factory=dict)

    @property
    def codes(self) -> Mapping[str, Code]:
        """Linker's name to the code of each kernel."""
        return entry_codes(self.compiled.ptx)

    @property
    def own(self) -> str:
        """Name of the document among the files of line information."""
        files = {file for code in self.codes.values() for file, _ in code.places}
        return next((file for file in sorted(files) if is_own(file, self.source.name)), self.source.name)

    def named(self, name: str) -> Named:
        """Return the kernel a user's name means; raise KernelSelectionError where that is not one."""
        return select([Named(code, demangle(code)) for code in self.codes], name)

    def kernel(self, name: str) -> Kernel:
        """Return a kernel by its linker's name, parsed."""
        if name not in self._kernels:
            options = self.session.compile_options()
            made = compiled_entries(self.compiled, self.source, self.target, self.choice, options)
            self._kernels[name] = next(entry for entry in made if entry.name == name).make()
        return self._kernels[name]


def is_own(file: str, name: str) -> bool:
    """Whether a file of line information is the document: by its name, or as the compiler was given it."""
    path = Path(file)
    return file == name or (path.name == "stdin.cu" and path.parent.name.startswith("warpwatt-"))


def session_of(path: str, text: str, query: Query, *, report: bool = False) -> Session:
    """Return the session that predicts this text as the query says; comments do not reach the compiler.

    Only for a report, whose readers see them, do files have their true names: a compilation that depends on
    the document's file could not be used again after it is saved.
    """
    head = '#line 1 "{}"\n'.format(path.replace("\\", "\\\\").replace('"', '\\"')) if report else ""
    source = Source(path, (head + without_comments(text)).encode("utf-8", "replace"))
    compilation = CompilationOptions(
        query.define, query.include, query.toolkit, query.maxrregcount, query.flags
    )
    modelling = ModelOptions(query.model, query.clock, query.level, power_limit=query.power_limit)
    return Session(source, query.gpu, compilation, modelling, report, report, lambda _: None)


def compile_all(session: Session, targets: Iterable[str]) -> dict[str, Module]:
    """Compile for several targets, several at a time; raise as the compiler does."""
    wanted = list(dict.fromkeys(targets))
    if len(wanted) == 1:
        return {wanted[0]: _compiled(session, wanted[0])}
    with ThreadPoolExecutor() as pool:
        return dict(zip(wanted, pool.map(lambda target: _compiled(session, target), wanted), strict=True))


def _compiled(session: Session, target: str) -> Module:
    source, options = session.opened(), session.compile_options()
    choice = for_target(target, options.toolkit)
    return Module(session, source, choice, target, compile_cuda(source, choice, options))
