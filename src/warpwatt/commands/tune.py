"""``warpwatt tune``: the best configuration of a kernel by prediction, and how sure that is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpwatt.commands import options as o
from warpwatt.core.errors import UsageError
from warpwatt.core.objective import Objective

if TYPE_CHECKING:
    from warpwatt.choose.tuned import Aim
    from warpwatt.choose.tuning import Config, Found
    from warpwatt.request.launch_text import LaunchText
    from warpwatt.request.options import CompilationOptions, ModelOptions
    from warpwatt.request.session import Session

EXPERTS = ("vllm-moe", "sglang-moe")
SHOWN = 5


@dataclass(frozen=True, slots=True)
class LayerOptions:
    """A mixture of experts, as typed."""

    experts: int | None = None
    n: int | None = None
    hidden: int = 2048
    top_k: int = 8
    tokens: str = ""
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class SpaceOptions:
    """What is varied beside ``-D``, how long it is searched, and where the result goes."""

    space: Path | None = None
    where: tuple[str, ...] = ()
    budget: int = 24
    output: Path | None = None
    force: bool = False


layer_options = o.group(
    "layer",
    LayerOptions,
    click.option("--experts", type=click.IntRange(1), help="vllm-moe: experts (E)."),
    click.option("--n", type=click.IntRange(1), help="vllm-moe: width inside an expert (N)."),
    click.option(
        "--hidden", type=click.IntRange(1), default=2048, show_default=True, help="vllm-moe: width."
    ),
    click.option("--top-k", type=click.IntRange(1), default=8, show_default=True, help="vllm-moe."),
    click.option("--tokens", default="", metavar="M[,M...]", help="vllm-moe.  [default: vLLM's 18]"),
    click.option(
        "--file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="vllm-moe: the project's fused_moe.py.  [default: that of an installed vllm or sglang]",
    ),
)
space_options = o.group(
    "searching",
    SpaceOptions,
    click.option(
        "--space",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Parameters and values, as Kernel Tuner's tune_params in JSON.",
    ),
    click.option("--where", multiple=True, metavar="A<=B", help="Only combinations for which this holds."),
    click.option(
        "--budget", type=click.IntRange(1), default=24, show_default=True, help="Predictions of each search."
    ),
    click.option(
        "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write JSON to a file."
    ),
    click.option("--force", is_flag=True, help="Overwrite the file."),
)


@click.command(epilog="A search that was stopped goes on where it was, if -o is given.")
@click.argument("source", metavar="INPUT|vllm-moe")
@click.option("--gpu", default="h200", show_default=True, metavar="NAME", help="GPU to tune for.")
@click.option(
    "--by",
    type=o.EnumChoice(Objective),
    default=Objective.TIME.value,
    show_default=True,
    help="What should be small.",
)
@layer_options
@space_options
@o.launch_options
@o.compilation_options
@o.model_options
def tune(
    source: str,
    gpu: str,
    by: Objective,
    layer: LayerOptions,
    searching: SpaceOptions,
    launch: LaunchText,
    compilation: CompilationOptions,
    modelling: ModelOptions,
) -> None:
    r"""Search for the best configuration by prediction; the GPU need not be there.

    A kernel's space is what -D, --space or its own @triton.autotune names. vllm-moe is the fused mixture of
    experts of vLLM and SGLang (bf16); its result is the file that these projects load.

    \b
    warpwatt tune vllm-moe --experts 128 --n 768 --gpu rtx-5090 -o E=128,....json
    warpwatt tune matmul.py --kernel matmul_kernel --gpu a100 ...
    warpwatt tune kernel.cu -D TILE=8,16,32 -D UNROLL=1,2 --where 'TILE*UNROLL<32'
    """
    from warpwatt.choose.tuned import Aim
    from warpwatt.choose.tuning import Journal
    from warpwatt.commands.output import Writer, write
    from warpwatt.request.session import Session
    from warpwatt.storage.witness import witnessed

    output = searching.output
    if output is not None:
        Writer.check(output, force=searching.force)
    partial = None if output is None else output.with_name(f"{output.name}.partial")
    with witnessed() as heard:
        journal = Journal(partial, heard, force=searching.force)
        aim = Aim(by, searching.budget, journal)
        if source in EXPERTS:
            session = Session("", gpu, compilation, modelling)
            text = _layers(session, layer, aim)
        else:
            text = _kernel(Session(source, gpu, compilation, modelling), launch, searching, aim)
    write(text, output)
    journal.end()


def _layers(session: Session, asked: LayerOptions, aim: Aim) -> str:
    """Return the file that vLLM and SGLang load: numbers of tokens, each with its configuration."""
    from warpwatt.choose.mixture import TOKENS, Experts, installed
    from warpwatt.choose.tuned import tune_experts

    if asked.experts is None or asked.n is None:
        raise UsageError("no layer: how many experts, and how wide?", hint="--experts 128 --n 768")
    try:
        tokens = [int(text) for text in asked.tokens.split(",")] if asked.tokens else list(TOKENS)
    except ValueError:
        raise UsageError(f"no numbers of tokens: {asked.tokens!r}", hint="--tokens 1,64,1024") from None
    file = asked.file or installed()
    chosen = {}
    for number in tokens:
        layer = Experts(number, asked.experts, asked.top_k, asked.hidden, asked.n)
        found = tune_experts(session, file, layer, aim)
        chosen[str(number)] = dict(found.order[0].config)
        _tell(f"{number} tokens", found)
    return json.dumps(chosen, indent=4) + "\n"


def _kernel(session: Session, launch: LaunchText, searching: SpaceOptions, aim: Aim) -> str:
    """Return the order of a kernel's configurations as JSON."""
    from warpwatt.choose.tuned import combinations, read_space, space_of, tune_kernel

    fixed, varied = _parameters(session.compilation.define)
    if searching.space is not None:
        varied = {**read_space(searching.space), **varied}
    session = replace(session, compilation=replace(session.compilation, define=fixed))
    names = {name: values[0] for name, values in _parameters([f"{text}," for text in fixed])[1].items()}
    space = combinations(varied, searching.where, names) if varied else space_of(session, launch)
    if not space:
        raise UsageError("no combination is left", hint="loosen --where")
    found = tune_kernel(session, launch, space, aim)
    _tell(launch.kernel or Path(str(session.file)).name, found)
    return json.dumps(_document(found), indent=2) + "\n"


def _parameters(define: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Sequence[object]]]:
    """Return the macros with one value, and those with several: ``TILE=8,16,32``."""
    fixed: list[str] = []
    varied: dict[str, Sequence[object]] = {}
    for text in define:
        name, _, values = text.partition("=")
        several = values.split(",")
        if len(several) == 1:
            fixed.append(text)
        else:
            varied[name] = [int(value) if value.strip().isdecimal() else value for value in several]
    return tuple(fixed), varied


def _tell(title: str, found: Found) -> None:
    """Say on standard error what came out: the best, how sure, what a measurement would decide."""
    for line in _lines(title, found):
        click.echo(line, err=True)


def _lines(title: str, found: Found) -> Iterator[str]:
    from warpwatt.core.units import si

    looked = f"{len(found.order)} of {found.space} predicted"
    looked += f", {len(found.failed)} cannot run" if found.failed else ""
    yield f"{title}: {looked}; the best beats the next with {100 * found.sure:.0f} %"
    still = {id(trial) for trial in found.open}
    for number, trial in enumerate(found.order[:SHOWN], 1):
        assert trial.value is not None
        mark = "measure" if len(still) > 1 and id(trial) in still else ""
        value = si(trial.value.value, trial.value.unit)
        yield f"  {number}  {value:>9}  {_words(trial.config)}  {mark}".rstrip()
        if trial.remark:
            yield f"     ! {trial.remark}; its place means little"


def _words(config: Config) -> str:
    return " ".join(f"{name}={value}" for name, value in config.items())


def _document(found: Found) -> dict[str, object]:
    """Return the result of a search as JSON has it."""
    order = [
        {
            "config": dict(t.config),
            "value": t.value.value,
            "low": t.value.low,
            "high": t.value.high,
            "unit": t.value.unit,
            "remark": t.remark,
        }
        for t in found.order
        if t.value is not None
    ]
    return {
        "best": dict(found.order[0].config),
        "sure": found.sure,
        "measure": [dict(t.config) for t in found.open] if len(found.open) > 1 else [],
        "configurations": found.space,
        "order": order,
        "failed": [{"config": dict(t.config), "error": t.error} for t in found.failed],
    }
