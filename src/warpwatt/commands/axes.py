"""What `sweep` and `recommend` vary: options that take several values, and the sweep they describe."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpwatt.commands.options import EnumChoice, group
from warpwatt.core.program import Unknown
from warpwatt.session.options import CompilationOptions, LaunchOptions, ModelOptions

if TYPE_CHECKING:
    from warpwatt.advise.clocks import Asked
    from warpwatt.advise.configurations import Configuration
    from warpwatt.advise.sweep import Sweep


@dataclass(frozen=True, slots=True)
class Axes:
    """What is varied and what stays, as typed."""

    kernel: str | None = None
    grid: str | None = None
    block: tuple[str, ...] = ()
    cluster: str | None = None
    shared: str | None = None
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
    flags: tuple[str, ...] = ()


axes_options = group(
    "axes",
    Axes,
    click.option("--kernel", metavar="NAME", help="Kernel, by any unambiguous part of its name."),
    click.option(
        "--grid",
        metavar="X[,Y[,Z]]",
        help="Blocks per grid; may be expressions of macros, numbers among the arguments and bx, by, bz: "
        "n/TILE (rounded up).",
    ),
    click.option(
        "--block", multiple=True, metavar="X[,Y[,Z]][/...]", help="Block sizes: 64/128 or 16,16/32,8."
    ),
    click.option("--cluster", metavar="X[,Y[,Z]]", help="Blocks per cluster."),
    click.option("--shared", metavar="BYTES", help="Dynamic shared memory per block, perhaps an expression."),
    click.option(
        "--arg", multiple=True, metavar="NAME=VALUE", help="n=1024, x=f32[n], y=f32[n]:zeros, 0=1024."
    ),
    click.option(
        "--args", type=click.Path(path_type=Path), metavar="FILE.toml", help="Launch and arguments."
    ),
    click.option(
        "--loop", multiple=True, metavar="LINE=COUNT", help="Iterations of a loop that depends on data."
    ),
    click.option(
        "-D", "define", multiple=True, metavar="NAME[=V1,V2,...]", help="Values of a macro; all are tried."
    ),
    click.option(
        "--define-file",
        type=click.Path(path_type=Path),
        metavar="FILE.csv",
        help="One configuration per line: a column per macro, and maxrregcount, grid, block, shared.",
    ),
    click.option("--maxrregcount", metavar="N,...|LOW:HIGH:STEP", help="Registers per thread, at most."),
    click.option(
        "--clock",
        multiple=True,
        metavar="SM|LOW:HIGH:STEP[,MEM...]",
        help="MHz; a range ends at the boost clock, memory clocks may be several. Default: boost within the "
        "power limit.",
    ),
    click.option("-I", "include", multiple=True, metavar="DIR", help="Include directory."),
    click.option(
        "--toolkit", default="", metavar="VERSION", help="Compile with this CUDA release, such as 12.3."
    ),
    click.option("--model", multiple=True, metavar="[time=|power=]NAME", help="See `warpwatt models`."),
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
    click.argument("flags", nargs=-1, metavar="[-- COMPILER_FLAGS]"),
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Processes; default: one per processor."
)


def sweep_of(source: str, gpu: str, axes: Axes, *, curve: bool = False) -> Sweep:
    """Return the sweep that the options describe.

    Raises
    ------
    InputError, UsageError, UnknownGpuError
        If something cannot be read or is not known.
    """
    from warpwatt.advise.sweep import Sweep  # noqa: PLC0415 - verbs load lazily
    from warpwatt.frontend.source import read_source  # noqa: PLC0415
    from warpwatt.session.choices import complete_gpus, model_choice  # noqa: PLC0415
    from warpwatt.session.launches import launch_texts  # noqa: PLC0415
    from warpwatt.session.session import Session  # noqa: PLC0415

    opened = read_source(source)
    compilation = CompilationOptions(include=axes.include, toolkit=axes.toolkit, flags=axes.flags)
    modelling = ModelOptions(axes.model, level=axes.level, unknown=axes.unknown)
    launch = LaunchOptions(axes.kernel, axes.grid, None, axes.cluster, None, axes.arg, axes.loop, axes.args)
    return Sweep(
        opened,
        launch_texts(opened, launch),
        complete_gpus(gpu),
        configurations_of(axes),
        clocks_of(axes.clock),
        Session(source, gpu, compilation, modelling).compile_options(),
        model_choice(modelling),
        curve,
    )


def configurations_of(axes: Axes) -> tuple[Configuration, ...]:
    """Return the configurations; those of a file are laid over every combination of the options' values."""
    from warpwatt.advise import configurations as c  # noqa: PLC0415 - verbs load lazily

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
    from warpwatt.advise.clocks import parse_range  # noqa: PLC0415 - verbs load lazily

    asked = dict.fromkeys(clock for text in texts for clock in parse_range(text))
    return tuple(asked) or (None,)


def default_jobs(given: int | None) -> int:
    """Return the processes to use: as asked for, else one per processor this one may run on."""
    if given is not None:
        return given
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
