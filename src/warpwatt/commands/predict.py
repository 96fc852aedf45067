"""``warpwatt predict``: time, power and energy of a kernel launch, or of a whole application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from warpwatt.commands import options as o
from warpwatt.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.core.prediction import Prediction
    from warpwatt.request.launch_text import LaunchText
    from warpwatt.request.options import CompilationOptions, ModelOptions

ADVISING = (o.Format.JSON, o.Format.BRIEF, o.Format.HTML)
SORTS = ("time", "power", "energy", "gpu")


@dataclass(frozen=True, slots=True)
class Extras:
    """What is predicted beside the launch, and in which order the GPUs stand."""

    advice: bool | None = None
    clock_sweep: bool = True
    sort: str | None = None


extra_options = o.group(
    "extras",
    Extras,
    click.option(
        "--advice/--no-advice",
        default=None,
        help="Try what changes to the kernel would save.  [default: for JSON, brief and HTML]",
    ),
    click.option(
        "--clock-sweep/--no-clock-sweep",
        default=True,
        help="In HTML, show time, power and energy against the SM clock: up to 13 simulations a prediction.",
    ),
    click.option("--sort", type=click.Choice(SORTS), help="Order of a launch's GPUs.  [default: as given]"),
)


@click.command(epilog="An INPUT ending in .toml is an application: launches and copies on streams.")
@o.input_argument
@o.gpu_option
@o.launch_options
@o.compilation_options
@o.model_options
@o.output_options
@extra_options
def predict(
    source: str,
    gpu: str,
    launch: LaunchText,
    compilation: CompilationOptions,
    modelling: ModelOptions,
    writing: o.OutputOptions,
    extras: Extras,
) -> None:
    """Predict time, power and energy of a kernel launch, on one or many GPUs.

    INPUT is CUDA C++, PTX, a cubin, fatbin or executable, - for stdin, or a program's run that was saved.
    """
    from warpwatt.commands import saved_runs
    from warpwatt.commands.output import Writer
    from warpwatt.request.session import Session

    if source.endswith(".c") and any(model.endswith("resios") for model in modelling.model):
        raise UsageError(
            "model resios reads loops, not kernels", hint=f"warpwatt port {source} --arg n=VALUE"
        )
    writer = Writer.prepare(writing)
    session = Session(
        source,
        gpu,
        compilation,
        modelling,
        machine_code=writing_machine_code(writer.format),
        advice=writer.format in ADVISING if extras.advice is None else extras.advice,
    )
    if saved_runs.is_saved_run(source):
        saved_runs.check(launch)
        saved_runs.check_format(writer)
        saved_runs.write_run(writer, saved_runs.predict_saved_run(session))
    elif source.endswith(".toml"):
        from warpwatt.commands.applications import run_application

        writer.write_applications(run_application(session))
    elif writer.format == o.Format.HTML:
        from warpwatt.commands.reports import write_reports

        predictions = _ordered(session.run(launch), extras.sort)
        write_reports(writer, session, predictions, clock_sweep=extras.clock_sweep)
    else:
        writer.write_predictions(_ordered(session.run(launch), extras.sort))


def _ordered(predictions: Sequence[Prediction], key: str | None) -> Sequence[Prediction]:
    if key is None:
        return predictions
    from warpwatt.render.comparison import ordered

    return ordered(predictions, key)


def writing_machine_code(output_format: o.Format) -> bool:
    """Return whether an output shows machine code; without it the disassembler need not run."""
    return output_format == o.Format.HTML
