"""``warpwatt explain``: what limits a kernel, in sentences."""

from __future__ import annotations

import click

from warpwatt.commands import options as o


@click.command()
@o.input_argument
@o.gpu_option
@o.launch_options
@o.compilation_options
@o.model_options
def explain(
    source: str,
    gpu: str,
    launch: o.LaunchOptions,
    compilation: o.CompilationOptions,
    modelling: o.ModelOptions,
) -> None:
    """Say in sentences what limits a kernel and which numbers were assumed.

    INPUT is CUDA C++, PTX, a cubin, fatbin or executable, or - for stdin.
    """
    from warpwatt.commands.output import prediction_context  # noqa: PLC0415 - verbs load lazily
    from warpwatt.commands.session import Session  # noqa: PLC0415
    from warpwatt.render.explain import render  # noqa: PLC0415

    predictions = Session(source, gpu, compilation, modelling, advice=True).run(launch)
    click.echo(render(predictions, prediction_context(predictions)), nl=False)
