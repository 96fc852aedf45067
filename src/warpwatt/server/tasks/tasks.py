"""What a worker is asked to do: each task takes a checked request and returns plain values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import truediv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.compose import Choice, advised
from warpwatt.core.arguments import Buffer, Fill
from warpwatt.core.errors import ArgumentError, InputError, UsageError, WarpWattError
from warpwatt.core.estimate import Estimate
from warpwatt.core.gpu import Gpu
from warpwatt.core.prediction import Prediction
from warpwatt.core.program import Kernel, Unknown
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load
from warpwatt.frontend.source import Kind, kind_of
from warpwatt.gpus import find
from warpwatt.models.registry import names_model_file
from warpwatt.render import html
from warpwatt.render import json as json_format
from warpwatt.render.context import Context
from warpwatt.render.document import prediction_document
from warpwatt.request.choices import model_choice
from warpwatt.request.launch_text import LaunchText, launch_of
from warpwatt.request.launches import launch_texts, requests
from warpwatt.request.options import CompilationOptions, ModelOptions
from warpwatt.request.session import Session
from warpwatt.server.tasks.isolation import own_lines, reach
from warpwatt.server.tasks.parameters import described_kernel, described_launch
from warpwatt.workers.child import SideError
from warpwatt.workers.limits import GIB
from warpwatt.workers.seccomp import filters_system_calls

if TYPE_CHECKING:
    from warpwatt.frontend.options import CompileOptions
    from warpwatt.request.launch_text import Request
    from warpwatt.workers.limits import Limits


__all__ = ["TASKS", "compare", "kernels", "predict", "reach", "walls"]

Tell = Callable[[dict[str, Any]], None] | None
"""Sends what is known before the answer; None: nobody asks for it."""
Answer = tuple[Prediction, Choice]
DEFAULT_NAME = "kernel.cu"
DEFAULT_GPUS = ("h200",)


@dataclass(frozen=True, slots=True)
class UntrustedSession(Session):
    """A session on an untrusted source: nothing cached, each compiler within its limits."""

    limits: Limits | None = None
    confined: bool = False
    """Whether the system keeps files from this process."""

    def compile_options(self) -> CompileOptions:
        """Return the front end's options for untrusted sources."""
        assert self.limits is not None
        return replace(
            Session.compile_options(self),
            untrusted=True,
            pasting=self.confined or filters_system_calls(),
            cached=False,
            timeout=self.limits.seconds,
            memory=self.limits.compiler_memory,
        )

    def kernels(self, source: Source, name: str, gpus: Iterable[Gpu]) -> Mapping[str, Kernel]:
        """Return kernels whose lines name no file but the source itself."""
        found = Session.kernels(self, source, name, gpus)
        return {target: own_lines(kernel, source) for target, kernel in found.items()}


def kernels(request: dict[str, Any], limits: Limits, confined: bool, _: Tell = None) -> dict[str, Any]:
    """Return the kernels of a source, their parameters, and the launches that its comments describe."""
    source = _source(request)
    session = _session(request, source, limits, confined=confined, levels=("ptx",))
    target = find(request.get("gpu", DEFAULT_GPUS[0])).target
    found = load(source, target, session.compile_options())
    written = launch_texts(source, LaunchText())
    return {
        "language": str(kind_of(source)),
        "target": target,
        "kernels": [described_kernel(kernel) for kernel in found],
        "launches": [described_launch(text) for text in written if text.complete],
        "warnings": list(dict.fromkeys(w for kernel in found for w in kernel.warnings)),
    }


def predict(request: dict[str, Any], limits: Limits, confined: bool, tell: Tell = None) -> dict[str, Any]:
    """Return ``document`` (the JSON of predictions) and ``report`` (the page).

    ``tell`` hears ``document`` without advice before.
    """
    source = _source(request)
    notes: list[str] = []
    answers = _answers(request, source, limits, notes, confined=confined)
    if tell is not None:
        tell({"document": json_format.dump(_document([prediction for prediction, _ in answers], notes))})
    found = _predictions(request, answers)
    return {
        "document": json_format.dump(_document(found, notes)),
        "report": html.render(found, _context(found, (source,))),
    }


def compare(request: dict[str, Any], limits: Limits, confined: bool, _: Tell = None) -> dict[str, Any]:
    """Return the same for two kernels on the same GPUs, and what changed from the first to the second."""
    shared = {key: value for key, value in request.items() if key not in ("before", "after")}
    notes: list[str] = []
    sides, sources = {}, []
    for side in ("before", "after"):
        own = {**shared, **request[side]}
        try:
            source = _source(own)
            sides[side] = _predictions(own, _answers(own, source, limits, notes, confined=confined))
        except WarpWattError as error:
            raise SideError(side, error) from error
        sources.append(source)
    both = [*sides["before"], *sides["after"]]
    document = {
        "changes": [_change(*pair) for pair in _pairs(sides["before"], sides["after"])],
        **{side: _document(found, notes) for side, found in sides.items()},
    }
    return {"document": json_format.dump(document), "report": html.render(both, _context(both, sources))}


def walls(_: dict[str, Any], __: Limits, confined: bool, ___: Tell = None) -> dict[str, Any]:
    """Return whether the system keeps files from this process."""
    return {"confined": confined}


TASKS: Mapping[str, Callable[[dict[str, Any], Limits, bool, Tell], dict[str, Any]]] = {
    "kernels": kernels,
    "predict": predict,
    "compare": compare,
    "walls": walls,
}


def _source(request: dict[str, Any]) -> Source:
    """Return the source, written into this process's folder too: its lines are shown with their costs."""
    source = Source(request.get("name", DEFAULT_NAME), request["source"].encode())
    if not source.data.strip():
        raise InputError("the source is empty", hint="paste a CUDA kernel or PTX")
    if kind_of(source) is Kind.BINARY:
        hint = "send CUDA C++ or PTX as text; the command line reads binaries: warpwatt predict FILE"
        raise InputError("a binary", file=source.name, hint=hint)
    Path(source.name).write_bytes(source.data)
    return source


def _session(
    request: dict[str, Any],
    source: Source,
    limits: Limits,
    *,
    confined: bool,
    levels: tuple[str, ...] = (),
    notify: Callable[[str], None] = print,
) -> UntrustedSession:
    if any(names_model_file(text) for text in request.get("model", ())):
        raise UsageError("no model files are read here", hint="the command line reads them: warpwatt predict")
    compilation = request.get("compilation", {})
    flags = ["--use_fast_math"] if compilation.get("fast_math") else []
    flags += [f"-std={compilation['standard']}"] if "standard" in compilation else []
    define = [
        name if value == "" else f"{name}={value}" for name, value in compilation.get("define", {}).items()
    ]
    level = levels[0] if levels else request.get("level")
    return UntrustedSession(
        source,
        ",".join(request.get("gpus", DEFAULT_GPUS)),
        CompilationOptions(tuple(define), (), "", compilation.get("max_registers"), tuple(flags)),
        ModelOptions(
            tuple(request.get("model", ())),
            request.get("clock"),
            level,
            Unknown(request.get("unknown", "estimate")),
            power_limit=request.get("power_limit"),
        ),
        machine_code=not levels,
        notify=notify,
        limits=limits,
        confined=confined,
    )


def _answers(
    request: dict[str, Any], source: Source, limits: Limits, notes: list[str], *, confined: bool
) -> tuple[Answer, ...]:
    """Return predictions without advice, each with the models that made it."""
    session = _session(request, source, limits, confined=confined, notify=notes.append)
    launch = launch_of(request.get("launch", {}))
    wanted = requests(source, launch, defines=session.compilation.define)
    for request_ in wanted:
        _check_launch(request_, limits)
    count = len(wanted) * len(request.get("gpus", DEFAULT_GPUS))
    if count > limits.predictions:
        raise UsageError(
            f"{count} predictions at once, at most {limits.predictions} are made here",
            hint="name fewer GPUs, or describe fewer launches",
        )

    def answer(request_: Request, kernel: Kernel, gpu: Gpu) -> Answer:
        choice = model_choice(session.modelling, request_.loop_counts)
        return session.predict_request(request_, kernel, gpu), choice

    return session.map(answer, launch)


def _predictions(request: dict[str, Any], answers: Iterable[Answer]) -> tuple[Prediction, ...]:
    """Return the predictions, with advice if it is asked for."""
    wanted = request.get("advice", True)
    return tuple(advised(prediction, choice) if wanted else prediction for prediction, choice in answers)


def _check_launch(request: Request, limits: Limits) -> None:
    """Refuse contents from files of this machine, and more memory than is reserved for anyone."""
    total = 0
    for name, argument in request.launch.arguments.items():
        if isinstance(argument, Buffer):
            total += argument.nbytes
            if argument.fill is Fill.FILE:
                fills = "random zeros ones arange indices(N) offsets(N)"
                hint = f"fills here: {fills}; the command line reads files: warpwatt predict"
                raise ArgumentError(f"argument {name!r}: no files are read here", hint=hint)
    if total > limits.buffers:
        raise ArgumentError(
            f"the buffers take {total / GIB:.0f} GiB, at most {limits.buffers / GIB:.0f} GiB are reserved",
            hint="make them smaller",
        )


def _document(found: Sequence[Prediction], notes: Sequence[str]) -> dict[str, Any]:
    """Return what ``--format json`` writes, with the remarks that the command line writes to stderr."""
    return {
        **json_format.header(_context(found, ())),
        "predictions": [prediction_document(prediction) for prediction in found],
        "notes": list(dict.fromkeys(notes)),
    }


def _context(found: Sequence[Prediction], sources: Iterable[Source]) -> Context:
    toolkits = dict.fromkeys(p.case.kernel.toolkit for p in found if p.case.kernel.toolkit)
    return Context(toolkits={"CUDA": ", ".join(toolkits)}, sources={s.name: s.text for s in sources})


def _pairs(before: Sequence[Prediction], after: Sequence[Prediction]) -> list[tuple[Prediction, Prediction]]:
    """Return what stands beside what: the launches of both in their order, GPU by GPU."""
    gpus = list(dict.fromkeys(p.case.gpu.name for p in before))
    pairs: list[tuple[Prediction, Prediction]] = []
    for gpu in gpus:
        ours = [p for p in before if p.case.gpu.name == gpu]
        theirs = [p for p in after if p.case.gpu.name == gpu]
        if len(ours) != len(theirs) and theirs:
            raise UsageError(
                f"{len(ours)} launches before, {len(theirs)} after",
                hint="name one kernel and launch on each side",
            )
        pairs += zip(ours, theirs, strict=False)
    return pairs


def _change(before: Prediction, after: Prediction) -> dict[str, Any]:
    return {
        "gpu": before.case.gpu.name,
        "kernels": [p.kernel_name for p in (before, after)],
        "bottlenecks": [p.timing.bottleneck for p in (before, after)],
        **{name: _ratio(getattr(before, name), getattr(after, name)) for name in ("time", "power", "energy")},
    }


def _ratio(before: Estimate, after: Estimate) -> dict[str, Any]:
    """Return both values in SI units and after over before, draw by draw: what both share cancels."""
    ratio = after.combine(before, truediv, "")
    return {
        "before": before.value,
        "after": after.value,
        "ratio": ratio.value,
        "low": ratio.low,
        "high": ratio.high,
    }
