"""What `sweep` and `recommend` vary: options that take several values, and the sweep they describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpwatt.commands.options import group, option, settable
from warpwatt.commands.saved_runs import is_saved_run
from warpwatt.core.errors import UsageError
from warpwatt.core.program import Unknown
from warpwatt.request.fields import FIELDS, Kind
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.options import CompilationOptions, ModelOptions
from warpwatt.request.settings import KEYS

if TYPE_CHECKING:
    from warpwatt.request.fields import Field
    from warpwatt.sweep.clocks import Asked
    from warpwatt.sweep.configurations import Configuration
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.tasks import Task


_FLAGS = click.Argument(["flags"], nargs=-1, **settable("flags"))


class InputsThenFlags(click.Command):
    """A command that takes several inputs; what follows ``--`` goes to the compiler."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Cut the compiler's flags off, then read the rest."""
        at = args.index("--") if "--" in args else len(args)
        left = super().parse_args(ctx, args[:at])
        _FLAGS.handle_parse_result(ctx, {"flags": tuple(args[at + 1 :])} if args[at + 1 :] else {}, [])
        return left

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return what the usage line shows."""
        return [*super().collect_usage_pieces(ctx), "[-- COMPILER_FLAGS]"]


@dataclass(frozen=True, slots=True)
class Axes:
    """What is varied and what stays, as typed."""

    sources: tuple[str, ...] = ()
    kernel: str | None = None
    grid: str | None = None
    block: tuple[str, ...] = ()
    cluster: str | None = None
    shared: str | None = None
    l2: str | None = None
    arg: tuple[str, ...] = ()
    args: Path | None = None
    loop: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    define_file: Path | None = None
    maxrregcount: str | None = None
    clock: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    toolkit: str = ""
    model: tuple[str, ...] = ()
    level: str | None = None
    unknown: Unknown = Unknown.ESTIMATE
    profile: Path | None = None
    profile_arg: tuple[str, ...] = ()
    power_limit: str | None = None
    flags: tuple[str, ...] = ()


def _axis(field: Field) -> Callable[[Any], Any]:
    """Return the option of a field that takes several values, or of one that stays."""
    if field.axis is None:
        return option(field, Axes)
    names = [field.flag, field.name] if field.flag else [f"--{field.name}"]
    axis = field.axis
    said = settable(field.key) if field.key in KEYS and field.name != "clock" else {}  # clocks are compared
    return click.option(*names, multiple=axis.repeated, metavar=axis.metavar, help=axis.help, **said)


_DEFINE_FILE = click.option(
    "--define-file",
    type=click.Path(path_type=Path),
    metavar="FILE.csv",
    help="One configuration per line: a column per macro, and maxrregcount, grid, block, shared.",
)
_INPUTS = click.argument("sources", nargs=-1, required=True, metavar="INPUT...")
_FIELDS = tuple(_axis(field) for field in FIELDS if field.kind is not Kind.REST)
axes_options = group("axes", Axes, *_FIELDS, _DEFINE_FILE, _INPUTS)


def sweep_of(gpu: str, axes: Axes, *, notify: Callable[[str], None] | None = None) -> Sweep:
    """Return the sweep that the options describe; ``notify`` hears which GPUs are left out, else stderr.

    Raises
    ------
    InputError, UsageError, UnknownGpuError
        If something cannot be read or is not known.
    """
    from warpwatt.request.choices import complete_gpus, model_choice, note
    from warpwatt.request.measured import MeasuredLaunches, not_used
    from warpwatt.request.session import Session
    from warpwatt.sweep.clockless import check_clocks
    from warpwatt.sweep.sweep import Sweep

    gpus = complete_gpus(gpu, notify or note, axes.power_limit)
    measured = MeasuredLaunches.read(axes.profile, axes.profile_arg, gpus[0] if len(gpus) == 1 else None)
    for remark in filter(None, (not_used(measured.profiles, one) for one in gpus)):
        note(remark)
    include = tuple(str(Path(folder).resolve()) for folder in axes.include)  # workers are elsewhere
    compilation = CompilationOptions(include=include, toolkit=axes.toolkit, flags=axes.flags)
    modelling = ModelOptions(axes.model, level=axes.level, unknown=axes.unknown)
    described = Sweep(
        tasks_of(axes),
        gpus,
        configurations_of(axes),
        clocks_of(axes.clock),
        Session("", gpu, compilation, modelling).compile_options(),
        model_choice(modelling),
        measured,
    )
    check_clocks(described)
    return described


def tasks_of(axes: Axes) -> tuple[Task, ...]:
    """Return the launches, applications and runs that are predicted, in the order of the inputs.

    Raises
    ------
    UsageError
        If a launch is described and there is no kernel to launch.
    """
    from warpwatt.frontend.source import read_source
    from warpwatt.request.launches import launch_texts
    from warpwatt.sweep.tasks import application_task, kernel_tasks, run_task

    launch = LaunchText(
        axes.kernel, axes.grid, None, axes.cluster, None, axes.l2, axes.arg, axes.loop, axes.args
    )
    if launch != LaunchText() and all(_is_application(name) or is_saved_run(name) for name in axes.sources):
        hint = "leave out --kernel, --grid, --cluster, --l2, --arg, --args and --loop: the file says them"
        raise UsageError("applications and saved runs have their own launches", hint=hint)
    found: list[Task] = []
    for name in axes.sources:
        if _is_application(name):
            found.append(application_task(Path(name)))
        elif is_saved_run(name):
            found.append(run_task(Path(name)))
        else:
            source = read_source(name)
            found += kernel_tasks(source, launch_texts(source, launch))
    return tuple(found)


def _is_application(name: str) -> bool:
    return name.lower().endswith(".toml")


def configurations_of(axes: Axes) -> tuple[Configuration, ...]:
    """Return the configurations; those of a file are laid over every combination of the options' values."""
    from warpwatt.sweep import configurations as c

    registers = c.parse_registers(axes.maxrregcount) if axes.maxrregcount else ()
    blocks = [block for text in axes.block for block in text.split("/")]
    found = c.configurations(axes.define, registers, blocks)
    if axes.shared is not None:
        found = tuple(replace(one, shared=axes.shared) for one in found)
    if axes.define_file is not None:
        found = c.combined(found, c.read_configurations(axes.define_file))
    return found


def clocks_of(texts: tuple[str, ...]) -> tuple[Asked | None, ...]:
    """Return the clocks asked for, each once; None stands for the board's own choice."""
    from warpwatt.sweep.clocks import parse_range

    asked = dict.fromkeys(clock for text in texts for clock in parse_range(text))
    return tuple(asked) or (None,)
