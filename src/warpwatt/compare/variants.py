"""The two variants of a comparison: two files, or one file with something else about it changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.compare.compare import compare_all
from warpwatt.compare.paired import SEPARATOR, split_pairs
from warpwatt.core.errors import UsageError
from warpwatt.request.commits import checkout, parse_range
from warpwatt.request.session import Session

if TYPE_CHECKING:
    from warpwatt.core.comparison import ComparisonSet
    from warpwatt.request.commits import Checkout
    from warpwatt.request.launch_text import LaunchText
    from warpwatt.request.options import CompilationOptions, ModelOptions


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What a user wants compared: ``new`` or ``commits`` or values in halves (:mod:`.paired`)."""

    old: str
    new: str | None
    commits: str | None
    gpu: str
    launch: LaunchText
    compilation: CompilationOptions
    modelling: ModelOptions


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant: what it is called, and all that a prediction takes."""

    label: str
    session: Session
    launch: LaunchText
    checkout: Checkout


def compared(asked: ComparisonRequest) -> ComparisonSet:
    """Predict both sides and return what changed; a side without launches takes those of the other.

    Raises
    ------
    UsageError
        If nothing is named to compare with, or too much.
    WarpWattError
        As predictions do.
    """
    old, new = variants(asked)
    olds = old.session.run(old.launch, new.checkout.source)
    news = new.session.run(new.launch, old.checkout.source)
    remarks = dict.fromkeys((*old.checkout.remarks, *new.checkout.remarks))
    names = {**old.checkout.names, **new.checkout.names}
    return compare_all(old.label, new.label, olds, news, remarks=remarks, names=names)


def variants(asked: ComparisonRequest) -> tuple[Variant, Variant]:
    """Return both sides; raise as :func:`compared`."""
    if asked.new is not None and asked.commits is not None:
        raise UsageError("two files and two commits", hint="--commits goes with one file")
    *launches, launch_labels = split_pairs(asked.launch)
    *compilations, compilation_labels = split_pairs(asked.compilation)
    *models, model_labels = split_pairs(asked.modelling)
    labels = [_files(asked), launch_labels, compilation_labels, model_labels]
    alone = asked.commits is None and not any(label for pair in labels for label in pair)
    gpus, gpu_labels = _gpus(asked.gpu, alone=alone)
    revisions = parse_range(asked.commits) if asked.commits is not None else ("", "")
    found = []
    for i, name in enumerate((asked.old, asked.new or asked.old)):
        opened = checkout(Path(name), revisions[i], compilations[i].include)
        compilation = replace(compilations[i], include=opened.include)
        said = [pair[i] for pair in (*labels, gpu_labels)]
        label = ", ".join(filter(None, (opened.label if asked.commits is not None else "", *said)))
        session = Session(opened.source, gpus[i], compilation, models[i])
        found.append(Variant(label, session, launches[i], opened))
    if not found[0].label:
        hint = "name a second file, --commits A..B, two GPUs, or an option with two values: --clock 1410/1200"
        raise UsageError("nothing to compare with", hint=hint)
    return found[0], found[1]


def _files(asked: ComparisonRequest) -> tuple[str, str]:
    return (asked.old, asked.new) if asked.new is not None else ("", "")


def _gpus(text: str, *, alone: bool) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the GPUs of both sides and what they add to their names.

    Where nothing else differs (``alone``), two names separated by a comma are the two sides.
    """
    old, between, new = text.partition(SEPARATOR)
    if between:
        return (old, new), (old, new)
    names = text.split(",")
    if alone and len(names) == 2:
        return (names[0], names[1]), (names[0], names[1])
    if alone and (len(names) > 2 or text == "all"):
        hint = "--gpu a100,h200; for more side by side: warpwatt predict"
        raise UsageError(f"two GPUs, please, not {text!r}", hint=hint)
    return (text, text), ("", "")
