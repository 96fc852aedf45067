"""The command line's entry point: verbs, errors, exit codes.

Verbs are loaded when they are named; nothing heavy is imported here.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path

import click

from warpwatt.commands.kept import HELP, keeping_answer, repeat_answer
from warpwatt.commands.progress import show_steps
from warpwatt.core.errors import InputError, UsageError, WarpWattError
from warpwatt.core.version import __version__

# No linear algebra here: starting a thread per core would double the time numpy takes to load.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


VERBS: Mapping[str, str] = {
    "predict": "warpwatt.commands.predict:predict",
    "sweep": "warpwatt.commands.sweep:sweep",
    "recommend": "warpwatt.commands.recommend:recommend",
    "explain": "warpwatt.commands.explain:explain",
    "compare": "warpwatt.commands.compare:compare",
    "rank": "warpwatt.commands.rank:rank",
    "tune": "warpwatt.commands.tune:tune",
    "check": "warpwatt.commands.check:check",
    "features": "warpwatt.commands.features:features",
    "port": "warpwatt.commands.port:port",
    "gpus": "warpwatt.commands.gpus:gpus",
    "run": "warpwatt.commands.run:run",
    "nvcc": "warpwatt.commands.nvcc:nvcc",
    "clang": "warpwatt.commands.clang:clang",
    "models": "warpwatt.commands.models:models",
    "calibrate": "warpwatt.commands.calibrate:calibrate",
    "lsp": "warpwatt.commands.lsp:lsp",
    "mcp": "warpwatt.commands.mcp:mcp",
    "doctor": "warpwatt.commands.doctor:doctor",
    "measure": "warpwatt.commands.measure:measure",
    "serve": "warpwatt.commands.serve:serve",
    "simulate": "warpwatt.commands.simulate:simulate",
    "train": "warpwatt.commands.train:train",
    "example": "warpwatt.commands.example:example",
}


SETTABLE = (
    "predict", "explain", "compare", "rank", "features", "run", "simulate", "tune", "port",
    "sweep", "recommend",
)  # fmt: skip
"""Verbs that take what the project's ``pyproject.toml`` says."""
COMPUTING = (*SETTABLE, "check", "gpus", "models")
"""Verbs that load much and end soon."""
VARYING = ("sweep", "recommend")
"""Verbs that compare clocks, and are not to be held to one."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class _LazyGroup(click.Group):
    """A group that imports a verb's module when the verb is used or listed."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(VERBS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; one that is not there is answered with those that come near."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], VERBS, n=2)
            hint = f"did you mean {' or '.join(near)}?" if near else "warpwatt --help lists all"
            raise UsageError(f"no verb {args[0]!r}", hint=hint)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        path = VERBS.get(cmd_name)
        if path is None:
            return None
        module, _, attribute = path.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        if command.help:  # click's mark of lines to keep is a control character; docstrings are raw
            command.help = command.help.replace("\\b\n", "\b\n")
        return command


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 good, 1 bad input, 2 command line, 3 GPU or tools, 4 budget exceeded, 130 Ctrl-C.",
)
@click.version_option(__version__, "-V", "--version", prog_name="warpwatt")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Time, power and energy of CUDA kernels, predicted without running them and without a GPU."""
    verb = ctx.invoked_subcommand
    if verb not in SETTABLE:
        return
    from warpwatt.commands.options import FILE
    from warpwatt.request.settings import project_settings, user_settings

    project, own = project_settings(Path.cwd()), user_settings()
    for remark in project.remarks:
        click.echo(f"note: {remark}", err=True)
    varied = ("clock",) if verb in VARYING else ()
    said = {key: v for key, v in {**project.values, **own.values}.items() if key not in varied}
    ctx.default_map = {verb: said}
    ctx.meta[FILE] = {key: own.file if key in own.values else project.file for key in said}


def _starting(words: Sequence[str]) -> AbstractContextManager[None]:
    """Return the context in which a verb that computes takes from disk what every start would make anew."""
    if not words or words[0] not in COMPUTING or words[-1] in HELP:
        return nullcontext()
    from warpwatt.storage.start import keeping_start

    return keeping_start(words[0])


def main() -> None:
    """Run the command line and end the process with the right exit code."""
    gc.set_threshold(500_000)  # a short process that mostly loads code: collecting costs a tenth of it
    atexit.register(gc.freeze)  # and collecting what the end of the process frees as much
    words = sys.argv[1:]
    try:
        if repeat_answer(words):
            return
        with show_steps(), keeping_answer(words), _starting(words):
            app.main(standalone_mode=True)
    except WarpWattError as error:
        report(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # the reader of our output has gone (``| head``): not an error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if error.errno not in FULL:
            raise
        problem = f"cannot write: {(error.strerror or str(error)).lower()}"
        report(
            InputError(
                problem, file=error.filename, hint="make room, or write elsewhere; what was written is kept"
            )
        )
        sys.exit(InputError.exit_code)


def report(error: WarpWattError) -> None:
    """Write an expected failure to stderr: what, the compiler's own lines, and what to do."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    click.secho(f"error: {error}", fg=None if plain else "red", err=True)
    if error.details:
        click.echo(error.details.rstrip(), err=True)
    if error.hint:
        click.echo(f"  fix: {error.hint}", err=True)
