"""Load everything an analysis needs and run it once, so that the processes forked from here start warm.

Preloaded by :mod:`multiprocessing`'s fork server; importing it is its effect. Standard output belongs to the
protocol, so nothing here or in the processes that follow may write to it.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from warpwatt.core.errors import WarpWattError
from warpwatt.server.lsp.analysis import Analysis
from warpwatt.server.lsp.facts import Job, PlacedLaunch, Query
from warpwatt.storage.inputs import package_state

PROBE = """__global__ void probe(int n, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1.0f;
}
"""


def silence() -> None:
    """Send what is printed to standard error, and read nothing: both streams belong to the protocol."""
    with suppress(OSError):
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)


def warm_up() -> None:
    """Predict a small kernel; what goes wrong here is reported when somebody asks for something."""
    launch = PlacedLaunch("probe", "64", "128", arg=("n=8192", "x=f32[n]"), line=1)
    path = os.path.join(tempfile.gettempdir(), "warpwatt-probe.cu")  # noqa: PTH118 - a name, never written
    with suppress(WarpWattError, OSError):
        package_state()
        job = Job(0, path, PROBE, Query(advice=False), (launch,))
        Analysis(job, lambda _: None, lambda: False, fresh=True).run()


silence()
if os.environ.get("WARPWATT_LSP_WARM", "1") != "0":
    warm_up()
