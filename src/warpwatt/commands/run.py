"""``warpwatt run``: a whole program, its launches predicted."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from warpwatt.commands import options as o
from warpwatt.core.errors import InputError, InterruptedProgramError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.core.gpu import Gpu
    from warpwatt.request.options import ModelOptions
    from warpwatt.run.client import Bounds
    from warpwatt.run.result import RunResult
    from warpwatt.run.session import Wanted


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Limits of a run, in seconds, MiB and launches, the files it leaves beside its account, L2 before."""

    budget: float = 60.0
    timeout: float | None = None
    memory: int | None = None
    launches: int | None = None
    trace: Path | None = None
    save: Path | None = None
    l2: str = "previous"
    timing_only: bool | None = None


run_options = o.group(
    "running",
    RunOptions,
    click.option(
        "--budget",
        type=click.FloatRange(0),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="CPU time for computing kernels, and as much for predicting.",
    ),
    click.option(
        "--timeout", type=click.FloatRange(0), metavar="SECONDS", help="End the program after this time."
    ),
    click.option(
        "--memory",
        type=click.IntRange(1),
        metavar="MIB",
        help="End the program beyond this memory of its own.",
    ),
    click.option(
        "--launches",
        type=click.IntRange(1),
        metavar="N",
        help="End the program once it has launched so many kernels.",
    ),
    click.option(
        "--l2",
        type=click.Choice(["cold", "previous"]),
        default="previous",
        show_default=True,
        help="What L2 holds before a launch: what was left there, or nothing, as Nsight Compute measures.",
    ),
    click.option(
        "--timing-only/--computed",
        default=None,
        help="Predict times without computing large results; default: PyTorch beyond 256 MiB of memory.",
    ),
    click.option(
        "--trace",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write a timeline for Perfetto or chrome://tracing.",
    ),
    click.option(
        "--save",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Keep the run, to predict it again: warpwatt predict, sweep or recommend FILE",
    ),
)


class _Command(click.Command):
    """A command whose options may also stand behind a source, in front of ``--``; nvcc gets the others."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move our options in front of the source."""
        place = next((k for k, word in enumerate(args) if word.endswith(".cu")), None)
        if place is None or "--" in args[:place]:
            return super().parse_args(ctx, args)
        end = args.index("--") if "--" in args else len(args)
        own, others = self._split(args[place + 1 : end])
        return super().parse_args(ctx, [*args[:place], *own, args[place], *others, *args[end:]])

    def _split(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Return our options with their values, and the compiler's."""
        known = {name: p for p in self.params if isinstance(p, click.Option) for name in p.opts}
        own: list[str] = []
        others: list[str] = []
        waiting = iter(words)
        for word in waiting:
            name, equals, _ = word.partition("=")
            option = known.get(name if name.startswith("--") else word)
            if option is None:
                others.append(word)
                continue
            own.append(word)
            own += [] if option.is_flag or equals else [next(waiting, "")]
        return own, others


@click.command(
    cls=_Command,
    context_settings={"allow_interspersed_args": False},
    epilog="The program runs on this machine with your rights: do not run what you do not trust.",
)
@o.gpu_option
@o.model_options
@o.output_options
@run_options
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARGS]...")
def run(
    gpu: str,
    modelling: ModelOptions,
    writing: o.OutputOptions,
    running: RunOptions,
    words: tuple[str, ...],
) -> None:
    r"""Run a CUDA program without a GPU and predict what its kernels and copies cost.

    \b
    warpwatt run app.cu [nvcc flags] -- ARGS  compile a program and run it
    warpwatt run ./app ARGS       made by `warpwatt nvcc`, or nvcc -cudart shared
    warpwatt run python train.py  PyTorch, Triton, Numba, cuda-python; python -m
    warpwatt run FILE             a run that --save kept; so do predict, sweep ...

    Host code runs here; a stand-in for the CUDA runtime sees every launch with its arguments and data.
    Kernels are computed when the host, or a later launch, needs what they wrote. Host time is this machine's.
    """
    from warpwatt.commands.output import Writer
    from warpwatt.commands.saved_runs import check_format, write_run
    from warpwatt.request.choices import complete_gpus, model_choice, note, parse_clocks
    from warpwatt.request.measured import MeasuredLaunches
    from warpwatt.run.client import Bounds
    from warpwatt.run.session import Wanted

    writer = Writer.prepare(writing)
    check_format(writer)
    for path in (running.trace, running.save):
        if path is not None:
            Writer.check(path, force=writing.force)
    gpus = complete_gpus(gpu, power_limit=modelling.power_limit)
    clocks = [parse_clocks(modelling.clock, each) for each in gpus]
    only = gpus[0] if len(gpus) == 1 else None
    measured = MeasuredLaunches.read(modelling.profile, modelling.profile_arg, only)
    cold = running.l2 == "cold"
    wanted = Wanted(
        gpus, model_choice(modelling), clocks, running.budget, note, cold, measured, running.timing_only
    )
    output = None if writer.output is not None or writer.format == o.Format.TEXT else sys.stderr
    bounds = Bounds(running.timeout, running.memory and running.memory << 20, running.launches)
    result = _result(words, wanted, bounds, output, running.save)
    interrupted = bool(result.reason) and result.status == -signal.SIGINT
    if not (interrupted and result.is_empty):
        write_run(writer, result, running.trace, _after_end(result, words))
    if interrupted:
        raise InterruptedProgramError(result.ended)
    if result.status or result.read_lost:
        raise InputError(result.ended, hint=_after_end(result, words))


def _after_end(result: RunResult, words: Sequence[str]) -> str:
    """Return what may help with a program that ended badly, or asked for nothing."""
    if result.reason:
        return "--launches N ends a long program after so many launches, --budget SECONDS bounds computing"
    if result.read_lost:
        return "--budget SECONDS computes more; --budget 0 computes nothing, for times alone: reads succeed"
    return _why_empty(result, words) if result.is_empty else ""


def _why_empty(result: RunResult, words: Sequence[str]) -> str:
    """Return why a program may have asked nothing of the GPU."""
    from warpwatt.run.python import script_place

    if words[0].endswith(".cu") and "--" not in words:
        return f"if it takes arguments, they stand behind --: warpwatt run {words[0]} -- ARGS"
    if script_place(words) is not None:
        return "PyTorch without CUDA computes on the CPU, unseen; python -S, -E and -I keep our device away"
    if not result.program:
        return "it did not call CUDA; child processes see no GPU, nor do programs that hold another libcudart"
    return "it asked for the GPU's properties at most; launches that CUDA refuses are named above"


def _result(
    words: Sequence[str], wanted: Wanted, bounds: Bounds, output: IO[str] | None, save: Path | None
) -> RunResult:
    """Run the program, compiled first if it is a source, or predict a saved run again."""
    from tempfile import TemporaryDirectory

    from warpwatt.run.python import script_place
    from warpwatt.run.recording import Recording, is_recording
    from warpwatt.run.session import rerun, run

    if is_recording(Path(words[0])):
        return rerun(Recording(Path(words[0])), wanted)
    with TemporaryDirectory(prefix="warpwatt-run-") as folder:
        command = _command(words, wanted.gpus, Path(folder), for_all=save is not None)
        result = run(command, wanted, bounds, output, save)
    script = script_place(words)
    return result if script is None else replace(result, program=words[script])


def _command(words: Sequence[str], gpus: Sequence[Gpu], folder: Path, *, for_all: bool) -> list[str]:
    """Return the command to run; a source is compiled first, with the flags in front of ``--``."""
    from warpwatt.run.build import SOURCES, check_runtime, compile_program

    if words[0].endswith(".py"):
        return [sys.executable, *words]
    program, rest = Path(words[0]), list(words[1:])
    if program.suffix in SOURCES:
        split = rest.index("--") if "--" in rest else len(rest)
        made = compile_program(program, rest[:split], [gpu.target for gpu in gpus], folder, for_all=for_all)
        return [str(made.absolute()), *rest[split + 1 :]]
    if program.is_file():
        check_runtime(program)
        return [str(program.absolute()), *rest]
    return list(words)
