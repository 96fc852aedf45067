"""Option groups that several verbs share. Each is a decorator that collects its options into one value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from warpwatt.core.errors import UsageError
from warpwatt.request.fields import Group, Kind, fields_of
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.options import CompilationOptions, ModelOptions
from warpwatt.request.settings import KEYS

if TYPE_CHECKING:
    from warpwatt.request.fields import Field

    Command = Callable[..., Any]

INPUT_HELP = "INPUT is CUDA C++, PTX, a cubin, fatbin or executable, or - for stdin."


FormatT = TypeVar("FormatT", bound=StrEnum)
FILE = "warpwatt.settings"
"""Under this name the context knows the file that settings come from."""
_ENDINGS = {"": "text", "txt": "text", "log": "text", "htm": "html", "xml": "junit"}
"""Endings of files that are not called as their format is."""


class Format(StrEnum):
    """Output formats of a prediction."""

    TEXT = "text"
    JSON = "json"
    BRIEF = "brief"
    """JSON of some 35 lines a prediction, for agents."""
    HTML = "html"
    CSV = "csv"
    NCU_CSV = "ncu-csv"
    """As ``ncu --csv --page raw --print-units base``."""
    NCU_DETAILS_CSV = "ncu-details-csv"
    """As ``ncu --csv --page details --print-units base``, metrics by their own names behind the sections."""
    NCU_JSON = "ncu-json"


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


def format_by_name(output: Path | None, formats: type[FormatT]) -> FormatT:
    """Return the format that a file's name asks for: text without a file, and without an ending.

    Raises
    ------
    UsageError
        If the ending is that of no format.

    >>> format_by_name(Path("report.HTM"), Format)
    <Format.HTML: 'html'>
    """
    ending = output.suffix.lower().lstrip(".") if output is not None else ""
    known = {str(one): one for one in formats}
    known |= {also: known[name] for also, name in _ENDINGS.items() if name in known}
    if ending in known:
        return known[ending]
    listed = " ".join(f".{one}" for one in known if one)
    hint = f"endings: {listed}; or name the --format"
    raise UsageError(f"no format for a file called *.{ending}", hint=hint)


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


def _say_whence(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Name what was said elsewhere than on the command line: nobody should wonder about a number."""
    source = ctx.get_parameter_source(param.name or "")
    if source in (ParameterSource.DEFAULT_MAP, ParameterSource.ENVIRONMENT):
        where = (
            ctx.meta[FILE][param.name]
            if source is ParameterSource.DEFAULT_MAP
            else f"the variable {param.envvar}"
        )
        said = " ".join(map(str, value)) if isinstance(value, tuple) else value
        click.echo(f"note: {param.opts[0]} {said} from {where}", err=True)
    return value


def settable(name: str) -> dict[str, Any]:
    """Return what click wants of an option that a project's settings and the environment may say."""
    return {"envvar": f"WARPWATT_{name.upper()}", "callback": _say_whence}


def option(field: Field, kind: type) -> Callable[[Command], Command]:
    """Return the option of a field, whose default is that of the dataclass ``kind``."""
    default = kind.__dataclass_fields__[field.name].default  # type: ignore[attr-defined] # as above
    if field.kind is Kind.REST:
        return click.argument(field.name, nargs=-1, metavar=field.metavar, **settable(field.name))
    names = [field.flag, field.name] if field.flag else [f"--{field.name.replace('_', '-')}"]
    said: dict[str, Any] = {"help": field.help, "metavar": field.metavar}
    if field.repeated:
        said["multiple"] = True
    elif field.kind is Kind.NUMBER:
        said["type"] = click.IntRange(*field.bounds) if field.bounds else str  # a size: perhaps an expression
    elif isinstance(default, StrEnum):
        said |= {"type": EnumChoice(type(default)), "default": default.value, "show_default": True}
    elif field.kind is Kind.CHOICE:
        said["type"] = click.Choice(field.choices)
    elif default == "":
        said["default"] = ""
    if field.key in KEYS:
        said |= settable(field.key)
    if field.kind is Kind.FILE:
        said["type"] = click.Path(path_type=Path)
    return click.option(*names, **said)


def options_of(name: str, group_of: Group, kind: type) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of all fields of a group."""
    return group(name, kind, *(option(field, kind) for field in fields_of(group_of)))


launch_options = options_of("launch", Group.LAUNCH, LaunchText)
compilation_options = options_of("compilation", Group.COMPILATION, CompilationOptions)
model_options = options_of("modelling", Group.MODELS, ModelOptions)
output_options = group(
    "writing",
    OutputOptions,
    click.option("--format", type=EnumChoice(Format), help="Default: by the file's name, else text."),
    click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to a file."),
    click.option("--force", is_flag=True, help="Overwrite the file."),
    click.option("-v", "--verbose", is_flag=True, help="Show everything."),
)
gpu_option = click.option(
    "--gpu",
    default="h200",
    show_default=True,
    metavar="NAME[,NAME...]|all",
    **settable("gpu"),
    help="GPUs to predict for, or architectures: ada,hopper.",
)
input_argument = click.argument("source", metavar="INPUT")
