"""``warpwatt port``: whether a sequential C function is worth a GPU, and what its kernels look like."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpwatt.commands import options as o
from warpwatt.commands.destination import Destination, destination_options
from warpwatt.core.errors import ArgumentError, InputError
from warpwatt.core.progress import counted, step
from warpwatt.request.options import ModelOptions

if TYPE_CHECKING:
    from warpwatt.published.resios.port import Agreement, Port, Request


class PortFormat(StrEnum):
    """Output formats of a port."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class PortDestination(Destination[PortFormat]):
    """Where the report goes, and to which file the kernels."""

    emit: Path | None = None

    def checked(self, formats: type[PortFormat]) -> PortFormat:
        """Return the format; refuse either file as :meth:`Destination.checked`."""
        from warpwatt.commands.output import Writer

        if self.emit is not None:
            Writer.check(self.emit, force=self.force)
        return Destination.checked(self, formats)


emit_option = click.option(
    "--emit",
    type=click.Path(path_type=Path),
    metavar="KERNEL.cu",
    help="Write the CUDA kernels and their host function.",
)


@dataclass(frozen=True, slots=True)
class AskedOptions:
    """What is asked of the C file, as typed."""

    function: str = ""
    arg: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    assume_no_alias: bool = False
    policy: str = "in-turn"
    run: bool = True
    keep_order: bool = False
    context_ms: float | None = None
    sequential_ms: float | None = None
    pinned: bool = False


asked_options = o.group(
    "asked",
    AskedOptions,
    click.option(
        "--function", default="", metavar="NAME", help="Function; default: the only one with loops."
    ),
    click.option(
        "--arg", multiple=True, metavar="NAME=VALUE", help="Sizes: n=4096; a=f32[n] where C does not tell."
    ),
    click.option("-D", "define", multiple=True, metavar="NAME[=VALUE]", help="Preprocessor definition."),
    click.option("-I", "include", multiple=True, metavar="DIR", help="Include directory."),
    click.option("--assume-no-alias", is_flag=True, help="Pointers without restrict point to other arrays."),
    click.option(
        "--policy",
        type=click.Choice(["in-turn", "oldest-first", "latest-first", "shortest-first"]),
        default="in-turn",
        show_default=True,
        help="Which ready warp goes first in Resios' simulation.",
    ),
    click.option("--run/--no-run", default=True, help="Compile and run the C here for its sequential time."),
    click.option(
        "--sequential-ms", type=click.FloatRange(min=0), help="Time of one call of the C, measured elsewhere."
    ),
    click.option(
        "--context-ms", type=click.FloatRange(min=0), help="Time of creating a CUDA context on this GPU."
    ),
    click.option("--pinned", is_flag=True, help="The arrays of the host are page-locked."),
    click.option(
        "--keep-order", is_flag=True, help="Add up in the order of the source: equal to the last bit."
    ),
)


@click.command()
@click.argument("source", metavar="FILE.c")
@o.gpu_option
@asked_options
@click.option("--model", multiple=True, metavar="[time=|power=]NAME", help="For the kernels; resios: none.")
@click.option("--clock", metavar="SM[,MEM]", help="MHz; default: boost within the power limit.")
@click.option("--power-limit", metavar="W", help="W that the board may draw; default: the data sheet's.")
@click.option("--check", is_flag=True, help="Run the emitted program and compare every array with the C.")
@destination_options(PortFormat, PortDestination, emit_option)
def port(
    source: str,
    gpu: str,
    asked: AskedOptions,
    model: tuple[str, ...],
    clock: str | None,
    power_limit: str | None,
    check: bool,
    writing: PortDestination,
) -> None:
    r"""Judge whether sequential C loops are worth a GPU, and write their kernels.

    Two systems side by side: Resios' prognosis from the C alone, and the default models on the kernel made
    of it. Loops that are not data parallel are refused with the two lines that depend on each other.

    \b
    warpwatt port blur.c --arg width=4096 --arg height=4096 --emit blur.cu
    """
    from warpwatt.commands.output import write
    from warpwatt.frontend.source import read_source
    from warpwatt.published.resios.port import check as checked
    from warpwatt.published.resios.port import port as ported
    from warpwatt.request.choices import complete_gpus, model_choice, parse_clocks

    shape, text, request = writing.checked(PortFormat), read_source(source), _request(asked)
    choice = model_choice(ModelOptions(model=model))
    found: list[Port] = []
    devices = complete_gpus(gpu, power_limit=power_limit)
    for number, device in enumerate(devices, 1):
        wanted = request if not found else replace(request, run=False)
        with step(counted(device.name, number, len(devices))):
            one = ported(text, device, wanted, choice=choice, clocks=parse_clocks(clock, device))
        found.append(one if not found else replace(one, sequential=found[0].sequential))
    with step("checking the emitted program"):
        agreements = checked(text, found[0], request.options) if check else ()
    if writing.emit is not None:
        write(found[0].cuda, writing.emit)
    _write(found, agreements, shape, writing)
    if wrong := [one.array for one in agreements if not one.rounded]:
        message = f"the emitted program differs from the C by more than rounding: {', '.join(wrong)}"
        raise InputError(message, hint="do not use it; report the C file as a fault of warpwatt port")


def _request(asked: AskedOptions) -> Request:
    from warpwatt.frontend.options import CompileOptions
    from warpwatt.published.resios.port import Request

    values, shapes = sizes(asked.arg)
    return Request(
        values,
        shapes,
        function=asked.function,
        options=CompileOptions(defines=asked.define, include=asked.include),
        assume_no_alias=asked.assume_no_alias,
        policy=asked.policy,
        run=asked.run,
        reorder=not asked.keep_order,
        context=_seconds(asked.context_ms),
        sequential=_seconds(asked.sequential_ms),
        pinned=asked.pinned,
    )


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def sizes(texts: tuple[str, ...]) -> tuple[dict[str, int | float], dict[str, tuple[int, ...]]]:
    """Return scalars and extents of arrays as typed.

    Raises
    ------
    ArgumentError
        If a text does not follow the grammar, or an array is given contents.

    >>> sizes(("n=8", "a=f32[2*n]"))
    ({'n': 8}, {'a': (16,)})
    """
    from warpwatt.core.arguments import Scalar, parse_arguments

    values, shapes = {}, {}
    for name, argument in parse_arguments(texts).items():
        if isinstance(argument, Scalar):
            values[name] = argument.value
        elif argument.assumed_fill:
            shapes[name] = argument.shape
        else:
            hint = "only its extents matter here"
            raise ArgumentError(f"argument {name!r}: contents of arrays are random", hint=hint)
    return values, shapes


def _write(
    found: list[Port], agreements: tuple[Agreement, ...], shape: PortFormat, writing: PortDestination
) -> None:
    from warpwatt.commands.output import table_context, write
    from warpwatt.published.resios.render import renderer

    context = table_context(colour=writing.output is None)
    text = renderer(shape)(found, agreements, context)
    write(text, writing.output)
