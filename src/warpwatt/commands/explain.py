"""``warpwatt explain``: what limits a kernel, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warpwatt.commands import options as o

if TYPE_CHECKING:
    from warpwatt.request.launch_text import LaunchText
    from warpwatt.request.options import CompilationOptions, ModelOptions


@click.command()
@o.input_argument
@o.gpu_option
@o.launch_options
@o.compilation_options
@o.model_options
def explain(
    source: str,
    gpu: str,
    launch: LaunchText,
    compilation: CompilationOptions,
    modelling: ModelOptions,
) -> None:
    """Say in sentences what limits a kernel and which numbers were assumed.

    INPUT is CUDA C++, PTX, a cubin, fatbin or executable, or - for stdin.
    """
    from warpwatt.commands.output import prediction_context
    from warpwatt.render.explain import render
    from warpwatt.request.session import Session

    predictions = Session(source, gpu, compilation, modelling, advice=True).run(launch)
    click.echo(render(predictions, prediction_context(predictions)), nl=False)
