"""A process that runs one function and answers through a pipe; it ends with all it has started, in time.

What is sent, what a silence means and who is started again is its owner's business.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import TYPE_CHECKING, Any

from warpwatt.workers.family import kill_descendants, kill_family

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess


_NEEDED = (
    "PATH", "LANG", "LC_", "TZ", "TMPDIR", "HOME", "PYTHON", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "WARPWATT_",
    "COV_", "COVERAGE_", "XDG_CONFIG_HOME",
)  # fmt: skip
"""How names of variables begin that find programs, libraries and settings."""


def forking_context(preload: str) -> BaseContext:
    """Return the context whose processes are forked from one that has imported the module ``preload``.

    Such a process is warm at once. Where the system cannot fork (Windows), processes are spawned.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([preload])
    return context


@contextmanager
def only_needed_environment() -> Iterator[None]:
    """Take out of this process's environment what its children have no need to know.

    A process can read the environment it was started with for as long as it lives.
    """
    kept = {name: value for name, value in os.environ.items() if name.startswith(_NEEDED)}
    whole = dict(os.environ)
    os.environ.clear()
    os.environ.update(kept)
    try:
        with _safe_path():
            yield
    finally:
        os.environ.update(whole)


_STARTING = threading.Lock()
_starts: list[str | None] = []
"""What ``PYTHONSAFEPATH`` was before each start that is under way; the lock is never held across one."""


@contextmanager
def _safe_path() -> Iterator[None]:
    """Start processes that load no modules from the folder that the user is in."""
    with _STARTING:
        _starts.append(os.environ.get("PYTHONSAFEPATH") if not _starts else _starts[0])
        os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        with _STARTING:
            before = _starts.pop()
            if not _starts:
                os.environ.pop("PYTHONSAFEPATH", None)
                os.environ.update({} if before is None else {"PYTHONSAFEPATH": before})


class _Process(SpawnProcess):
    """A fresh interpreter."""

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: N802 - the library's name
        with _safe_path():
            return SpawnProcess._Popen(process_obj)


class _Context(SpawnContext):
    Process = _Process


def spawning_executor(
    processes: int, initialise: Callable[..., object] = tuple, *arguments: object
) -> ProcessPoolExecutor:
    """Return an executor whose workers are fresh interpreters that end with this process, were it killed.

    Each worker first calls ``initialise(*arguments)``. Fresh, because a fork would copy locks that threads
    of this process may hold.
    """
    begin = partial(_begin, initialise, *arguments)
    return ProcessPoolExecutor(processes, mp_context=_Context(), initializer=begin)


@contextmanager
def spawned(
    processes: int, initialise: Callable[..., object] = tuple, *arguments: object
) -> Iterator[ProcessPoolExecutor]:
    """Yield a :func:`spawning_executor`; where the block ends by an error, its workers are killed at once.

    With all that they have started: after Ctrl-C no compiler works on.
    """
    executor = spawning_executor(processes, initialise, *arguments)
    try:
        yield executor
    except BaseException:
        for process in tuple((executor._processes or {}).values()):  # public from Python 3.14 on
            if process.pid is not None:
                kill_family(process.pid)
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _begin(initialise: Callable[..., object], *arguments: object) -> None:
    begin_work()
    initialise(*arguments)


def begin_work() -> None:
    """Let this process, a worker, leave Ctrl-C to its parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the whole group
    end_with_parent()


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, not even before their first line; it comes afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end of the block where Ctrl-C comes within: what is in hand is kept.

    Where another thread, or somebody else's handler, takes Ctrl-C, nothing is deferred.
    """
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if came:
        raise KeyboardInterrupt


def end_with_parent(tidy: Callable[[], object] = tuple) -> None:
    """Let this process and all it starts be ended once its parent has gone, however that came.

    ``tidy`` is called last: nobody else does it then.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        kill_descendants(os.getpid())
        tidy()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class ChildProcess:
    """A process that runs ``target(connection, *arguments)``; :attr:`connection` is our end of its pipe.

    Parameters
    ----------
    daemon
        False for a process that itself has children of :mod:`multiprocessing`.
    """

    def __init__(
        self, context: BaseContext, target: Callable[..., None], *arguments: object, daemon: bool = True
    ) -> None:
        self.connection: Connection[Any, Any]
        self.connection, self._theirs = context.Pipe()
        self._process = context.Process(  # type: ignore[attr-defined] # every context has it
            target=target, args=(self._theirs, *arguments), daemon=daemon
        )
        self._lock = threading.Lock()
        self._ended = False

    @property
    def pid(self) -> int | None:
        """Its number, None before it is started."""
        pid: int | None = self._process.pid
        return pid

    def start(self) -> None:
        """Start it, unless it has been ended; from whichever thread."""
        with self._lock:
            if not self._ended:
                with _safe_path():
                    self._process.start()
            self._theirs.close()

    def kill(self) -> None:
        """Kill it and what it has started, and do not wait."""
        if self.pid is not None and self._process.is_alive():
            kill_family(self.pid)

    def end(self, seconds: float | None = 5.0) -> None:
        """Kill it and what it has started, wait until it is gone; once is enough, from whichever thread.

        Parameters
        ----------
        seconds
            How long to wait at most; None: as long as it takes.
        """
        with self._lock:
            if self._ended:
                return
            self._ended = True
            self.kill()
            if self.pid is not None:
                self._process.join(seconds)
            self._theirs.close()
            self.connection.close()
