"""Answers of the command line that are kept: asked the same again, it says the same again.

The same input gives the same bytes, so that nothing is predicted twice as long as no file that was read, and
no part of the program, has changed (:mod:`~warpwatt.storage.witness`). ``WARPWATT_KEEP_ANSWERS=0`` says no.
"""

from __future__ import annotations

import io
import marshal
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import WarpWattError
from warpwatt.core.folders import cache_directory
from warpwatt.core.version import __version__
from warpwatt.storage.cache import answer_cache, digest
from warpwatt.storage.inputs import state
from warpwatt.storage.witness import loaded_code, witnessed

if TYPE_CHECKING:
    from warpwatt.storage.witness import Witness

VERBS = (
    "predict", "explain", "compare", "recommend", "check", "rank", "tune", "features", "port", "gpus",
    "models",
)  # fmt: skip
"""Verbs that say the same of the same input, and do nothing else."""
HELP = ("--help", "-h", "--version", "-V")
SWITCH = "WARPWATT_KEEP_ANSWERS"
MOST_BYTES = 4 * 2**20
"""Longer answers are not kept."""
_VARIABLES = ("WARPWATT_", "CUDA", "PYTHON", "XDG_", "LC_")
_VARIABLES_NAMED = (
    "PATH", "HOME", "LANG", "NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM", "COLUMNS", "CC", "CXX", "CPATH",
    "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "LD_LIBRARY_PATH", "TMPDIR",
)  # fmt: skip


class _Recorder(io.TextIOWrapper):
    """A text stream over the bytes of another that keeps what is written to it."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        stream.flush()
        super().__init__(stream.buffer, stream.encoding, stream.errors, line_buffering=stream.line_buffering)
        self.said: list[str] = []

    def write(self, text: str) -> int:
        """Write, and keep."""
        written = super().write(text)  # what is no text is refused here
        self.said.append(text)
        return written


def repeat_answer(words: Sequence[str]) -> bool:
    """Say again what was answered to a command line; False where that is not known or may have changed."""
    if not _may_keep(words):
        return False
    payload = answer_cache().get(_key(words))
    kept = marshal.loads(payload) if payload is not None else None  # noqa: S302 - the user's key is on it
    if kept is None or not all(state(file) == was for file, was in kept["read"].items()):
        return False
    if "--force" not in words and any(map(os.path.exists, kept["files"])):
        return False
    try:
        for file, content in kept["files"].items():
            Path(file).write_bytes(content)
    except OSError:
        return False  # the verb itself will say why
    for stream, said in ((sys.stderr, kept["err"]), (sys.stdout, kept["out"])):
        stream.write(said)
        stream.flush()
    return True


@contextmanager
def keeping_answer(words: Sequence[str]) -> Iterator[None]:
    """Keep what the body says in answer to a command line, if it ends well."""
    if not _may_keep(words):
        yield
        return
    key = _key(words)
    with witnessed(str(cache_directory())) as witness, _recorded() as (out, err):
        try:
            yield
        except SystemExit as ended:
            if not ended.code:
                _keep(key, witness, "".join(out.said), "".join(err.said))
            raise


def _keep(key: str, witness: Witness, out: str, err: str) -> None:
    files = witness.outputs()
    if files is None:
        return
    for file in loaded_code():
        witness.depends_on(file)
    payload = marshal.dumps({"read": witness.inputs(), "files": files, "out": out, "err": err})
    if len(payload) <= MOST_BYTES:
        answer_cache().put(key, payload)


@contextmanager
def _recorded() -> Iterator[tuple[_Recorder, _Recorder]]:
    """Yield recorders in place of the standard streams."""
    streams = sys.stdout, sys.stderr
    assert isinstance(streams[0], io.TextIOWrapper)
    assert isinstance(streams[1], io.TextIOWrapper)
    recorders = _Recorder(streams[0]), _Recorder(streams[1])
    sys.stdout, sys.stderr = recorders
    try:
        yield recorders
    finally:
        for recorder in recorders:
            recorder.flush()
            recorder.detach()  # else the stream would be closed with it
        sys.stdout, sys.stderr = streams


def _may_keep(words: Sequence[str]) -> bool:
    """Whether an answer depends on nothing but the command line, the environment and files."""
    if os.environ.get(SWITCH) == "0" or "-" in words or not words:
        return False
    if not (words[0] in VERBS or words[-1] in HELP):
        return False
    try:
        kept = os.getcwd() and answer_cache().limit  # noqa: PTH109 - a folder that is gone has no name
    except (OSError, WarpWattError):
        return False  # whoever needs it says so
    return (
        bool(kept) and isinstance(sys.stdout, io.TextIOWrapper) and isinstance(sys.stderr, io.TextIOWrapper)
    )


def _key(words: Sequence[str]) -> str:
    """Return what an answer depends on beside files."""
    environment = sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith(_VARIABLES) or name in _VARIABLES_NAMED
    )
    streams = [(s.isatty(), s.encoding) for s in (sys.stdout, sys.stderr)]
    width = os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else 0
    facts = [
        __version__,
        sys.version,
        sys.executable,
        sys.argv[0],
        os.getcwd(),  # noqa: PTH109 - as text
        list(words),
        environment,
        streams,
        width,
    ]
    return digest(repr(facts).encode("utf-8", "surrogateescape"))
