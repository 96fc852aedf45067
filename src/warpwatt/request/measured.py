"""Measured launches as ``--profile`` gives them: those of a kernel, and the one that helps most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.case import Profile
from warpwatt.core.errors import UsageError
from warpwatt.gpus import find
from warpwatt.request.launch_text import merged

if TYPE_CHECKING:
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.program import Kernel
    from warpwatt.request.launch_text import Request


@dataclass(frozen=True, slots=True)
class MeasuredLaunches:
    """The launches of a file; ``arguments`` are the texts in which they differ from the launch asked for."""

    profiles: tuple[Profile, ...] = ()
    arguments: tuple[str, ...] = ()

    @classmethod
    def read(cls, file: Path | None, arguments: tuple[str, ...], gpu: Gpu | None) -> MeasuredLaunches:
        """Read a file; ``gpu`` is the device of rows that do not name theirs.

        Raises
        ------
        UsageError
            If there are arguments and no file.
        ParseError
            If the file cannot be read.
        """
        if file is None:
            if arguments:
                raise UsageError("--profile-arg without --profile", hint="add --profile FILE.csv")
            return cls()
        from warpwatt.frontend.profiles import read_profiles

        return cls(read_profiles(file, gpu), arguments)

    def of(self, kernel: Kernel, request: Request, gpu: Gpu) -> tuple[Profile | None, tuple[Profile, ...]]:
        """Return the measured launch that helps most with the one asked for, and all of the kernel.

        Raises
        ------
        KernelSelectionError
            If there are measured launches and none of the kernel.
        """
        if not self.profiles:
            return None, ()
        from warpwatt.frontend.profiles import choose, of_kernel

        own = of_kernel(self.profiles, kernel)
        profile = choose(own, kernel, request.launch, gpu)
        return with_arguments(profile, request.arguments, self.arguments), own


def not_used(profiles: Iterable[Profile], gpu: Gpu) -> str:
    """Return the remark that no profile is of machine code that ``gpu`` runs; empty where one is, or none."""
    names = list(dict.fromkeys(profile.gpu for profile in profiles))
    if not names or any(find(name).target == gpu.target for name in names):
        return ""
    runs = "runs" if len(names) == 1 else "run"
    return f"profile not used for {gpu.name}: {', '.join(names)} {runs} other machine code"


def with_arguments(profile: Profile, asked: tuple[str, ...], typed: tuple[str, ...]) -> Profile:
    """Return a profile whose launch has the arguments asked for, but for the file's own and those typed.

    Texts are laid over one another, so that a buffer ``x=f32[n]`` follows the measured launch's ``n``.
    """
    differing = merged(profile.arguments, typed)
    if profile.launch is None or not differing:
        return profile
    arguments = parse_arguments(merged(asked, differing))
    return replace(profile, launch=replace(profile.launch, arguments=arguments))
