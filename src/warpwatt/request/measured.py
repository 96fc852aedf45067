"""Measured launches as ``--profile`` gives them: those of a kernel, and the one that helps most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.case import Profile
from warpwatt.core.errors import KernelSelectionError, UsageError
from warpwatt.gpus import find
from warpwatt.request.launch_text import merged

if TYPE_CHECKING:
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.launch import Launch
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

    def alike(self, kernel: Kernel, launch: Launch, gpu: Gpu) -> tuple[Profile | None, tuple[Profile, ...]]:
        """Return as :meth:`of` what was measured of a launch within a program; None and nothing if not.

        Measured launches of the same grid and block count as this one, whatever their arguments: nobody
        writes down pointers.
        """
        if not self.profiles:
            return None, ()
        from warpwatt.frontend.profiles import choose, of_kernel

        try:
            own = of_kernel(self.profiles, kernel)
        except KernelSelectionError:
            return None, ()
        shape = launch.grid, launch.block
        found = [p for p in own if p.launch is not None and (p.launch.grid, p.launch.block) == shape]
        if not found:
            return None, ()
        nearest = choose(found, kernel, launch, gpu)
        ordered = [nearest, *(p for p in found if p is not nearest)]
        profile, *others = (replace(p, launch=None) for p in ordered)
        return profile, (profile, *others)


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
