"""Run the tutorials with an installed wheel: ``python -m tests.docs.from_wheel FOLDER_OF_THE_WHEEL``.

The wheel goes into an environment of its own, without a network; what it depends on is this environment's. No
module of the checkout's package can be imported: the environment's links to it are not followed.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHECK = "import warpwatt, sys; sys.exit(0 if warpwatt.__file__.startswith(sys.prefix) else warpwatt.__file__)"


def environment(folder: Path) -> str:
    """Make an environment that finds this one's packages after its own; return its Python."""
    venv.create(folder, clear=True, symlinks=True)
    python = str(folder / "bin" / "python")
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    # A path in a .pth file is searched, .pth files in it are not read: no link leads to the checkout.
    (Path(site.stdout.strip()) / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return python


def main(wheels: Path) -> int:
    """Install the wheel and run the tests of the tutorials; return pytest's exit code."""
    wheels = wheels.resolve()
    python = environment(wheels / "environment")
    (wheel,) = wheels.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", python]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    subprocess.run([python, "-c", CHECK], check=True, cwd=wheels)
    tests = [
        python,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--durations=0",
        "tests/docs/test_tutorials.py",
    ]
    return subprocess.run(tests, check=False, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
