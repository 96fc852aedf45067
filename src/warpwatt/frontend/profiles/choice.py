"""Which measured launch helps most with the one asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from warpwatt.core.case import Profile
from warpwatt.core.errors import KernelSelectionError
from warpwatt.core.gpu import Gpu
from warpwatt.core.launch import Launch
from warpwatt.core.program import Kernel
from warpwatt.frontend.select import plain_name, select


def choose(profiles: Sequence[Profile], kernel: Kernel, launch: Launch, gpu: Gpu) -> Profile:
    """Return the profile of this kernel nearest to the launch.

    The same GPU goes before others, the same block before others (another size of the same blocks tells more
    than other blocks, see docs/validation/hybrid.md), then the nearest number of threads. A file with one
    kernel may leave its name out.

    Raises
    ------
    KernelSelectionError
        If no profile is of this kernel; ``details`` lists the kernels there are.
    """
    return min(of_kernel(profiles, kernel), key=lambda profile: _distance(profile, launch, gpu))


def of_kernel(profiles: Sequence[Profile], kernel: Kernel) -> tuple[Profile, ...]:
    """Return all profiles of a kernel, in their order; raise as :func:`choose`."""
    own = tuple(p for p in profiles if not p.kernel or _same(p.kernel, kernel))
    if not own:
        names = sorted({p.kernel for p in profiles})
        raise KernelSelectionError(
            f"no measured launch of {kernel.display_name}",
            hint="profile this kernel, or rename it in the CSV file",
            details="\n".join(names[:20]),
        )
    return own


def _same(written: str, kernel: Kernel) -> bool:
    """Whether a profiler's name means the kernel: whole, plain, or a part of either."""
    if plain_name(written) == plain_name(kernel.display_name):
        return "<" not in written or "<" not in kernel.demangled or _arguments(written, kernel.demangled)
    try:
        return bool(select([kernel], written))
    except KernelSelectionError:
        return False


def _arguments(written: str, demangled: str) -> bool:
    """Whether two names agree but for blanks and the types of literals, ``(int)4`` or ``4``."""
    plain = [
        name.replace("(int)", "").replace("(bool)", "").replace(" ", "") for name in (written, demangled)
    ]
    return plain[0] in plain[1] or plain[1] in plain[0]


def _distance(profile: Profile, launch: Launch, gpu: Gpu) -> tuple[bool, bool, float, bool]:
    run = profile.launch
    assert run is not None
    apart = abs(math.log(run.threads / launch.threads))
    return profile.gpu != gpu.name, run.block != launch.block, apart, run.grid != launch.grid
