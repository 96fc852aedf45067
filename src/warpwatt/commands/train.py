"""``warpwatt train``: from a table of measurements to a model file and its card."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpwatt.commands.progress import is_shown, show_bar
from warpwatt.core.errors import InputError, OutputExistsError

if TYPE_CHECKING:
    from warpwatt.lab.learn.samples import Floats, Samples
    from warpwatt.lab.learn.training import Trained, Training

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("data", type=_FILE)
@click.option("--target", type=click.Choice(["power", "time", "energy"]), default="power", show_default=True)
@click.option(
    "--split",
    type=click.Choice(["rows", "program"]),
    default="program",
    show_default=True,
    help="What is held out: whole programs, or rows whatever their program (as published).",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME|all",
    help="Regressor; of several the best is kept; all: the study's eight.",
)
@click.option("--tune", is_flag=True, help="Choose hyper-parameters inside the training rows.")
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True)
@click.option("--seeds", type=click.IntRange(min=1, max=100), default=5, show_default=True, help="How many.")
@click.option("--features", metavar="A,B,...", help="Columns to learn from.  [default: the published ones]")
@click.option("--program-column", metavar="NAME", help="In a table of your own: the program of each row.")
@click.option(
    "--target-column", metavar="NAME", help="In a table of your own: the measured value, in W, s or J."
)
@click.option(
    "--dwarf-column", metavar="NAME", help="Class of each row's program: errors are shown by class."
)
@click.option("--select", is_flag=True, help="Choose among the features first: correlated and weak ones go.")
@click.option(
    "--outliers",
    type=click.Choice(["keep", "drop"]),
    default="keep",
    show_default=True,
    help="Rows far out of HDBSCAN's clusters.",
)
@click.option(
    "--transfer",
    metavar="MODEL",
    help="Carry this model over to the GPU of DATA, about thirty measurements: a model file, alavani-k20, "
    "alavani-m60 or alavani-v100.",
)
@click.option("--gpu", metavar="NAME", help="GPU that the rows were measured on, where no column says so.")
@click.option("-o", "--output", type=_FILE, required=True, help="Model file; the card goes beside it (.md).")
@click.option("--report", type=_FILE, help="HTML page of the study's plots.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def train(data: Path, output: Path, report: Path | None, *, force: bool, **options: object) -> None:
    """Train a model on the measurements in DATA, a CSV file.

    Known layouts are recognised; a table of your own is described with --program-column, --target-column and
    --features. Every regressor is cross-validated beside the constant mean.
    """
    from warpwatt.commands.tables import read_samples
    from warpwatt.lab.learn.card import render_markdown
    from warpwatt.lab.learn.training import train as run
    from warpwatt.models.trained.file import write

    shown = output.with_suffix(".md")
    for file in (output, shown, *([report] if report else [])):
        _check(file, force=force)
    if options["transfer"] is not None:
        from warpwatt.commands.transfer import transfer

        transfer(str(options["transfer"]), data, output, options)
        return
    training = _training(options)
    samples, removed = _prepared(read_samples(data, options), options)
    with _progress(training.steps) as progress:
        trained = run(samples, training, progress)
    trained.card["not learned from"] = removed
    write(output, trained.card, trained.model)
    shown.write_text(render_markdown(trained.card), encoding="utf-8")
    if report:
        from warpwatt.render.training import page

        report.write_text(page(samples, trained), encoding="utf-8")
    _show(samples, trained)
    click.echo(", ".join(str(file) for file in (output, shown, report) if file))


def _prepared(samples: Samples, options: dict[str, object]) -> tuple[Samples, dict[str, str]]:
    """Return the samples without outliers and with selected features, where asked, and which features went.

    What went is written to stderr too.
    """
    if options["outliers"] == "drop":
        from warpwatt.lab.learn.diagnostics import inliers, outlier_scores

        kept = inliers(outlier_scores(samples))
        click.echo(f"outliers: {len(samples) - len(kept)} of {len(samples)} rows left out", err=True)
        left_out = {**samples.left_out, "outliers by HDBSCAN": len(samples) - len(kept)}
        samples = replace(samples.take(kept), left_out=left_out)
    removed: dict[str, str] = {}
    if options["select"]:
        from warpwatt.lab.learn.selection import select

        selection = select(samples)
        removed = dict(selection.removed)
        for name, reason in removed.items():
            click.echo(f"not learned from: {name}, {reason}", err=True)
        samples = samples.only(selection.kept)
    return samples, removed


def _training(options: dict[str, object]) -> Training:
    from warpwatt.lab.learn.evaluate import Split
    from warpwatt.lab.learn.regressors import regressor
    from warpwatt.lab.learn.training import BEST_PUBLISHED, Training

    models, folds, seeds = options["models"], options["folds"], options["seeds"]
    assert isinstance(models, tuple)
    assert isinstance(folds, int)
    assert isinstance(seeds, int)
    names = tuple(dict.fromkeys(one for name in models or (BEST_PUBLISHED,) for one in _regressors(name)))
    for name in names:
        regressor(name)
    return Training(names, Split(str(options["split"])), tuple(range(seeds)), folds, bool(options["tune"]))


def _regressors(name: str) -> tuple[str, ...]:
    """Return the regressors of a name: of ``all`` the study's eight whose packages are installed."""
    if name != "all":
        return (name,)
    from warpwatt.lab.learn.errors import MissingPackageError, import_optional
    from warpwatt.lab.learn.regressors import STUDY, regressor

    found = []
    for one in STUDY:
        try:
            regressor(one).build(0)
            if one == "ann":  # a network loads its package when it is trained
                import_optional("torch")
        except MissingPackageError as error:
            click.echo(f"{one} left out: {error}; {error.hint}", err=True)
        else:
            found.append(one)
    return tuple(found)


def _check(file: Path, *, force: bool) -> None:
    """Refuse a file that exists, or whose folder does not."""
    if file.exists() and not force:
        raise OutputExistsError("the output file exists", file=file, hint="--force overwrites it")
    if not file.parent.is_dir():
        raise InputError("no such folder", file=file.parent)


@contextmanager
def _progress(steps: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on a terminal, nothing elsewhere."""
    if not is_shown():
        yield lambda _: None
        return
    with show_bar() as bar:
        task = bar.add_task("training", total=steps)
        yield lambda text: bar.update(task, advance=1, description=text)


def _show(samples: Samples, trained: Trained) -> None:
    """Write the figures of every regressor beside the constant mean."""
    kept = trained.kept
    programs = len(set(samples.programs))
    click.echo(f"{samples.target}, {len(samples)} rows of {programs} programs, split by {kept.split}")
    click.echo(f"{'':24}{'R²':>9}{'RMSE':>11}{'MAE':>11}{'MAPE %':>9}{'train s':>9}")
    for each in trained.evaluations:
        found = each.mean if kept.split == "rows" else each.pooled
        figures = f"{found.r2:9.3f}{found.rmse:11.4g}{found.mae:11.4g}{found.mape:9.2f}"
        click.echo(f"{each.regressor.title:24}{figures}{each.train_s:9.2f}")
    _show_dwarfs(samples, kept.runs[0].predicted)
    for text in trained.card["limits"]:
        click.echo(f"limit: {text}", err=True)


def _show_dwarfs(samples: Samples, predicted: Floats) -> None:
    """Write each class's rows, measured range and error, where the table or the study classes programs."""
    from warpwatt.lab.learn.evaluate import by_group

    found = by_group(samples, predicted, samples.dwarfs) if any(samples.dwarfs) else {}
    if found:
        click.echo(f"{'dwarf':34}{'rows':>6}{'lowest':>10}{'median':>10}{'highest':>10}{'MAPE %':>9}")
    for name, errors in found.items():
        low, middle, high = quantiles_of(samples, name)
        rows = samples.dwarfs.count(name)
        click.echo(f"{name:34}{rows:6}{low:10.4g}{middle:10.4g}{high:10.4g}{errors.mape:9.2f}")


def quantiles_of(samples: Samples, dwarf: str) -> tuple[float, float, float]:
    """Return the least, middle and largest measurement of a class of programs."""
    from statistics import median

    measured = sorted(y for y, name in zip(samples.y.tolist(), samples.dwarfs, strict=True) if name == dwarf)
    return measured[0], median(measured), measured[-1]
