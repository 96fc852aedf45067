"""``warpwatt measure``: run the corpus on a real GPU and write what was measured."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpwatt.commands.progress import is_shown
from warpwatt.core.errors import InputError, UsageError

if TYPE_CHECKING:
    from warpwatt.lab.measure.bench import Point
    from warpwatt.lab.measure.campaign import Outcome, Watcher
    from warpwatt.lab.measure.choice import PointChoice
    from warpwatt.lab.measure.results import Group, Store
    from warpwatt.lab.measure.runner import Options

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.option("--corpus", type=_FOLDER, default=Path("corpus"), show_default=True, help="Programs.")
@click.option("--output", type=_FOLDER, help="Results.  [default: data/measured]")
@click.option("--prepare", type=_FOLDER, help="Only compile all programs into this folder; needs no GPU.")
@click.option("--target", default="sm_90", show_default=True, help="What --prepare compiles for.")
@click.option("--prepared", type=_FOLDER, help="Folder written by --prepare; without it, compile now.")
@click.option("--budget", type=click.FloatRange(min=0), metavar="S", help="End before so many seconds.")
@click.option(
    "--protocol", type=click.Choice(["time", "power", "micro", "all"]), default="all", show_default=True
)
@click.option(
    "--only", multiple=True, metavar="PATTERN", help="Points such as 'time matmul*/large'; may be repeated."
)
@click.option("--redo", default="", metavar="STATUS[,...]", help="Measure points of this status again.")
@click.option("--power-seconds", type=click.FloatRange(min=2), default=2.0, show_default=True, metavar="S")
@click.option("--repeats", type=click.IntRange(min=32), default=32, show_default=True, metavar="N")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides the order of equal points.")
@click.option("--device", type=click.IntRange(min=0), default=0, show_default=True, help="Which GPU.")
@click.option("--workers", type=click.IntRange(min=0), help="Processes that compute inputs and references.")
@click.option("--simulate", is_flag=True, help="Measure a simulated GPU; needs --output.")
def measure(prepare: Path | None, **values: Any) -> None:
    """Measure time and power of every program of the corpus on this machine's GPU.

    Results are appended to CSV files; run it again to go on where it ended. See data/measured/README.md.
    """
    if prepare is not None:
        _prepare(values["corpus"], prepare, values["target"], _choice(values))
        return
    options = _options(values)
    with ExitStack() as stack:
        outcome = _run(options, _Progress(stack))
    click.echo(f"{options.output}: {outcome}")


def _choice(values: dict[str, Any]) -> PointChoice:
    from warpwatt.lab.measure.choice import PROTOCOLS, PointChoice

    protocol = values["protocol"]
    return PointChoice(PROTOCOLS if protocol == "all" else (protocol,), values["only"])


def _prepare(folder: Path, into: Path, target: str, choice: PointChoice) -> None:
    from warpwatt.lab.measure.corpus import Corpus
    from warpwatt.lab.measure.prepare import prepare

    corpus = Corpus.load(folder)
    with ExitStack() as stack:
        progress = _Progress(stack)
        progress.start(len(corpus))
        count = prepare(corpus, into, target, lambda name: progress.move(1, name), choice)
    click.echo(f"{into}: {count} of {len(corpus)} programs compiled for {target}")


def _options(values: dict[str, Any]) -> Options:
    from warpwatt.lab.measure.protocol import Settings, Status
    from warpwatt.lab.measure.runner import Options, default_workers
    from warpwatt.lab.measure.simulated import Behaviour

    if values["simulate"] and values["output"] is None:
        raise UsageError("--simulate needs --output: made-up figures must not mix with measured ones")
    redo = tuple(word for word in values["redo"].split(",") if word)
    if unknown := set(redo) - set(Status):
        raise InputError(f"--redo: no status {min(unknown)!r}", hint=f"one of: {', '.join(Status)}")
    workers = values["workers"]
    return Options(
        corpus=values["corpus"],
        output=values["output"] or Path("data/measured"),
        prepared=values["prepared"],
        budget=values["budget"],
        choice=_choice(values),
        redo=redo,
        seed=values["seed"],
        device=values["device"],
        workers=default_workers() if workers is None and not values["simulate"] else workers or 0,
        settings=Settings(repeats=values["repeats"], power_seconds=values["power_seconds"]),
        behaviour=Behaviour() if values["simulate"] else None,
    )


def _run(options: Options, watcher: Watcher) -> Outcome:
    if options.behaviour is not None:
        from warpwatt.lab.measure.runner import run

        return run(options, watcher)
    from warpwatt.lab.measure.driver import bindings
    from warpwatt.lab.measure.supervisor import supervise

    bindings()  # says what is missing before anything is started
    return supervise(options, watcher)


class _Progress:
    """A progress bar on stderr if that is a terminal, nothing otherwise; it watches a campaign."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._bar: Any = None

    def start(self, count: int, files: Store | None = None) -> None:
        """Draw the bar."""
        del files
        if is_shown():
            bar = click.progressbar(length=count, file=sys.stderr, item_show_func=lambda item: item or "")
            self._bar = self._stack.enter_context(bar)

    def begin(self, point: Point, groups: list[Group], limit: float) -> None:
        """Name the point."""
        del groups, limit
        self.move(0, point.label)

    def end(self, point: Point, status: str) -> None:
        """Move on."""
        del status
        self.move(1, point.label)

    def move(self, steps: int, label: str) -> None:
        """Move on by some steps and show a label."""
        if self._bar is not None:
            self._bar.update(steps, label)
