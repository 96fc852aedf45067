"""``warpwatt doctor``: what was found on this machine, what is missing, and the command that mends it."""

from __future__ import annotations

import sys

import click

MARKS = {"good": ("ok", "green"), "missing": ("MISSING", "red"), "note": ("note", "yellow")}


@click.command()
def doctor() -> None:
    """Check compilers, headers and cache; exit 3 if something needed is missing."""
    from warpwatt.frontend.doctor import Status, examine

    checks = examine()
    width = max(len(check.what) for check in checks)
    for check in checks:
        mark, colour = MARKS[check.status.value]
        click.echo(f"{click.style(f'{mark:>7}', fg=colour)}  {check.what:<{width}}  {check.found}")
        if check.fix and check.status != Status.GOOD:
            click.echo(f"{'':>9}{'':<{width}}  fix: {check.fix}")
    if any(check.status == Status.MISSING for check in checks):
        sys.exit(3)
