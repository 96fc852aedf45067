"""A sweep on the workers of a dask scheduler: the same rows, and nothing that is done is lost with a worker.

Units are handed out a few per worker thread at a time, so that a million points are no million futures. What
is sent are bytes that carry which WarpWatt made them: a worker with another one refuses them, also when it
joins late. A worker that dies has its units done by others; a unit that kills every worker it meets becomes
rows that say so.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import ToolchainError
from warpwatt.sweep.remote import ClusterError, OtherVersionError, do_unit, held, identity, packed, unpacked
from warpwatt.sweep.units import given_up, units

if TYPE_CHECKING:
    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.units import Unit

AHEAD = 2
"""Units handed out beyond those that are worked on, for each worker."""
PATIENCE_SECONDS = 60.0
"""How long there may be no worker at all before the sweep ends."""
GREETING_SECONDS = 15.0
"""How long a scheduler may take to answer."""
POLL_SECONDS = 1.0
RESUME = "finished points are kept beside the -o FILE: the same command goes on where this one ended"


def _dask() -> Any:
    """Return dask.distributed, whose functions have no types; only who wants it pays for it."""
    return import_module("distributed")


def check() -> None:
    """Raise ToolchainError where dask.distributed is not installed."""
    if find_spec("distributed") is None:
        raise ToolchainError("--dask needs dask.distributed", hint="pip install 'warpwatt[cluster]'")


def run_on_cluster(sweep: Sweep, done: Container[int], address: str) -> Iterator[list[Row]]:
    """Yield the rows of a sweep in batches as they are finished, without those numbered in ``done``.

    Parameters
    ----------
    address
        Of the scheduler, as ``tcp://host:8786``, or its scheduler file.

    Raises
    ------
    ClusterError
        If the scheduler does not answer or is lost, or there is no worker for a minute.
    OtherVersionError
        If a worker has another WarpWatt.
    ToolchainError
        If dask.distributed is not installed here.
    """
    check()
    with _connected(address) as client:
        _wait_for_workers(client)
        check_workers(client)
        # a task and not scattered data: it is done again where the worker that holds it dies
        payload = client.submit(held, packed(sweep), pure=False)
        yield from _all_units(client, sweep, units(sweep, done, max(1, _workers(client))), payload)


def _all_units(client: Any, sweep: Sweep, todo: Iterator[Unit], payload: Any) -> Iterator[list[Row]]:
    """Yield the rows of every unit; those that seem to kill workers are done last, one after the other."""
    suspects: list[Unit] = []
    yield from _window(client, todo, payload, suspects.append)
    for unit in suspects:
        killers: list[Unit] = []
        yield from _window(client, iter([unit]), payload, killers.append)
        if killers:
            yield given_up(sweep, unit)


def _window(
    client: Any, todo: Iterator[Unit], payload: Any, suspect: Callable[[Unit], None]
) -> Iterator[list[Row]]:
    """Yield the rows of units, a bounded number of which is handed out at any time."""
    killed_worker = _dask().KilledWorker
    waiting: dict[Any, Unit] = {}
    try:
        while True:
            room = max(1, _workers(client)) * (1 + AHEAD) - len(waiting)
            for unit in islice(todo, max(0, room)):
                waiting[client.submit(do_unit, payload, unit, pure=False)] = unit
            if not waiting:
                return
            for future in _finished(client, waiting):
                try:
                    rows = unpacked(future.result(timeout=GREETING_SECONDS))
                except killed_worker:
                    suspect(waiting.pop(future))
                except Exception as error:
                    if future.status == "error" or client.status != "running":
                        raise explained(client, error) from error
                    # else who held the result died before we had it, and it is being made again
                else:
                    del waiting[future]
                    yield rows
    finally:
        if client.status == "running":
            client.cancel(list(waiting), force=True)


def _finished(client: Any, waiting: Mapping[Any, Unit]) -> list[Any]:
    """Wait until some futures are finished; raise ClusterError where nobody is left to finish them."""
    idle = 0.0
    while True:
        try:
            with client.as_current():
                done = _dask().wait(list(waiting), timeout=POLL_SECONDS, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            done = set()
        except Exception as error:
            raise explained(client, error) from error
        if client.status != "running" or any(future.status == "cancelled" for future in done):
            raise lost(client)
        if done:
            return list(done)
        idle = 0.0 if _workers(client) else idle + POLL_SECONDS
        if idle >= PATIENCE_SECONDS:
            message = f"no worker for {PATIENCE_SECONDS:.0f} s"
            raise ClusterError(message, hint=f"start workers (dask worker {_address(client)}); {RESUME}")


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Yield a client of the scheduler at an address, or in a scheduler file."""
    file = Path(address)
    where = {"scheduler_file": address} if file.suffix == ".json" else {"address": address}
    try:
        client = _dask().Client(**where, timeout=GREETING_SECONDS, set_as_default=False)
    except Exception as error:
        hint = "start one with `dask scheduler`, workers with `dask worker ADDRESS --nthreads 1`"
        raise ClusterError(f"no dask scheduler answers at {address}: {_said(error)}", hint=hint) from error
    try:
        yield client
    finally:
        client.close(timeout=2)


def _wait_for_workers(client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE_SECONDS)
    except TimeoutError:
        message = f"the scheduler at {_address(client)} has no worker"
        raise ClusterError(message, hint=f"dask worker {_address(client)} --nthreads 1") from None


def check_workers(client: Any) -> None:
    """Raise OtherVersionError where a worker has another WarpWatt than this process, or none."""

    # A function inside a function travels as code: nothing of ours need be installed where it arrives.
    def who() -> str:
        try:
            from warpwatt.sweep.remote import identity
        except ImportError as error:
            return f"none ({error})"
        return identity()

    found = client.run(who, on_error="return")
    others = {worker: version for worker, version in found.items() if version != identity()}
    if others:
        lines = "\n".join(f"  {worker}: {version}" for worker, version in others.items())
        message = f"{len(others)} of {len(found)} workers have another WarpWatt than {identity()}"
        hint = "install the same WarpWatt and CUDA wheels where the workers run, and start them again"
        raise OtherVersionError(message, details=lines, hint=hint)


def explained(client: Any, error: Exception) -> ClusterError:
    """Return why a unit has no result, though points cannot fail: the worker's WarpWatt, or the network."""
    if isinstance(error, ClusterError):
        return error
    if client.status != "running":
        return lost(client)
    try:
        check_workers(client)
    except OtherVersionError as other:
        return other
    except Exception:  # noqa: BLE001 - whatever dask raises when its scheduler goes
        return lost(client)
    return ClusterError(f"a worker failed: {_said(error)}", hint=RESUME)


def lost(client: Any) -> ClusterError:
    """Return the error that the scheduler is gone."""
    return ClusterError(f"the dask scheduler at {_address(client)} is lost", hint=RESUME)


def _said(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _workers(client: Any) -> int:
    """Return how many workers there are now."""
    if client.status != "running":
        return 0
    try:
        return len(client.nthreads())
    except Exception:  # noqa: BLE001 - whatever dask raises when its scheduler goes: none that we know of
        return 0


def _address(client: Any) -> str:
    return client.scheduler.address if client.scheduler is not None else "its address"
