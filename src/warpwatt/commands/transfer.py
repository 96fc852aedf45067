"""``warpwatt train --transfer``: a trained model carried over to another GPU by a few measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpwatt.core.errors import UsageError

if TYPE_CHECKING:
    from warpwatt.lab.learn.carry_over import CarriedOver
    from warpwatt.lab.learn.samples import Samples

SHIPPED = {"alavani-k20": "Tesla K20", "alavani-m60": "Tesla M60", "alavani-v100": "Tesla V100"}
"""Names of models that come with WarpWatt, and the released table of each."""
TITLES = {
    "mean": "Constant mean",
    "as it was": "Model as it was",
    "quantiles": "By quantiles",
    "line": "By a line",
}


def transfer(name: str, data: Path, output: Path, options: dict[str, object]) -> None:
    """Write the model for the GPU of the measurements and its card, and show what it gains."""
    from warpwatt.commands.tables import read_samples
    from warpwatt.lab.learn.card import render_markdown
    from warpwatt.lab.learn.carry_over import carry_over
    from warpwatt.models.trained.file import read, write

    if options["select"] or options["models"] or options["tune"]:
        raise UsageError(
            "--transfer keeps the model's features and trees", hint="leave out --select, --model, --tune"
        )
    model = read(_file(name))
    samples = read_samples(data, {**options, "target": model.target}, list(model.features))
    found = carry_over(model, samples)
    write(output, found.card, found.model)
    shown = output.with_suffix(".md")
    shown.write_text(render_markdown(found.card), encoding="utf-8")
    _show(samples, found)
    click.echo(f"{output}, {shown}")


def _file(name: str) -> Path:
    """Return the model's file, perhaps one that comes with WarpWatt."""
    if name not in SHIPPED:
        return Path(name)
    from warpwatt.published.alavani.power.model import model_file

    return model_file(SHIPPED[name])


def _show(samples: Samples, found: CarriedOver) -> None:
    """Write every method's errors, each row left out once."""
    gpu = next(iter(samples.gpus), "a GPU not stated")
    click.echo(f"{samples.target} on {gpu}, {len(samples)} measurements, each left out once")
    click.echo(f"{'':24}{'R²':>9}{'RMSE':>11}{'MAE':>11}{'MAPE %':>9}")
    for method, title in TITLES.items():
        errors = found.errors[method]
        mark = " (kept)" if method == found.method else ""
        click.echo(
            f"{title + mark:24}{errors.r2:9.3f}{errors.rmse:11.4g}{errors.mae:11.4g}{errors.mape:9.2f}"
        )
    for text in found.card["limits"]:
        click.echo(f"limit: {text}", err=True)
