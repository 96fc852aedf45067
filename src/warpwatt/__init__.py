"""WarpWatt: time, power and energy of CUDA kernels, predicted without running them.

The user brings a kernel and a launch; the package brings everything else::

    source or binary -> frontend -> Kernel -> program analysis -> Execution
        -> (GPU) -> Workload -> time model <-> power model -> Prediction -> renderers

``warpwatt.predict`` and ``warpwatt.predict_all`` are the Python interface (:mod:`warpwatt.api`); importing
the package loads nothing until one of them is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from warpwatt.api import predict, predict_all

__all__ = ["__version__", "predict", "predict_all"]


def __getattr__(name: str) -> object:
    if name in ("predict", "predict_all"):
        from warpwatt import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register ``%%warpwatt``: what ``%load_ext warpwatt`` calls."""
    from warpwatt.integrations.notebook import register

    register(shell)
