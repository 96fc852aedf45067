"""Resios among the time models: it reads C loop nests, not kernels, so it names the verb that has them."""

from __future__ import annotations

from typing import NoReturn

from warpwatt.core.case import Case
from warpwatt.core.errors import InputError
from warpwatt.core.program import Level


class Resios:
    """The adapter of :func:`.prognosis.prognose`: what it needs beyond a case is the C source."""

    name = "resios"
    summary = "sequential C loop nests before they are kernels (Resios 2011): warpwatt port FILE.c; every GPU"
    levels: tuple[Level, ...] = ()

    def predict(self, case: Case) -> NoReturn:
        """Refuse: a compiled kernel is no loop nest.

        Raises
        ------
        InputError
            Always.
        """
        message = f"model resios reads sequential C, not the kernel {case.kernel.name}"
        raise InputError(message, hint="warpwatt port FILE.c --arg n=VALUE")
