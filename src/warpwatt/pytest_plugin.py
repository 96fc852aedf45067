"""The pytest plugin: the fixture ``warpwatt`` and the marker of the same name.

::

    from warpwatt.units import mJ, us

    @pytest.mark.warpwatt(gpu="h200,a100")
    def test_saxpy_is_cheap(warpwatt):
        kernel = warpwatt("saxpy.cu", grid=4096, block=256, args={"n": 2**20, "x": "f32[n]", "y": "f32[n]"})
        assert kernel.energy < 2 * mJ
        assert kernel.time.high < 20 * us

This module is loaded into every pytest run on a machine that has WarpWatt; it imports nothing but pytest.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from warpwatt.testing import Predictor

NAME = "warpwatt"
INI_GPU = "warpwatt_gpu"
_MARKER = (
    "warpwatt(gpu=None, **options): GPUs to run the test on, one after another, and what else "
    "warpwatt.predict takes, for all predictions of the test"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the setting with the GPU of tests that name none."""
    parser.addini(INI_GPU, "GPUs of tests that name none, comma-separated (WarpWatt)", default="h200")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", _MARKER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that predicts once per GPU of its marker."""
    if NAME not in metafunc.fixturenames:
        return
    names = str(_options(metafunc.definition).get("gpu") or metafunc.config.getini(INI_GPU))
    gpus = _every() if names == "all" else [name.strip() for name in names.split(",")]
    if len(gpus) > 1:
        metafunc.parametrize(NAME, gpus, ids=gpus, indirect=True)


@pytest.fixture
def warpwatt(request: pytest.FixtureRequest) -> Predictor:
    """Predict kernels: ``warpwatt("saxpy.cu", grid=..., block=..., args=...)``, paths beside the test file.

    Returns a :class:`warpwatt.testing.KernelUnderTest`.
    """
    from warpwatt.testing import Predictor

    options = _options(request.node)
    gpu = getattr(request, "param", None) or options.get("gpu") or request.config.getini(INI_GPU)
    return Predictor(request.path.parent, {**options, "gpu": gpu})


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain a comparison of a prediction that does not hold."""
    testing = sys.modules.get("warpwatt.testing")
    return None if testing is None else testing.explanation(op, left, right)


def _options(node: Any) -> dict[str, Any]:
    """Return what the markers of a test say, the closest last."""
    markers = list(node.iter_markers(NAME))
    if any(marker.args for marker in markers):
        raise pytest.UsageError('warpwatt: name what you say: @pytest.mark.warpwatt(gpu="h200")')
    return {key: value for marker in reversed(markers) for key, value in marker.kwargs.items()}


def _every() -> list[str]:
    from warpwatt.request.choices import complete_gpus

    return [gpu.name for gpu in complete_gpus("all", lambda _: None)]
