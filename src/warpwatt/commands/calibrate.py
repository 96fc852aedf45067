"""``warpwatt calibrate``: from what was measured on a GPU to its constants."""

from __future__ import annotations

from pathlib import Path

import click

from warpwatt.core.errors import InputError, OutputExistsError

_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)
CORPUS = Path("corpus")


@click.command()
@click.argument("results", type=click.Path(path_type=Path, file_okay=False))
@click.option("-o", "--output", type=_FILE, required=True, help="TOML file of the constants.")
@click.option(
    "--corpus", type=_FOLDER, help="Programs whose power was measured.  [default: corpus, if there]"
)
@click.option("--page", type=_FILE, help="HTML page of all fits.  [default: beside the TOML file]")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def calibrate(results: Path, output: Path, corpus: Path | None, page: Path | None, *, force: bool) -> None:
    """Fit a GPU's constants to what is in RESULTS, a folder that `measure` wrote.

    Microbenchmarks (micro.csv) give latencies, rates and energies; the power of the corpus (power.csv) gives
    the coefficients of the component power model, which needs the programs and their compiler. A file in the
    folder `calibrations` of your GPU folder counts from then on, constant by constant, before WarpWatt's own.
    Each constant has its standard error, number of points and R²; the page shows every fit.
    """
    from warpwatt.lab.measure import calibration
    from warpwatt.render import calibration as calibration_page

    shown = page or output.with_suffix(".html")
    for file in (output, shown):
        _check(file, force=force)
    found = calibration.calibrate(results, corpus or (CORPUS if CORPUS.is_dir() else None))
    output.write_text(calibration.to_toml(found), encoding="utf-8")
    shown.write_text(calibration_page.page(found), encoding="utf-8")
    rows = ", ".join(f"{count} {status}" for status, count in found.rows.items())
    click.echo(f"{found.gpu}: {len(found.constants)} constants from {sum(found.rows.values())} rows ({rows})")
    for text in found.missing:
        click.echo(f"not determined: {text}", err=True)
    click.echo(f"{output}, {shown}")


def _check(file: Path, *, force: bool) -> None:
    """Refuse a file that exists, or whose folder does not."""
    if file.exists() and not force:
        raise OutputExistsError("the output file exists", file=file, hint="--force overwrites it")
    if not file.parent.is_dir():
        raise InputError("no such folder", file=file.parent)
