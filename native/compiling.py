"""Compile ``native/``: ``make native``, ``make native-test``, ``make sanitize``.

The compiler is ``CXX``, else the machine's own, else that of the ``ziglang`` wheel.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "native"
_PROBE = "#include <span>\nint main() { return static_cast<int>(std::span<int>().size()); }\n"


def find_compiler() -> list[str] | None:
    """Return the command of a compiler of C++20 on this machine, or None."""
    if chosen := os.environ.get("CXX"):
        return chosen.split()
    for candidate in ("c++", "g++", "clang++"):
        if _compiles(candidate):
            return [candidate]
    return [sys.executable, "-m", "ziglang", "c++"] if importlib.util.find_spec("ziglang") else None


def find_cmake() -> str | None:
    """Return where CMake is, the machine's or that of the ``cmake`` wheel, or None."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("cmake") or shutil.which("cmake", path=beside)


def choose_compiler() -> None:
    """Tell CMake the compiler, through ``CXX``; leave the program if there is none."""
    command = find_compiler()
    if command is None:
        sys.exit("the native core needs a compiler of C++20: install g++ or clang++, or pip install ziglang")
    os.environ["CXX"] = " ".join(command)


def build_in_place() -> None:
    """Compile the libraries into the source tree, where Python finds them."""
    _build(BUILD, "libraries")


def run_tests(sanitizers: str = "") -> None:
    """Compile and run the unit tests, with ``sanitizers`` in ``build/native-sanitize``."""
    build = BUILD.with_name("native-sanitize") if sanitizers else BUILD
    _build(build, "all", f"WARPWATT_SANITIZE={sanitizers}")
    os.environ["CTEST_OUTPUT_ON_FAILURE"] = "1"
    _cmake("--build", str(build), "--target", "test")


def _build(build: Path, target: str, *definitions: str) -> None:
    """Configure and compile in a directory; ``definitions`` are CMake's, as ``NAME=VALUE``."""
    if not (build / "CMakeCache.txt").exists():
        choose_compiler()
    library = ROOT / "src" / "warpwatt" / "native" if build == BUILD else build
    definitions = (f"CMAKE_LIBRARY_OUTPUT_DIRECTORY={library}", "WARPWATT_TESTS=ON", *definitions)
    _cmake("-S", str(ROOT / "native"), "-B", str(build), *(f"-D{definition}" for definition in definitions))
    _cmake("--build", str(build), "--target", target, "--parallel", str(os.cpu_count()))


def _cmake(*arguments: str) -> None:
    """Run CMake; leave the program if it fails."""
    command = find_cmake()
    if command is None:
        sys.exit("the native core needs CMake: install it, or pip install cmake")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    status = subprocess.run([command, *arguments], env=environment, check=False).returncode
    if status:
        sys.exit(status)


def _compiles(command: str) -> bool:
    """Return whether a compiler is there and knows C++20."""
    if shutil.which(command) is None:
        return False
    probe = [command, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(probe, input=_PROBE, text=True, capture_output=True, check=False).returncode == 0


def main() -> None:
    """Build the library into the source tree, or do what an option says."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--check", action="store_true", help="tell by the exit status whether tools are there"
    )
    parser.add_argument("--test", action="store_true", help="run the unit tests")
    parser.add_argument("--sanitize", metavar="LIST", default="", help="test with these: address,undefined")
    options = parser.parse_args()
    if options.check:
        sys.exit(not (find_cmake() and find_compiler()))
    if options.test:
        run_tests(options.sanitize)
    else:
        build_in_place()


if __name__ == "__main__":
    main()
