"""Option groups that several verbs share. Each is a decorator that collects its options into one value."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpwatt.core.program import Unknown
from warpwatt.request.options import CompilationOptions, LaunchOptions, ModelOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Any]

INPUT_HELP = "INPUT is CUDA C++, PTX, a cubin, fatbin or executable, or - for stdin."


class Format(StrEnum):
    """Output formats of a prediction."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Where the result goes and how it looks; ``format`` None means by the file's name, else text."""

    format: Format | None = None
    output: Path | None = None
    force: bool = False
    verbose: bool = False


class EnumChoice(click.Choice[Any]):
    """A choice among the values of an enum, which the command receives as enum members."""

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__([member.value for member in kind])
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the member of that value."""
        return self.kind(super().convert(str(value), param, ctx))


def group(name: str, kind: type, *decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds options and passes them on as one ``kind`` named ``name``."""
    fields = tuple(kind.__dataclass_fields__)  # type: ignore[attr-defined] # every kind is a dataclass

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def collect(**values: Any) -> Any:
            values[name] = kind(**{field: values.pop(field) for field in fields})
            return command(**values)

        wrapped: Command = collect
        for decorator in reversed(decorators):
            wrapped = decorator(wrapped)
        return wrapped

    return decorate


launch_options = group(
    "launch",
    LaunchOptions,
    click.option("--kernel", metavar="NAME", help="Kernel, by any unambiguous part of its name."),
    click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks per grid."),
    click.option("--block", metavar="X[,Y[,Z]]", help="Threads per block."),
    click.option("--cluster", metavar="X[,Y[,Z]]", help="Blocks per cluster."),
    click.option("--shared", type=int, metavar="BYTES", help="Dynamic shared memory per block."),
    click.option(
        "--arg", multiple=True, metavar="NAME=VALUE", help="n=1024, x=f32[n], y=f32[n]:zeros, 0=1024."
    ),
    click.option(
        "--args", type=click.Path(path_type=Path), metavar="FILE.toml", help="Launch and arguments."
    ),
    click.option(
        "--loop", multiple=True, metavar="LINE=COUNT", help="Iterations of a loop that depends on data."
    ),
)
compilation_options = group(
    "compilation",
    CompilationOptions,
    click.option("-D", "define", multiple=True, metavar="NAME[=VALUE]", help="Preprocessor definition."),
    click.option("-I", "include", multiple=True, metavar="DIR", help="Include directory."),
    click.option(
        "--toolkit", default="", metavar="VERSION", help="Compile with this CUDA release, such as 12.3."
    ),
    click.option(
        "--maxrregcount", type=click.IntRange(16, 255), metavar="N", help="Registers per thread, at most."
    ),
    click.argument("flags", nargs=-1, metavar="[-- COMPILER_FLAGS]"),
)
model_options = group(
    "modelling",
    ModelOptions,
    click.option("--model", multiple=True, metavar="[time=|power=]NAME", help="See `warpwatt models`."),
    click.option("--clock", metavar="SM[,MEM]", help="MHz; default: boost within the power limit."),
    click.option(
        "--level",
        type=click.Choice(["ptx", "sass"]),
        help="What is analysed; default: machine code where there is any, else PTX.",
    ),
    click.option(
        "--unknown",
        type=EnumChoice(Unknown),
        default=Unknown.ESTIMATE,
        show_default=True,
        help="Instructions that the opcode tables lack.",
    ),
    click.option(
        "--profile",
        type=click.Path(path_type=Path),
        metavar="FILE.csv",
        help="A measured launch of the kernel (nsys, ncu, nvprof or own CSV) that corrects the time.",
    ),
    click.option(
        "--profile-arg",
        multiple=True,
        metavar="NAME=VALUE",
        help="An argument the measured launch had, where it differs.",
    ),
)
output_options = group(
    "writing",
    OutputOptions,
    click.option("--format", type=EnumChoice(Format), help="Default: by the file's name, else text."),
    click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to a file."),
    click.option("--force", is_flag=True, help="Overwrite the file."),
    click.option("-v", "--verbose", is_flag=True, help="Show everything."),
)
gpu_option = click.option(
    "--gpu", default="h200", show_default=True, metavar="NAME[,NAME...]|all", help="GPUs to predict for."
)
input_argument = click.argument("source", metavar="INPUT")
