"""``warpwatt example``: the shipped kernels and files to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpwatt.core.errors import InputError, OutputExistsError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="Default: this folder."
)
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
def example(names: tuple[str, ...], output: Path | None, *, force: bool) -> None:
    r"""List the shipped kernels and files; with names, or `all`, write them.

    \b
      warpwatt example
      warpwatt example saxpy matmul
      warpwatt predict saxpy.cu
    """
    from warpwatt.storage.shipped import examples, summary

    shipped = examples()
    if not names:
        for file in shipped.values():
            click.echo(f"{file.name:14}  {summary(file.read_text(encoding='utf-8'))}")
        click.echo("\nwarpwatt example NAME writes one into this folder, `all` writes all.")
        return
    chosen = [file for name in names for file in _named(name, shipped)]
    folder = output or Path()
    for path in (folder / file.name for file in chosen):
        if path.exists() and not force:
            raise OutputExistsError("the file exists", file=path, hint="--force overwrites it")
    folder.mkdir(parents=True, exist_ok=True)
    for file in chosen:
        (folder / file.name).write_bytes(file.read_bytes())
        click.echo(f"wrote {folder / file.name}")


def _named(name: str, shipped: dict[str, Traversable]) -> list[Traversable]:
    """Return the files a name stands for: with or without its ending."""
    if name == "all":
        return list(shipped.values())
    found = shipped.get(name) or next((file for key, file in shipped.items() if Path(key).stem == name), None)
    if found is None:
        raise InputError(f"no example is called {name}", hint=f"there are {', '.join(shipped)}")
    return [found]
