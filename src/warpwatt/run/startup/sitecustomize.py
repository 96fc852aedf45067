"""Python imports this module first in every process that ``warpwatt run`` starts: the folder leads its path.

It puts our libraries in front of those that PyTorch brings, and our driver into Triton, when these are
imported. Nothing of WarpWatt is imported here: it need not be installed where the program runs.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

HERE = Path(__file__).parent


class Watch:
    """Finds modules as the others do; acts before ``torch`` and behind ``triton``."""

    def find_spec(self, name: str, path: Any = None, _: Any = None) -> ModuleSpec | None:
        """Return how to load a watched module, None for others."""
        if name not in ("torch", "triton"):
            return None
        device, spec, torch = _device(), self._other(name, path), self._other("torch", None)
        if spec is None or spec.loader is None or torch is None:
            return spec
        if name == "torch":
            device.before_torch(torch)
        if device.has_cuda(torch) == (name == "torch"):
            act = device.after_torch if name == "torch" else device.install
            spec.loader = _Behind(spec.loader, act)  # type: ignore[assignment]
        return spec

    def _other(self, name: str, path: Any) -> ModuleSpec | None:
        """Return what the other finders find."""
        found = (one.find_spec(name, path) for one in sys.meta_path if one is not self)
        return next((spec for spec in found if spec is not None), None)


class _Behind:
    """A loader with something to do once the module is there."""

    def __init__(self, loader: Any, action: Any) -> None:
        self._loader, self._action = loader, action

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._action()


def _device() -> Any:
    """Return our module beside this folder."""
    if "_warpwatt_device" not in sys.modules:
        spec = spec_from_file_location("_warpwatt_device", HERE.with_name("bootstrap.py"))
        assert spec is not None  # the file is part of the package
        assert spec.loader is not None
        sys.modules["_warpwatt_device"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["_warpwatt_device"]


def _import_next() -> None:
    """Import the ``sitecustomize`` that ours stands in front of, if there is one."""
    sys.path[:] = [place for place in sys.path if Path(place) != HERE]
    found = PathFinder.find_spec("sitecustomize")
    if found is not None and found.loader is not None:
        found.loader.exec_module(module_from_spec(found))


sys.meta_path.insert(0, Watch())
_import_next()
