"""What runs in a process of its own: walls first, then one task, its answer as JSON through a pipe.

Before it may come ``{"early": ...}``, once: what is known while the task works on. The answer is
``{"good": ...}``, ``{"error": ...}`` for what the user can mend, or ``{"crash": traceback}``.
The parent only parses JSON: it trusts no object that this process might have been made to send.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import WarpWattError
from warpwatt.workers.confinement import Walls, confine, landlock_version
from warpwatt.workers.process import end_with_parent

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from warpwatt.workers.limits import Limits


class SideError(Exception):
    """An error of one of two parts of a request."""

    def __init__(self, side: str, error: WarpWattError) -> None:
        super().__init__(side)
        self.side = side
        self.error = error


def main(
    pipe: Connection,
    work: str,
    task: str,
    request: dict[str, Any],
    folder: str,
    limits: Limits,
    *,
    early: bool = False,
) -> None:
    """Confine this process to ``folder``, do a task of the module ``work``, send its answer.

    The module has ``TASKS`` (name to function of a request, its limits, whether the walls keep files away,
    and what sends an early answer: None unless ``early``) and ``reach(folder)``, its walls. It is loaded
    before the fork.
    """

    def tell(found: dict[str, Any]) -> None:
        pipe.send_bytes(json.dumps({"early": found}).encode())

    try:
        module = import_module(work)
        confined = _enter(module.reach(Path(folder)), limits)
        answer = {"good": module.TASKS[task](request, limits, confined, tell if early else None)}
    except SideError as error:
        answer = {"error": {**described(error.error), "side": error.side}}
    except WarpWattError as error:
        answer = {"error": described(error)}
    except MemoryError:
        answer = {"error": {"kind": "LimitError", "message": "no memory left", "hint": LESS}}
    except RecursionError:
        answer = {"error": {"kind": "LimitError", "message": "too deeply nested", "hint": LESS}}
    except BaseException:  # noqa: BLE001 - whatever it is, the parent has to hear of it
        answer = {"crash": shorten(traceback.format_exc())}
    pipe.send_bytes(json.dumps(answer).encode())
    pipe.close()
    sys.stdout.flush()
    os._exit(0)  # nothing to tidy up: the folder is the parent's, and threads may still hold locks


LESS = "send less: fewer GPUs, a smaller launch or a simpler kernel"


def described(error: WarpWattError) -> dict[str, Any]:
    """Return an error as plain values: what the command line would show."""
    return {
        "kind": type(error).__name__,
        "message": shorten(error.message),
        "hint": error.hint,
        "file": error.file,
        "line": error.line,
        "details": shorten(error.details, MOST_DETAILS).splitlines(),
        "exit_code": error.exit_code,
    }


MOST_TEXT, MOST_DETAILS = 4000, 64_000
"""Characters of a message and of a log: a source of half a megabyte may be one long name."""


def shorten(text: str, most: int = MOST_TEXT) -> str:
    """Return a text without its middle where it is too long.

    >>> shorten("abcdefgh", 4)
    'ab … gh'
    """
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-(most // 2) :]}"


def _enter(walls: Walls, limits: Limits) -> bool:
    """Go behind the walls; return whether they keep files away."""
    folder = str(walls.writable)
    os.chdir(folder)
    tempfile.tempdir = folder
    # Nothing is kept between requests: each compiles anew, in a folder of its own.
    os.environ.update(TMPDIR=folder, HOME=folder, WARPWATT_CACHE_SIZE="0")
    confine(walls, limits, os.cpu_count() or 1)
    end_with_parent(lambda: shutil.rmtree(folder, ignore_errors=True))
    return landlock_version() > 0
