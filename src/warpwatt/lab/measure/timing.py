"""Timing launches with events: cold and warm L2, one by one and in batches.

The host is slower at enqueuing than short kernels are at running. So every timed span is enqueued while
the device is still busy with something untimed (``Device.keep_busy``, the flush): none contains waiting for
the host.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from warpwatt.core.launch import Dim3, Launch

if TYPE_CHECKING:
    from typing import Any

    from warpwatt.lab.measure.device import Action, Device
    from warpwatt.lab.measure.instance import Instance
    from warpwatt.lab.measure.prepared import Code

ENQUEUE_SECONDS = 15e-6
"""What the host takes at most to enqueue a launch with its events; ``keep_busy`` covers this for each."""
BATCH = 200
"""Launches of a batch; the driver's queue holds about a thousand."""


class Stopwatch:
    """Events of one device, used again and again."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._events: list[Any] = []

    def events(self, count: int) -> list[Any]:
        """Return the first ``count`` events, made where needed."""
        while len(self._events) < count:
            self._events.append(self.device.event())
        return self._events[:count]

    def spans(self, actions: list[Action], before: Action | None = None) -> list[float]:
        """Enqueue actions and return the seconds of each; ``before`` is enqueued, untimed, ahead of each.

        Without ``before`` they run back to back, the end of one being the beginning of the next.
        """
        device = self.device
        events = self.events(2 * len(actions))
        pairs = list(zip(events[::2], events[1::2], strict=True))
        if before is None:
            pairs = list(pairwise(events[: len(actions) + 1]))
            device.record(events[0])
        for action, (start, stop) in zip(actions, pairs, strict=True):
            if before is not None:
                before()
                device.record(start)
            action()
            device.record(stop)
        device.synchronise()
        return [device.elapsed(start, stop) for start, stop in pairs]


def time_cold(watch: Stopwatch, instance: Instance) -> list[float]:
    """Run the program once, the L2 flushed before every launch; return the mean seconds of each launch."""
    device = watch.device
    actions = instance.actions()
    device.keep_busy(ENQUEUE_SECONDS)
    instance.restore()
    return _by_launch(instance, watch.spans(actions, device.flush_l2))


def time_warm(watch: Stopwatch, instance: Instance) -> list[float]:
    """Run the program twice, the second time timed; return the mean seconds of each launch.

    Where a run needs the buffers it changes put back, that happens between the two.
    """
    actions = instance.actions()
    watch.device.keep_busy(ENQUEUE_SECONDS * (4 + 2 * len(actions)))
    instance.restore()
    instance.run()
    instance.restore()
    return _by_launch(instance, watch.spans(actions))


def time_batch(watch: Stopwatch, run: Action, launches: int = BATCH) -> float:
    """Return the seconds per launch of a batch between two events, launch overhead included."""
    watch.device.keep_busy(ENQUEUE_SECONDS * launches)
    run()
    return watch.spans([repeated(run, launches)])[0] / launches


def time_nothing(watch: Stopwatch) -> float:
    """Return the seconds between two events with nothing between them."""
    watch.device.keep_busy(10 * ENQUEUE_SECONDS)
    return watch.spans([lambda: None])[0]


def time_empty_kernel(watch: Stopwatch, code: Code) -> float:
    """Return the seconds of a kernel that does nothing, one block of one warp, as the smallest of 32."""
    device = watch.device
    (name,) = code.parameters
    module = device.load(code.cubin)
    try:
        run = device.launcher(device.function(module, name), Launch(Dim3(1), Dim3(32)), ())
        run()
        device.keep_busy(64 * ENQUEUE_SECONDS)
        return min(watch.spans([run] * 32))
    finally:
        device.unload(module)


def repeated(action: Action, count: int) -> Action:
    """Return an action that enqueues another ``count`` times."""

    def run() -> None:
        for _ in range(count):
            action()

    return run


def _by_launch(instance: Instance, spans: list[float]) -> list[float]:
    """Average the executions of each launch."""
    result, position = [], 0
    for launch in instance.launches:
        part = spans[position : position + launch.executions]
        result.append(sum(part) / len(part))
        position += launch.executions
    return result
