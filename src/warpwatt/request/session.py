"""A session: from what a user asks for, in words, to predictions; every place where users work shares it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from warpwatt.compose import advised, predict
from warpwatt.core.errors import LaunchError, UnsupportedGpuError
from warpwatt.core.gpu import Gpu
from warpwatt.core.prediction import Prediction
from warpwatt.core.program import Kernel, Level
from warpwatt.core.progress import counted, step
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions, Compiler
from warpwatt.frontend.source import read_source
from warpwatt.frontend.structures import with_fields
from warpwatt.gpus import find_many, names_many
from warpwatt.models.registry import time_model
from warpwatt.request.choices import chosen_level, complete_gpus, model_choice, note, parse_clocks
from warpwatt.request.launches import check_pointers, launch_texts, requests
from warpwatt.request.measured import MeasuredLaunches, not_used

if TYPE_CHECKING:
    from warpwatt.request.launch_text import LaunchText, Request
    from warpwatt.request.options import CompilationOptions, ModelOptions

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Session:
    """Everything that stays the same over the kernels and GPUs of one command.

    ``machine_code`` asks front ends for SASS beside PTX, which costs a disassembly; ``advice`` for changes to
    the kernel, each of which costs a prediction. ``notify`` hears remarks, such as which GPU was left out.
    ``compiler`` compiles CUDA.
    """

    source: str | Source
    """A file's name, ``-`` for standard input, or what was read already."""
    gpus: str
    compilation: CompilationOptions
    modelling: ModelOptions
    machine_code: bool = False
    advice: bool = False
    notify: Callable[[str], None] = note
    compiler: Compiler = Compiler.AUTO

    def run(self, launch: LaunchText, beside: Source | None = None) -> tuple[Prediction, ...]:
        """Return predictions for every launch asked for and every GPU, launches first.

        A source that describes no launch has those of the one ``beside`` it. A GPU that cannot run a launch
        is an error when it was named, and told under ``all``.
        """
        return self.map(self.predict_request, launch, beside)

    def map(
        self,
        answer: Callable[[Request, Kernel, Gpu], Answer],
        launch: LaunchText,
        beside: Source | None = None,
    ) -> tuple[Answer, ...]:
        """Return what ``answer`` says of every launch and GPU, as :meth:`run`."""
        source = self.opened()
        if source.path is not None and source.path.suffix == ".py":  # what came over a network has no path
            return self._map_python(answer, source.path, launch_texts(source, launch, beside))
        wanted = requests(source, launch, beside, self.compilation.define)
        gpus = complete_gpus(self.gpus, self.notify, self.modelling.power_limit)
        answers = []
        for request in wanted:
            kernels = self.kernels(source, request.kernel or "", gpus)
            for number, gpu in enumerate(gpus, 1):
                kernel = self.completed(kernels[gpu.target], source, request)
                check_pointers(kernel, request.launch)
                title = f"{kernel.demangled.partition('(')[0]} on {gpu.name}"
                try:
                    with step(counted(title, number, len(gpus))):
                        answers.append(answer(request, kernel, gpu))
                except (LaunchError, UnsupportedGpuError) as error:
                    if not names_many(self.gpus):
                        raise
                    self.notify(f"{gpu.name} left out: {error}")
        return tuple(answers)

    def _map_python(
        self, answer: Callable[[Request, Kernel, Gpu], Answer], path: Path, launches: Iterable[LaunchText]
    ) -> tuple[Answer, ...]:
        """Return what ``answer`` says of launches of a file's Triton functions."""
        from warpwatt.request.objects import map_object
        from warpwatt.request.python_file import function, given_values

        answers: list[Answer] = []
        for text in launches:
            kernel = function(path, text.kernel or "", find_many(self.gpus)[0].target)
            values = given_values(text.arg, self.compilation.define)
            answers += map_object(self, answer, kernel, replace(text, kernel=None, args=None), values)
        return tuple(answers)

    @property
    def file(self) -> Path:
        """The file that the source names."""
        return Path(self.source.name if isinstance(self.source, Source) else self.source)

    def opened(self) -> Source:
        """Return the source, read; raises :class:`~warpwatt.core.errors.InputError` as reading does."""
        return self.source if isinstance(self.source, Source) else read_source(self.source)

    def kernels(self, source: Source, name: str, gpus: Iterable[Gpu]) -> Mapping[str, Kernel]:
        """Compile a kernel once per target, several targets at a time."""
        targets = list(dict.fromkeys(gpu.target for gpu in gpus))
        options = self.compile_options()
        if len(targets) == 1:
            return {targets[0]: load_kernel(source, targets[0], options, name)}
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor() as pool:
            loaded = pool.map(lambda target: load_kernel(source, target, options, name), targets)
            return dict(zip(targets, loaded, strict=True))

    def completed(self, kernel: Kernel, source: Source, request: Request) -> Kernel:
        """Return a kernel whose structures know their fields, where the launch's arguments need them."""
        return with_fields(kernel, source, self.compile_options(), request.launch.arguments)

    def predict_request(self, request: Request, kernel: Kernel, gpu: Gpu) -> Prediction:
        """Return the prediction of one launch on one GPU, as the options say."""
        choice = model_choice(self.modelling, request.loop_counts)
        clocks = parse_clocks(self.modelling.clock, gpu)
        only = gpu if "," not in self.gpus and not names_many(self.gpus) else None
        launches = MeasuredLaunches.read(self.modelling.profile, self.modelling.profile_arg, only)
        profile, measured = launches.of(kernel, request, gpu)
        if profile is not None and (remark := not_used((profile,), gpu)):
            self.notify(remark)
        prediction = predict(
            kernel, request.launch, gpu, clocks=clocks, choice=choice, profile=profile, measured=measured
        )
        return advised(prediction, choice) if self.advice else prediction

    def compile_options(self) -> CompileOptions:
        """Return the front end's options."""
        said = self.compilation
        level = chosen_level(self.modelling)
        read = time_model(model_choice(self.modelling, ()).time).levels if level is None else (level,)
        levels = {Level.PTX, Level.SASS} if self.machine_code or Level.SASS in read else {Level.PTX}
        return CompileOptions(
            defines=said.define,
            include=said.include,
            flags=said.flags,
            max_registers=said.maxrregcount,
            toolkit=said.toolkit,
            compiler=self.compiler,
            levels=frozenset(levels),
        )
