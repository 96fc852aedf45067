"""What ``predict`` and ``explain`` share: from command-line values to predictions."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.errors import InputError, LaunchError, UnsupportedGpuError, UsageError
from warpwatt.core.gpu import Clocks
from warpwatt.core.program import Level
from warpwatt.frontend.directives import read_directives
from warpwatt.frontend.launches import LaunchText, from_table, merged, read_toml
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.source import read_source
from warpwatt.gpus import default_clocks, find, find_many, missing
from warpwatt.models.registry import split_choice, time_model
from warpwatt.predict import Choice, advised, predict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from warpwatt.commands.options import CompilationOptions, LaunchOptions, ModelOptions
    from warpwatt.core.case import Profile
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.prediction import Prediction
    from warpwatt.core.program import Kernel
    from warpwatt.frontend.compiled import Source
    from warpwatt.frontend.launches import Request

MEGA = 1e6


@dataclass(frozen=True, slots=True)
class Session:
    """Everything that stays the same over the kernels and GPUs of one command.

    ``machine_code`` asks front ends for SASS beside PTX, which costs a disassembly; ``advice`` for changes to
    the kernel, each of which costs a prediction.
    """

    source: str
    gpus: str
    compilation: CompilationOptions
    modelling: ModelOptions
    machine_code: bool = False
    advice: bool = False

    def run(self, launch: LaunchOptions) -> tuple[Prediction, ...]:
        """Return predictions for every launch asked for and every GPU, launches first.

        A GPU that cannot run a launch is an error when it was named, and a note on stderr under ``all``.
        """
        source = read_source(self.source)
        wanted = requests(source, launch)
        gpus = complete_gpus(self.gpus)
        predictions = []
        for request in wanted:
            kernels = self._kernels(source, request.kernel or "", gpus)
            for gpu in gpus:
                try:
                    predictions.append(self.predict_request(request, kernels[gpu.target], gpu))
                except (LaunchError, UnsupportedGpuError) as error:
                    if self.gpus != "all":
                        raise
                    note(f"{gpu.name} left out: {error}")
        return tuple(predictions)

    def _kernels(self, source: Source, name: str, gpus: Iterable[Gpu]) -> Mapping[str, Kernel]:
        """Compile a kernel once per target, several targets at a time."""
        targets = list(dict.fromkeys(gpu.target for gpu in gpus))
        options = self.compile_options()
        if len(targets) == 1:
            return {targets[0]: load_kernel(source, targets[0], options, name)}
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - 8 ms that one target need not pay

        with ThreadPoolExecutor() as pool:
            loaded = pool.map(lambda target: load_kernel(source, target, options, name), targets)
            return dict(zip(targets, loaded, strict=True))

    def predict_request(self, request: Request, kernel: Kernel, gpu: Gpu) -> Prediction:
        """Return the prediction of one launch on one GPU, as the options say."""
        choice = model_choice(self.modelling, request.loop_counts)
        clocks = parse_clocks(self.modelling.clock, gpu)
        measured = self._measured(kernel, gpu)
        profile = self._profile(measured, request, kernel, gpu)
        prediction = predict(
            kernel, request.launch, gpu, clocks=clocks, choice=choice, profile=profile, measured=measured
        )
        return advised(prediction, choice) if self.advice else prediction

    def _measured(self, kernel: Kernel, gpu: Gpu) -> tuple[Profile, ...]:
        """Return the measured launches of the kernel in the file of ``--profile``, none without it."""
        if self.modelling.profile is None:
            if self.modelling.profile_arg:
                raise UsageError("--profile-arg without --profile", hint="add --profile FILE.csv")
            return ()
        from warpwatt.frontend.profiles import of_kernel, read_profiles  # noqa: PLC0415 - only who asks pays

        only = gpu if "," not in self.gpus and self.gpus != "all" else None
        return of_kernel(read_profiles(self.modelling.profile, only), kernel)

    def _profile(
        self, measured: tuple[Profile, ...], request: Request, kernel: Kernel, gpu: Gpu
    ) -> Profile | None:
        """Return the measured launch that helps most with this one, None where there is none."""
        if not measured:
            return None
        from warpwatt.frontend.profiles import choose  # noqa: PLC0415 - only who asks pays

        profile = choose(measured, kernel, request.launch, gpu)
        if find(profile.gpu).target != gpu.target:
            note(f"profile not used for {gpu.name}: {profile.gpu} runs other machine code")
        return with_arguments(profile, request.arguments, self.modelling.profile_arg)

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
            levels=frozenset(levels),
        )


def with_arguments(profile: Profile, asked: tuple[str, ...], typed: tuple[str, ...]) -> Profile:
    """Return a profile whose launch has the arguments asked for, but for the file's own and those typed.

    Texts are laid over one another, so that a buffer ``x=f32[n]`` follows the measured launch's ``n``.
    """
    differing = merged(profile.arguments, typed)
    if profile.launch is None or not differing:
        return profile
    arguments = parse_arguments(merged(asked, differing))
    return replace(profile, launch=replace(profile.launch, arguments=arguments))


def complete_gpus(names: str) -> tuple[Gpu, ...]:
    """Return the GPUs named; one that lacks data a prediction needs is an error, under ``all`` a note."""
    found = find_many(names)
    complete = []
    for gpu in found:
        lacking = missing(gpu)
        if not lacking:
            complete.append(gpu)
        elif names == "all":
            note(f"{gpu.name} left out: {', '.join(lacking)} not known")
        else:
            hint = "put a user file with these fields into the folder that `warpwatt gpus check` names"
            raise UnsupportedGpuError(f"{gpu.name} lacks {', '.join(lacking)}", hint=hint)
    return tuple(complete)


def requests(source: Source, launch: LaunchOptions) -> tuple[Request, ...]:
    """Return the launches to predict, read (see :func:`launch_texts`)."""
    return tuple(text.read() for text in launch_texts(source, launch))


def launch_texts(source: Source, launch: LaunchOptions) -> tuple[LaunchText, ...]:
    """Return the launches to predict in words: the command line's over a file's over the source's own.

    A source may describe several launches in ``// warpwatt:`` lines; all are predicted unless the command
    line names a kernel or a whole launch.
    """
    typed = LaunchText(
        launch.kernel, launch.grid, launch.block, launch.cluster, launch.shared, launch.arg, launch.loop
    )
    if launch.args is not None:
        typed = typed.over(from_table(read_toml(launch.args), launch.args))
    written = [text for text in _directives(source) if _same_kernel(text.kernel, typed.kernel)]
    if not written:
        return (typed,)
    if typed.complete:
        written = written[:1]
    return tuple(typed.over(text) for text in written)


def _directives(source: Source) -> tuple[LaunchText, ...]:
    if b"\0" in source.data:  # a binary
        return ()
    return read_directives(source.data.decode("utf-8", errors="replace"), source.name)


def _same_kernel(written: str | None, wanted: str | None) -> bool:
    return written is None or wanted is None or wanted in written or written in wanted


def parse_clocks(text: str | None, gpu: Gpu) -> Clocks | None:
    """Read ``SM[,MEM]`` in MHz; None for the default."""
    if text is None:
        return None
    sm, _, memory = text.partition(",")
    try:
        clocks = Clocks(float(sm) * MEGA, float(memory) * MEGA if memory else default_clocks(gpu).memory)
    except ValueError:
        raise InputError(
            f"not a clock: {text!r}", hint="write --clock SM[,MEM] in MHz, for example 1410,1215"
        ) from None
    if not 50 * MEGA <= clocks.sm <= 5000 * MEGA or not 50 * MEGA <= clocks.memory <= 30000 * MEGA:
        boost = round(gpu.boost_clock / MEGA)
        raise InputError(f"impossible clock: {text} MHz", hint=f"{gpu.name} runs up to {boost} MHz")
    return clocks


def chosen_level(modelling: ModelOptions) -> Level | None:
    """Return the level that was asked for, None for the model's own choice."""
    return None if modelling.level is None else Level(modelling.level)


def model_choice(modelling: ModelOptions, loop_counts: tuple[tuple[int, float], ...] = ()) -> Choice:
    """Return the models named by ``--model`` options, defaults for the rest."""
    choice = Choice(loop_counts=loop_counts, unknown=modelling.unknown, level=chosen_level(modelling))
    for text in modelling.model:
        time, power = split_choice(text)
        choice = replace(choice, time=time or choice.time, power=power or choice.power)
    return choice


def note(text: str) -> None:
    """Write a remark to stderr."""
    print(f"note: {text}", file=sys.stderr)  # noqa: T201 - diagnostics go to stderr
