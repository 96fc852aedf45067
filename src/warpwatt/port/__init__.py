"""From a sequential C function to a verdict: is it worth a GPU, and what does the kernel look like?

Public names: :func:`port` and its result :class:`Port`; :func:`check`, which emulates the generated kernels and
compares them with the compiled C. This is the second composition beside :mod:`warpwatt.predict`, on which it
builds: Resios' prognosis and the default model stand side by side.
"""

from warpwatt.port.check import Agreement, check
from warpwatt.port.porting import port
from warpwatt.port.result import Port, PortedNest, Verdict

__all__ = ["Agreement", "Port", "PortedNest", "Verdict", "check", "port"]
