"""Make an environment and install a lock of this folder: ``python3 requirements/install.py .venv run``.

``run.lock`` is what predictions need, ``dev.lock`` all that this project is made and tested with. uv installs
them several times faster than pip; it is the machine's own, or a wheel from the package index. Where uv
fails, as behind an index that only pip is configured for, pip does its work. Each step is printed with its
seconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import venv
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OLDEST = (3, 11)


@contextmanager
def step(title: str) -> Iterator[None]:
    """Print a step's name and, when it is done, its seconds."""
    print(f"{title} ...", end="", flush=True)
    start = time.monotonic()
    yield
    print(f" {time.monotonic() - start:.1f} s", flush=True)


def make_environment(folder: Path) -> Path:
    """Make the environment unless it is there; return its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        with step(f"environment in {folder.name}"):
            venv.create(folder, with_pip=True, symlinks=True)
    return python


def find_uv(python: Path) -> str | None:
    """Return the command of uv: the environment's, the machine's, or a wheel's; None where there is none."""
    own = python.with_name("uv")
    found = str(own) if own.exists() else shutil.which("uv")
    if found is None:
        with step("uv"):
            pip(python, "--require-hashes", "-r", str(HERE / "installer.lock"), check=False)
        found = str(own) if own.exists() else None
    return found


def pip(python: Path, *arguments: str, check: bool = True) -> None:
    """Install with pip."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=check)


def install(python: Path, uv: str | None, *arguments: str) -> None:
    """Install with uv, with pip where there is no uv or it fails."""
    if uv is not None:
        environment = dict(os.environ)
        if index := os.environ.get("PIP_INDEX_URL"):
            environment.setdefault("UV_DEFAULT_INDEX", index)
        command = [uv, "pip", "install", "--quiet", "--python", str(python), *arguments]
        if subprocess.run(command, check=False, env=environment).returncode == 0:
            return
        print(" uv failed, now pip ...", end="", flush=True)
    pip(python, *arguments)


def main() -> None:
    """Install the lock named on the command line, and after ``run`` the package itself (editable)."""
    if sys.version_info < OLDEST:
        sys.exit("WarpWatt needs Python 3.11 or later")
    folder, lock = Path(sys.argv[1]), sys.argv[2]
    python = make_environment(folder)
    uv = find_uv(python)
    with step(f"packages of {lock}.lock"):
        install(python, uv, "--require-hashes", "-r", str(HERE / f"{lock}.lock"))
    if lock == "run":
        install_project(python, uv)


def install_project(python: Path, uv: str | None) -> None:
    """Install the package itself, and a C++ compiler before it where the machine has none."""
    if subprocess.run([python, str(ROOT / "native" / "compiling.py"), "--check"], check=False).returncode:
        with step("a C++ compiler, for there is none here"):
            install(python, uv, "--require-hashes", "-r", str(HERE / "compiler.lock"))
    with step("WarpWatt itself"):
        install(python, uv, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))


if __name__ == "__main__":
    main()
