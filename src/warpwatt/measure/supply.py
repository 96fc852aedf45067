"""Inputs and expected results of the points to come, made ahead by other processes.

References take longer than the kernels they check; the GPU shall not wait for them. Arrays travel as files
in shared memory.
"""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arguments import Fill
from warpwatt.core.errors import InputError, WarpWattError
from warpwatt.measure.comparison import expected
from warpwatt.measure.corpus import buffers, load_program
from warpwatt.measure.inputs import FLOATS, fill, make_inputs
from warpwatt.measure.instance import Job

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from warpwatt.measure.corpus import CorpusProgram

RANDOM, ZEROS = "random", "zeros"
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
"""Where arrays are handed over, if it exists."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to make: inputs and expected results of a program's size."""

    program: CorpusProgram
    size: str
    data: str


def make_job(order: Order) -> Job:
    """Make inputs and expected results here and now.

    Raises
    ------
    WarpWattError
        If the program's own functions fail.
    """
    program, size = order.program, order.size
    inputs = make_inputs(program, size)
    if order.data == ZEROS:
        for name in zeroable(program, size):
            if np.array_equal(inputs[name], fill(name, dict(buffers(program.size(size)))[name])):
                inputs[name] = np.zeros_like(inputs[name])
    return Job(program, size, order.data, inputs, expected(program, size, inputs))


def zeroable(program: CorpusProgram, size: str) -> tuple[str, ...]:
    """Return the buffers that zeros may replace without another course of the program: random floats."""
    described = buffers(program.size(size))
    return tuple(name for name, b in described if b.fill is Fill.RANDOM and b.dtype in FLOATS)


@dataclass(slots=True)
class Supply:
    """Makes jobs in the order they are asked for, some ahead. Use it as a context manager.

    ``workers`` 0 makes each where it is needed.
    """

    workers: int
    _pool: ProcessPoolExecutor | None = None
    _folder: Path | None = None
    _waiting: dict[Future[Path], int] = field(default_factory=dict)

    def __enter__(self) -> Self:
        if self.workers:
            parent = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
            self._folder = Path(tempfile.mkdtemp(prefix="warpwatt-", dir=parent))
            self._pool = ProcessPoolExecutor(self.workers, mp_context=get_context("spawn"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            processes = list((self._pool._processes or {}).values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:  # a reference may run for minutes; nobody waits for it any more
                process.kill()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def jobs(self, orders: Sequence[Order]) -> Iterator[tuple[int, Job | WarpWattError]]:
        """Yield the index of each order with its job, or with what went wrong; the first that is ready first."""
        if self._pool is None:
            for index, order in enumerate(orders):
                yield index, _tried(order)
            return
        assert self._folder is not None
        ahead = iter(enumerate(orders))
        while True:
            while len(self._waiting) < 2 * self.workers and (item := next(ahead, None)) is not None:
                index, order = item
                folder = self._folder / str(index)
                self._waiting[self._pool.submit(_deliver, _by_path(order), folder)] = index
            if not self._waiting:
                return
            ready, _ = wait(self._waiting, return_when=FIRST_COMPLETED)
            first = min(ready, key=self._waiting.__getitem__)
            index = self._waiting.pop(first)
            yield index, _received(first, orders[index])


def _tried(order: Order) -> Job | WarpWattError:
    try:
        return make_job(order)
    except WarpWattError as error:
        return error


def _by_path(order: Order) -> tuple[Path, str, str]:
    return order.program.source.with_suffix(".toml"), order.size, order.data


def _deliver(order: tuple[Path, str, str], folder: Path) -> Path:
    """Make a job and leave its arrays in a folder. Runs in a worker."""
    path, size, data = order
    job = make_job(Order(load_program(path), size, data))
    for part, values in (("inputs", job.inputs), ("wanted", job.wanted)):
        (folder / part).mkdir(parents=True)
        for name, value in values.items():
            np.save(folder / part / f"{name}.npy", value)
    return folder


def _received(future: Future[Path], order: Order) -> Job | WarpWattError:
    try:
        folder = future.result()
    except WarpWattError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a worker may die of anything, memory above all
        return InputError(f"making inputs and results failed: {error!r}", file=order.program.source)
    inputs, wanted = (_arrays(folder / part) for part in ("inputs", "wanted"))
    shutil.rmtree(folder, ignore_errors=True)
    inputs = {name: value if value.ndim else value.item() for name, value in inputs.items()}
    return Job(order.program, order.size, order.data, inputs, wanted)


def _arrays(folder: Path) -> dict[str, Any]:
    return {path.stem: np.load(path, allow_pickle=False) for path in sorted(folder.glob("*.npy"))}
