"""What verbs that take a source do with a run that ``warpwatt run --save`` kept; how a run is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.commands.output import Writer
    from warpwatt.request.launch_text import LaunchText
    from warpwatt.request.session import Session
    from warpwatt.run.result import RunResult

_ZIP = b"PK\x03\x04"


def is_saved_run(name: str) -> bool:
    """Whether a file is a run that was saved; its first bytes are looked at before anything is loaded."""
    path = Path(name)
    try:
        with path.open("rb") as file:
            if file.read(len(_ZIP)) != _ZIP:
                return False
    except OSError:
        return False
    from warpwatt.run.recording import is_recording

    return is_recording(path)


def check(launch: LaunchText) -> None:
    """Raise :class:`~warpwatt.core.errors.UsageError` where a launch is described: a run has its own."""
    from warpwatt.core.errors import UsageError
    from warpwatt.request.launch_text import LaunchText

    if launch != LaunchText():
        hint = "leave out --kernel, --grid, --block, --cluster, --shared, --l2, --arg, --args and --loop"
        raise UsageError("a saved run has its own launches", hint=hint)


def check_format(writer: Writer) -> None:
    """Raise :class:`~warpwatt.core.errors.UsageError` for a format that runs are not written in."""
    from warpwatt.commands.options import Format
    from warpwatt.core.errors import UsageError

    if writer.format not in (Format.TEXT, Format.JSON, Format.HTML):
        raise UsageError(f"a run is not written as {writer.format}", hint="--format json")


def predict_saved_run(session: Session) -> RunResult:
    """Return what a saved run comes to on the session's GPUs, at its clocks."""
    from warpwatt.request.choices import complete_gpus, model_choice, note, parse_clocks
    from warpwatt.request.measured import MeasuredLaunches
    from warpwatt.run.recording import Recording
    from warpwatt.run.session import Wanted, rerun

    gpus = complete_gpus(session.gpus, power_limit=session.modelling.power_limit)
    clocks = [parse_clocks(session.modelling.clock, gpu) for gpu in gpus]
    said = session.modelling
    only = gpus[0] if len(gpus) == 1 else None
    measured = MeasuredLaunches.read(said.profile, said.profile_arg, only)
    wanted = Wanted(gpus, model_choice(said), clocks, notify=note, measured=measured)
    return rerun(Recording(session.file), wanted)


def write_run(writer: Writer, result: RunResult, trace: Path | None = None, hint: str = "") -> None:
    """Write the account of the run, and its timeline; refuse to account for nothing."""
    from warpwatt.commands.output import prediction_context, write
    from warpwatt.core.errors import InputError
    from warpwatt.render.registry import run_renderer

    if result.is_empty:
        nothing = "nothing to predict: the program launched no kernel, copied nothing and called no library"
        raise InputError(result.ended or nothing, hint=hint)
    predictions = [p for run in result.runs for p in run.predictions]
    context = prediction_context(predictions, verbose=writer.verbose, colour=writer.output is None)
    writer.write_text(run_renderer(writer.format)(result, context))
    if trace is not None:
        write(run_renderer("trace")(result, context), trace)
