"""The corpus: CUDA programs with sizes, launches and a NumPy reference each (``corpus/README.md``).

One program is three files: ``NAME.cu`` (kernels), ``NAME.toml`` (manifest), ``NAME.py`` (reference and,
where random numbers will not do, inputs).
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from warpwatt.core.arguments import Argument, Buffer, Scalar, parse_arguments
from warpwatt.core.errors import ArgumentError, InputError, LaunchError, ParseError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.frontend.signatures import blank_comments, parameter_names
from warpwatt.lab.measure.manifest import Table

if TYPE_CHECKING:
    from types import ModuleType

DWARFS = (
    "dense linear algebra",
    "sparse linear algebra",
    "spectral methods",
    "n-body methods",
    "structured grids",
    "unstructured grids",
    "map reduce",
    "combinational logic",
    "graph traversal",
    "dynamic programming",
    "backtrack and branch and bound",
    "graphical models",
    "finite state machines",
)
"""The thirteen dwarfs of Asanović et al., *The Landscape of Parallel Computing Research* (2006)."""

SPLITS = ("fit", "test")
BOUNDS = ("memory", "compute", "latency", "atomics", "shared", "mixed")
_CONSTANT = re.compile(r"\b__constant__\b[^;=\[(]*?\b(\w+)\s*(?:\[[^;=]*)?[;={]")

Arrays = dict[str, Any]
"""Buffers (NumPy arrays) and scalars by name."""


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """One launch of a size.

    ``launch.arguments`` is by the kernel's own parameter names and the program's constant symbols;
    ``buffers`` says which of the size's buffers each of them is. Launches that pass the same buffer hold
    the same :class:`~warpwatt.core.arguments.Buffer` object.
    """

    kernel: str
    launch: Launch
    buffers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Size:
    """One problem size: its arguments by the manifest's names, and the launches in order."""

    name: str
    arguments: Mapping[str, Argument]
    launches: tuple[KernelLaunch, ...]


@dataclass(frozen=True, slots=True)
class CorpusProgram:
    """One program. ``tolerance`` is relative; None where the manifest leaves it to the element type."""

    name: str
    source: Path
    summary: str
    family: str
    split: str
    dwarf: str
    bound: str
    least_target: str
    tolerance: float | None
    sizes: tuple[Size, ...]

    def size(self, name: str) -> Size:
        """Return the size of that name.

        Raises
        ------
        InputError
            If there is none.
        """
        for size in self.sizes:
            if size.name == name:
                return size
        known = " ".join(size.name for size in self.sizes)
        raise InputError(f"{self.name} has no size {name!r}", hint=f"sizes: {known}")


class Corpus(tuple["CorpusProgram", ...]):
    """All programs of a folder, by dwarf and name."""

    __slots__ = ()

    @classmethod
    def load(cls, folder: Path) -> Corpus:
        """Read every manifest below ``folder``.

        Raises
        ------
        ParseError
            If a manifest is malformed, a file of a program is missing, or two programs share a name.
        """
        programs: dict[str, CorpusProgram] = {}
        for path in sorted(folder.glob("*/*.toml")):
            program = load_program(path)
            if program.name in programs:
                other = programs[program.name].source
                raise ParseError(f"program {program.name!r} exists already: {other}", file=path)
            programs[program.name] = program
        if not programs:
            raise ParseError("no program here", file=folder, hint="expected DWARF/NAME.toml files")
        return cls(programs.values())

    def program(self, name: str) -> CorpusProgram:
        """Return the program of that name.

        Raises
        ------
        InputError
            If there is none.
        """
        for program in self:
            if program.name == name:
                return program
        raise InputError(f"the corpus has no program {name!r}")


def load_program(path: Path) -> CorpusProgram:
    """Read one manifest.

    Raises
    ------
    ParseError
        Naming file and key, if the manifest is malformed or a file beside it is missing.
    """
    top = Table.read(path)
    for suffix in (".cu", ".py"):
        if not path.with_suffix(suffix).is_file():
            raise ParseError(f"{path.stem}{suffix} is missing beside it", file=path)
    source = path.with_suffix(".cu")
    kernels = _Kernels.read(source)
    program = CorpusProgram(
        name=path.stem,
        source=source,
        summary=top.text("summary"),
        family=top.text("family"),
        split=top.choice("split", SPLITS),
        dwarf=top.choice("dwarf", DWARFS),
        bound=top.choice("bound", BOUNDS),
        least_target=top.text("least_target", "sm_75"),
        tolerance=top.number("tolerance", None),
        sizes=tuple(_size(table, kernels) for table in top.tables("size")),
    )
    top.only("summary", "family", "split", "dwarf", "bound", "least_target", "tolerance", "size")
    names = [size.name for size in program.sizes]
    if len(set(names)) < len(names):
        top.fail("size", "two sizes have the same name")
    return program


@dataclass(frozen=True, slots=True)
class _Kernels:
    """What a source declares: parameters of each kernel, names of constant symbols."""

    parameters: Mapping[str, tuple[str, ...]]
    constants: tuple[str, ...]

    @classmethod
    def read(cls, source: Path) -> _Kernels:
        text = source.read_text(encoding="utf-8")
        return cls(parameter_names(text), constant_symbols(text))


def _size(table: Table, kernels: _Kernels) -> Size:
    written = table.mapping("args")
    texts = [f"{name}={value}" for name, value in written.items()]
    try:
        arguments = parse_arguments(texts)
    except ArgumentError as error:
        table.fail("args", error.message, error.hint)
    launches = tuple(_launch(part, kernels, arguments) for part in table.tables("launch"))
    table.only("name", "args", "launch")
    return Size(table.text("name"), arguments, launches)


def _launch(table: Table, kernels: _Kernels, arguments: Mapping[str, Argument]) -> KernelLaunch:
    kernel = table.choice("kernel", tuple(kernels.parameters))
    passed = table.mapping("pass", {})
    parameters = kernels.parameters[kernel]
    if unknown := set(passed) - set(parameters):
        table.fail("pass", f"{kernel} has no parameter {min(unknown)!r}", f"it has: {' '.join(parameters)}")
    constants = [name for name in kernels.constants if name in arguments]
    names = {parameter: passed.get(parameter, parameter) for parameter in parameters}
    names |= {name: name for name in constants}
    given = {parameter: _argument(table, parameter, name, arguments) for parameter, name in names.items()}
    table.only("kernel", "grid", "block", "pass", "shared", "repeat")
    try:
        launch = Launch(
            grid=_dim3(table, "grid"),
            block=_dim3(table, "block"),
            dynamic_shared=table.whole("shared", 0),
            repeats=table.whole("repeat", 1),
            arguments=given,
        )
    except LaunchError as error:
        table.fail("launch", error.message, error.hint)
    buffers = {parameter: str(names[parameter]) for parameter, a in given.items() if isinstance(a, Buffer)}
    return KernelLaunch(kernel, launch, buffers)


def _argument(table: Table, parameter: str, name: Any, arguments: Mapping[str, Argument]) -> Argument:
    if isinstance(name, int | float):
        return Scalar(name)
    if name not in arguments:
        hint = "name it in args, or say what to pass: pass = { PARAMETER = NAME }"
        table.fail("pass", f"parameter {parameter!r} is {name!r}, which args do not hold", hint)
    return arguments[name]


def _dim3(table: Table, key: str) -> Dim3:
    return Dim3(*table.numbers(key, 1, 3))


def constant_symbols(text: str) -> tuple[str, ...]:
    """Return the names of the ``__constant__`` variables that a source declares.

    >>> constant_symbols("__constant__ float a[4]; static __constant__ int b = 3; // __constant__ int c;")
    ('a', 'b')
    """
    return tuple(dict.fromkeys(_CONSTANT.findall(blank_comments(text))))


def reference(program: CorpusProgram) -> Callable[[Arrays], Arrays]:
    """Return the program's ``reference``: from all arguments to the buffers the launches change.

    Raises
    ------
    ParseError
        If the file cannot be imported or defines no such function.
    """
    function = getattr(load_module(program), "reference", None)
    if not callable(function):
        raise ParseError("defines no function 'reference'", file=program.source.with_suffix(".py"))
    return function  # type: ignore[no-any-return] # the file is the user's; its result is checked where used


def load_module(program: CorpusProgram) -> ModuleType:
    """Import the Python file of a program, without touching ``sys.modules``.

    Raises
    ------
    ParseError
        If it cannot be imported.
    """
    path = program.source.with_suffix(".py")
    name = f"corpus_{program.name}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_Uncached(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(loaded)
    except Exception as error:
        raise ParseError(f"cannot be imported: {error!r}", file=path) from error
    return loaded


class _Uncached(SourceFileLoader):
    """Reads and writes no bytecode: a file changed within the second must not run as it was."""

    def path_stats(self, path: str) -> NoReturn:
        """Refuse: without a date nothing is cached."""
        raise OSError(path)


def buffers(size: Size) -> Iterator[tuple[str, Buffer]]:
    """Yield the buffers of a size by name, in the manifest's order."""
    for name, argument in size.arguments.items():
        if isinstance(argument, Buffer):
            yield name, argument


def scalars(size: Size) -> dict[str, int | float]:
    """Return the scalars of a size by name."""
    return {name: a.value for name, a in size.arguments.items() if isinstance(a, Scalar)}
