"""From a sequential C function to a verdict: whether it is worth a GPU, and what its kernels look like.

Public names: :func:`port`, which takes a :class:`Request` and returns a :class:`Port`; :func:`check`, which
emulates the generated kernels and compares them with the compiled C. This is the second composition beside
:mod:`warpwatt.compose`, on which it builds: Resios' prognosis and the default model stand side by side.
"""

from warpwatt.published.resios.port.check import Agreement, check
from warpwatt.published.resios.port.porting import Request, port
from warpwatt.published.resios.port.result import Port, PortedNest, Verdict

__all__ = ["Agreement", "Port", "PortedNest", "Request", "Verdict", "check", "port"]
