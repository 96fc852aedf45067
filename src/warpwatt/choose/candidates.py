"""Candidates of a ranking: files, files at commits, and the values of options; each is predicted alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from warpwatt.compare.variants import split_values
from warpwatt.core.errors import UsageError
from warpwatt.request.commits import checkout
from warpwatt.request.fields import FIELDS
from warpwatt.request.session import Session

if TYPE_CHECKING:
    from warpwatt.core.prediction import Prediction
    from warpwatt.frontend.compiled import Source
    from warpwatt.request.commits import Checkout
    from warpwatt.request.launch_text import LaunchText
    from warpwatt.request.options import CompilationOptions, ModelOptions

    Options = TypeVar("Options", LaunchText, CompilationOptions, ModelOptions)

_VARIED = {field.name: field for field in FIELDS if field.paired}


@dataclass(frozen=True, slots=True)
class RankRequest:
    """What a user wants ranked; options may have several values, one for each variant: ``16/32/64``."""

    sources: tuple[str, ...]
    gpu: str
    launch: LaunchText
    compilation: CompilationOptions
    modelling: ModelOptions


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing to rank: what it is called, and all that its predictions take."""

    name: str
    session: Session
    launch: LaunchText
    beside: Source

    def predicted(self) -> tuple[Prediction, ...]:
        """Return its predictions, launches first; raise as predicting does."""
        return self.session.run(self.launch, self.beside)


def candidates(asked: RankRequest) -> tuple[Candidate, ...]:
    """Return every source in every variant, sources first.

    Raises
    ------
    UsageError
        If two options have different numbers of values.
    InputError
        If a file or commit is not there.
    """
    variants = _variants(asked)
    opened = [_opened(source, asked.compilation.include) for source in asked.sources]
    first = opened[0].source
    found = []
    for name, at in zip(asked.sources, opened, strict=True):
        beside = first if at is not opened[0] else opened[-1].source
        tuned = _tuned(at.source, asked) if len(variants) == 1 else ()
        for launch, compilation, modelling, label in tuned or variants:
            options = replace(compilation, include=at.include)
            session = Session(at.source, asked.gpu, options, modelling)
            title = ", ".join(filter(None, (name if len(opened) > 1 or not label else "", label)))
            found.append(Candidate(title, session, launch, beside))
    return tuple(found)


def _tuned(
    source: Source, asked: RankRequest
) -> list[tuple[LaunchText, CompilationOptions, ModelOptions, str]]:
    """Return the configurations of a Triton function that its file tunes, none if one was chosen."""
    if source.path is None or source.path.suffix != ".py":
        return []
    from warpwatt.request.python_file import function, tuned_values

    said = {text.partition("=")[0] for text in asked.compilation.define}
    configs = tuned_values(function(source.path, asked.launch.kernel or ""))
    varied = [name for name in (configs or [{}])[0] if len({repr(c.get(name)) for c in configs}) > 1]
    if said.issuperset(varied):
        return []
    found = []
    for config in configs:
        texts = tuple(f"{name}={value}" for name, value in config.items() if name not in said)
        label = " ".join(f"{name}={config.get(name)}" for name in varied)
        options = replace(asked.compilation, define=(*asked.compilation.define, *texts))
        found.append((asked.launch, options, asked.modelling, label))
    return found


def _opened(source: str, include: Sequence[str]) -> Checkout:
    """Return a file, or ``FILE@COMMIT`` as it was there."""
    file, at, revision = source.rpartition("@")
    if at and file and revision and not Path(source).exists():
        return checkout(Path(file), revision, include)
    return checkout(Path(source), "", include)


def _variants(asked: RankRequest) -> list[tuple[LaunchText, CompilationOptions, ModelOptions, str]]:
    groups = (asked.launch, asked.compilation, asked.modelling)
    number = max((len(values) for group in groups for _, values in _valued(group)), default=1)
    sides = _sides(asked.launch, number), _sides(asked.compilation, number), _sides(asked.modelling, number)
    labels = [_label(groups, i) for i in range(number)]
    return list(zip(*sides, labels, strict=True))


def _valued(options: LaunchText | CompilationOptions | ModelOptions) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield name and values of every option that variants may change; of a repeated one, of each text."""
    for field in fields(options):
        described, value = _VARIED.get(field.name), getattr(options, field.name)
        if described is not None and value:
            texts = value if described.repeated else (value,)
            yield from ((field.name, split_values(text, described.kind)) for text in texts)


def _sides(options: Options, number: int) -> list[Options]:
    """Return the options of each variant; one value holds for all."""
    return [replace(options, **_side(options, i, number)) for i in range(number)]


def _side(options: LaunchText | CompilationOptions | ModelOptions, index: int, number: int) -> dict[str, Any]:
    side: dict[str, Any] = {}
    for name, values in _valued(options):
        if len(values) not in (1, number):
            hint = f"options with several values are taken side by side: write {number} everywhere, or one"
            raise UsageError(f"{len(values)} values of {name}, {number} of another option", hint=hint)
        value = values[index % len(values)]
        side[name] = (*side.get(name, ()), value) if _VARIED[name].repeated else value
    return side


def _label(groups: Sequence[Any], index: int) -> str:
    """Return what tells a variant from the others."""
    parts = []
    for options in groups:
        for name, values in _valued(options):
            if len(set(values)) > 1:
                value = values[index]
                parts.append(value if _VARIED[name].repeated else f"{name} {value}")
    return ", ".join(parts)
