"""What can be wrong with data to learn from, or with the installation."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warpwatt.core.errors import InputError, ToolchainError


class DataError(InputError):
    """A table that cannot be learned from (exit code 1)."""


class MissingColumnError(DataError):
    """A column is not there; ``hint`` lists those that are (exit code 1)."""


class UnknownLayoutError(DataError):
    """A table of no known layout, and its program and target columns were not named (exit code 1)."""


class TooFewRowsError(DataError):
    """Fewer usable rows than folds (exit code 1)."""


class SingleProgramError(DataError):
    """A split by program needs as many programs as folds, two at least (exit code 1)."""


class MissingPackageError(ToolchainError):
    """A package of an extra is not installed; ``hint`` is the command that installs it (exit code 3)."""


_EXTRAS = {"torch": "ann", "lime": "explain"}


def import_optional(module: str) -> Any:
    """Return an optional module, imported now: the packages of the extras load slowly and may be absent.

    Raises
    ------
    MissingPackageError
        If its package is not installed.

    >>> import_optional("math").floor(1.5)
    1
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        extra = _EXTRAS.get(package, "learn")
        message = f"the package {package} is not installed"
        raise MissingPackageError(message, hint=f"pip install 'warpwatt[{extra}]'") from error
