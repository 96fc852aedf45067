"""``wang-chu``: time under core and memory frequency scaling.

Q. Wang and X. Chu, "GPGPU Performance Estimation with Core and Memory Frequency Scaling" (2018), with
corrections. From the paper's parts: :mod:`.memory` (section IV), :mod:`.regimes` (V.A and V.B, with
the exact simulation that judges the closed forms), :mod:`.counts` (what Table IV takes from a profiler),
:mod:`.breakdown` (Figure 12), :mod:`.rounds` (equation 6), :mod:`.baseline` (one profile predicts every
other pair of clocks), :mod:`.remarks` (hit rate, latency and queues in words); :mod:`.model` is the time
model.
"""

from warpwatt.published.wang_chu.model import WangChu

__all__ = ["WangChu"]
