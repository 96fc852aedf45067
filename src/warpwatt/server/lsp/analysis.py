"""From a text to an answer: compile, predict every launch on every GPU, then what changes would save.

Runs in the analysing process. The steps are those of the command line; what is added is that a kernel whose
machine code was seen before, in this session or an earlier one, is not analysed again.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.compose import advised
from warpwatt.core.errors import (
    CompileError,
    LaunchError,
    UnknownGpuError,
    UnsupportedGpuError,
    WarpWattError,
)
from warpwatt.core.gpu import Gpu
from warpwatt.core.prediction import Prediction
from warpwatt.frontend.messages import errors
from warpwatt.gpus import names_many
from warpwatt.request.choices import complete_gpus, model_choice
from warpwatt.server.lsp.extract import advice_facts, facts_of, other_fact
from warpwatt.server.lsp.facts import Answer, OtherFact, Problem, Progress, Result, Shown
from warpwatt.server.lsp.memory import key_of, recall, remember
from warpwatt.server.lsp.module import compile_all, is_own, session_of
from warpwatt.server.lsp.source import kernels

if TYPE_CHECKING:
    from warpwatt.request.launch_text import Request
    from warpwatt.request.session import Session
    from warpwatt.server.lsp.facts import Facts, Job, Message, PlacedLaunch
    from warpwatt.server.lsp.memory import Key
    from warpwatt.server.lsp.module import Module

Notify = Callable[["Message"], None]
PARTIAL_SECONDS = 0.1
"""Time after which an answer is sent though more of it follows: from then on readers notice that they wait
(Nielsen, Usability Engineering, 1993, chapter 5)."""


class CancelledError(Exception):
    """Somebody asked to stop: a newer text is there."""


@dataclass(slots=True)
class Watch:
    """Seconds by stage of the work."""

    stages: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time the block takes to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - start


@dataclass(slots=True)
class Analysis:
    """One job being done. ``notify`` takes messages; ``cancelled`` is asked between steps."""

    job: Job
    notify: Notify
    cancelled: Callable[[], bool]
    fresh: bool = False
    """Whether to predict even what is remembered."""
    watch: Watch = field(default_factory=Watch)
    shown: list[Shown] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _told: float = field(default_factory=time.monotonic)

    def run(self) -> None:
        """Notify the answer, and then the same with advice.

        Raises
        ------
        CancelledError
            If ``cancelled`` says so.
        """
        if not self.job.launches and not kernels(self.job.text):
            self._answer()
            return
        session = session_of(self.job.path, self.job.text, self.job.query)
        try:
            with in_folder_of(self.job.path):
                self._progress("compiling", 0.0)
                gpus = complete_gpus(self.job.query.gpu, lambda _: None, self.job.query.power_limit)
                with self.watch.stage("compile"):
                    modules = compile_all(session, [gpu.target for gpu in gpus])
                open_questions = self._predict_all(session, gpus, modules)
        except WarpWattError as error:
            self.problems += compilation_problems(error, self.job.path)
            self._answer()
            return
        self._answer()
        if self.job.query.advice and not self.problems:
            self._advise(session, open_questions)

    def _predict_all(
        self, session: Session, gpus: tuple[Gpu, ...], modules: Mapping[str, Module]
    ) -> list[_Question]:
        """Predict every launch on every GPU; return what advice is still to be found for."""
        questions: list[_Question] = []
        total = len(self.job.launches) * len(gpus)
        for number, words in enumerate(self.job.launches):
            for position, gpu in enumerate(gpus):
                done = number * len(gpus) + position
                self._progress(f"{words.kernel or 'kernel'} on {gpu.name}", done / total)
                question = self._predict(session, number, words, gpu, modules[gpu.target])
                if question is None:
                    break
                if position == 0 and question.facts is not None and question.facts.advice is None:
                    questions.append(question)
                if time.monotonic() - self._told > PARTIAL_SECONDS and done + 1 < total:
                    self._answer(complete=False)
        return questions

    def _predict(
        self, session: Session, number: int, words: PlacedLaunch, gpu: Gpu, module: Module
    ) -> _Question | None:
        """Predict one launch on one GPU, or recall it; None where the launch is wrong on every GPU."""
        try:
            request = words.read(session.compilation.define)
            with self.watch.stage("recall"):
                name = module.named(request.kernel or "").name
                key = key_of(module, name, request, gpu, self.job.query)
                facts = None if self.fresh else recall(key)
            question = _Question(len(self.shown), gpu, request, module, name, key, facts)
            if facts is None:
                with self.watch.stage("predict"):
                    question.predict(session, self.job.query.beside)
        except (LaunchError, UnsupportedGpuError) as error:
            if not names_many(session.gpus):
                self.problems.append(launch_problem(error, words, self.job.path))
                return None
            return _Question.without_facts(gpu, request, module)
        except WarpWattError as error:
            self.problems.append(launch_problem(error, words, self.job.path))
            return None
        assert question.facts is not None
        self.shown.append(Shown(number, question.facts))
        return question

    def _advise(self, session: Session, questions: list[_Question]) -> None:
        """Find out what changes would save, launch by launch, and tell the answer again."""
        for position, question in enumerate(questions):
            self._progress("looking for what would help", position / len(questions))
            with self.watch.stage("advice"):
                facts = question.advise(session)
            self.shown[question.place] = Shown(self.shown[question.place].launch, facts)
            self._answer()
        self._answer(advised=True)

    def _progress(self, text: str, share: float) -> None:
        if self.cancelled():
            raise CancelledError
        self.notify(Progress(self.job.number, text, share))

    def _answer(self, *, complete: bool = True, advised: bool = False) -> None:
        self._told = time.monotonic()
        answer = Answer(
            self.job.launches,
            tuple(self.shown),
            tuple(self.problems),
            complete,
            advised,
            dict(self.watch.stages),
        )
        self.notify(Result(self.job.number, answer))


@dataclass(slots=True)
class _Question:
    """One launch on one GPU, and what is known of it."""

    place: int
    gpu: Gpu
    request: Request
    module: Module
    name: str
    key: Key | None
    facts: Facts | None = None
    prediction: Prediction | None = None

    @classmethod
    def without_facts(cls, gpu: Gpu, request: Request, module: Module) -> _Question:
        """Return a question that has no answer on this GPU."""
        return cls(-1, gpu, request, module, "", None)

    def predict(self, session: Session, beside: tuple[str, ...] = ()) -> None:
        """Predict and remember, with what the models ``beside`` say."""
        assert self.key is not None
        self.prediction = session.predict_request(self.request, self.module.kernel(self.name), self.gpu)
        if self.facts is None:
            facts = facts_of(self.prediction, self.key.own)
            self.facts = replace(facts, beside=self._others(session, beside))
            remember(self.key, self.facts)

    def _others(self, session: Session, choices: tuple[str, ...]) -> tuple[OtherFact, ...]:
        """Return what other models say of the launch, each beside the session's own."""
        return tuple(self._other(session, choice) for choice in choices)

    def _other(self, session: Session, choice: str) -> OtherFact:
        models = (*session.modelling.model, choice)
        other = replace(session, modelling=replace(session.modelling, model=models), advice=False)
        try:
            kernel = self.module.kernel(self.name)
            return other_fact(choice, other.predict_request(self.request, kernel, self.gpu))
        except WarpWattError as error:
            return OtherFact(choice, "", error.message)

    def advise(self, session: Session) -> Facts:
        """Return the facts with advice, and remember them."""
        if self.prediction is None:
            self.predict(session)
        assert self.prediction is not None
        assert self.facts is not None
        assert self.key is not None
        choice = model_choice(session.modelling, self.request.loop_counts)
        advice = advised(self.prediction, choice).advice or ()
        self.facts = replace(self.facts, advice=advice_facts(advice, self.key.own))
        remember(self.key, self.facts)
        return self.facts


def launch_problem(error: WarpWattError, words: PlacedLaunch, path: str) -> Problem:
    """Return why a launch cannot be predicted: at the line that fails, else where the launch stands."""
    if error.line is not None and error.file is not None and is_own(error.file, path):
        return Problem("execution", error.message, error.line, "", error.hint, error.details)
    return Problem("launch", error.message, words.line, words.file, error.hint, error.details)


def compilation_problems(error: WarpWattError, path: str) -> list[Problem]:
    """Return every error of a compiler as a problem of its own; other failures as one at the top."""
    if isinstance(error, UnknownGpuError | UnsupportedGpuError):
        return [Problem("gpu", error.message, None, "", error.hint, error.details)]
    if not isinstance(error, CompileError):
        return [Problem("setup", error.message, None, "", error.hint, error.details)]
    found = []
    for message in dict.fromkeys(errors(error.details)):
        if message.line is None:
            continue
        own = is_own(message.file, path)
        file = "" if own else os.path.abspath(message.file)  # noqa: PTH100 - keeps links as they are
        found.append(Problem("compile", message.text, message.line, file, error.hint))
    return found or [Problem("compile", error.message, error.line, "", error.hint, error.details)]


@contextmanager
def in_folder_of(path: str) -> Iterator[None]:
    """Work in the document's folder, where quoted includes are looked for; in none of ours if it has none."""
    before, folder = Path.cwd(), Path(path).parent
    os.chdir(folder if Path(path).is_absolute() and folder.is_dir() else tempfile.gettempdir())
    try:
        yield
    finally:
        os.chdir(before)
