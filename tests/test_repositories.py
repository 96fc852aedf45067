"""A repository that somebody has cloned runs no code as its reader: doors that such code could come through.

Each repository tries to make a file ``pwned``. Through the doors of ``OPEN`` code ran once, through those of
``SHUT`` it did not. What is code by nature is no door: a program given to ``run``, a ``.py`` file given to
``predict``, a C program given to ``port``, the makefile that calls ``warpwatt nvcc``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warpwatt.commands.main import main
from warpwatt.core.errors import WarpWattError
from warpwatt.server.lsp.module import compile_all, session_of
from warpwatt.server.lsp.settings import settings_for

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "pwned"
DOLLAR, BACKTICKS, QUOTES = f"$(touch {MARK})", f"`touch {MARK}`", f'1"; touch {MARK}; "'
KERNEL = """\
// warpwatt: --grid 1 --block 32 --arg x=i32[32]
__global__ void k(int *x) { x[threadIdx.x] = 1; }
"""
PYTHON = f"open({MARK!r}, 'w').close()\n"
PICKLE = b"cposix\nsystem\n(S'touch pwned'\ntR."
LAUNCH = ("--grid", "1", "--block", "32")


def project(folder: Path, settings: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.warpwatt]\n{settings}\n")


def source(folder: Path, name: str = "k.cu", text: str = KERNEL) -> str:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return name


def file_name(name: str) -> Callable[[Path], list[str]]:
    """Return a repository whose source, or the folder of it, has a name."""
    return lambda folder: ["predict", source(folder, name)]


def settings(line: str) -> Callable[[Path], list[str]]:
    """Return a repository with a line of settings for the command line."""

    def lay(folder: Path) -> list[str]:
        project(folder, line)
        return ["predict", source(folder)]

    return lay


def edited(line: str) -> Callable[[Path], list[str]]:
    """Return a repository with a line of settings for the editor."""

    def lay(folder: Path) -> list[str]:
        (folder / "warpwatt.toml").write_text(f"{line}\n")
        script(folder, "x", f'touch {folder / MARK}\nexec "$@"\n')
        return ["edit", source(folder)]

    return lay


def script(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}")
    (folder / name).chmod(0o755)


def folder_of_the_user(folder: Path) -> list[str]:
    inner = folder / DOLLAR
    inner.mkdir()
    os.chdir(inner)
    return ["predict", source(inner)]


def folder_in_the_editor(folder: Path) -> list[str]:
    source(folder, f"{DOLLAR}/k.cu")
    return ["edit", f"{DOLLAR}/k.cu"]


def header_folder(folder: Path) -> list[str]:
    source(folder, f"{DOLLAR}/v.h", "#define V 1\n")
    project(folder, f"include = ['{DOLLAR}']")
    return ["predict", source(folder, text=f'#include "v.h"\n{KERNEL}')]


def header_name(folder: Path) -> list[str]:
    source(folder, f"{DOLLAR}.h", "")
    return ["predict", source(folder, text=f'#include "{DOLLAR}.h"\n#line 7 "{BACKTICKS}.cu"\n{KERNEL}')]


def configurations(folder: Path) -> list[str]:
    (folder / "c.csv").write_text(f"V\n{DOLLAR}\n")
    return ["sweep", source(folder), "--define-file", "c.csv", "--jobs", "1"]


def budgets(folder: Path) -> list[str]:
    script(folder, "x", f'touch {MARK}\nexec "$@"\n')
    lines = (
        "[[budget]]",
        f'source = "{source(folder)}"',
        'max.time = "1 s"',
        'flags = ["-Xcompiler", "-wrapper,./x"]',
    )
    (folder / "budgets.toml").write_text("\n".join(lines))
    return ["check", "budgets.toml"]


def modules(folder: Path) -> list[str]:
    """Python's own modules, for the processes that a sweep starts."""
    for name in ("multiprocessing.py", "click.py", "sitecustomize.py", "conftest.py"):
        (folder / name).write_text(f"{PYTHON}raise SystemExit(3)\n")
    return ["sweep", source(folder), "-D", "V=1,2,3,4", "--jobs", "2"]


def as_module(folder: Path) -> list[str]:
    """Run as ``python -m warpwatt``, which looks for modules in the folder that the user is in."""
    (folder / "click.py").write_text(f"{PYTHON}raise SystemExit(3)\n")
    return ["-m", "--version"]


def installer(folder: Path) -> list[str]:
    """A toolkit that is not there, and a ``pip`` beside the settings."""
    (folder / "pip").mkdir()
    for name in ("__init__.py", "__main__.py"):
        (folder / "pip" / name).write_text(PYTHON)
    project(folder, 'toolkit = "12.1"')
    return ["predict", source(folder)]


def arrays(folder: Path) -> list[str]:
    import numpy as np

    np.save(folder / "x.npy", np.array([1]), allow_pickle=False)
    head = (folder / "x.npy").read_bytes()[:128].replace(b"'<i8'", b"'|O' ")
    (folder / "x.npy").write_bytes(head + PICKLE)
    return ["predict", source(folder), *LAUNCH, "--arg", "x=i32[1]:x.npy"]


def model(folder: Path) -> list[str]:
    (folder / "m.json").write_bytes(PICKLE)
    project(folder, 'model = ["power=m.json"]')
    return ["predict", source(folder)]


def git(folder: Path) -> list[str]:
    """A configuration that names programs, as an archive of a repository may hold it."""
    name = source(folder)
    for words in ("init -q", "add .", "-c user.name=a -c user.email=b commit -qm m"):
        subprocess.run(["git", *words.split()], cwd=folder, check=True)
    script(folder, "x", f"touch {folder / MARK}\n")
    keys = ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "core.hooksPath")
    for key in keys:
        subprocess.run(["git", "config", key, str(folder / "x")], cwd=folder, check=True)
    (folder / ".gitattributes").write_text("* diff=x filter=x\n")
    subprocess.run(["git", "config", "filter.x.smudge", str(folder / "x")], cwd=folder, check=True)
    return ["compare", name, "--since", "HEAD"]


def build_files(folder: Path) -> list[str]:
    """What other tools would take orders from."""
    script(folder, "x", f"touch {folder / MARK}\n")
    for name in ("g++", "gcc", "nvcc", "ptxas", "cicc", "sh", "git"):
        script(folder, name, f"touch {folder / MARK}\n")
    (folder / "nvcc.profile").write_text(f"PATH += {DOLLAR}\nflags = -Xcompiler -wrapper,./x\n")
    (folder / "specs").write_text("*cpp:\n-wrapper ./x\n")
    (folder / ".env").write_text("NVCC_PREPEND_FLAGS=-Xcompiler -wrapper,./x\n")
    (folder / "compile_commands.json").write_text('[{"file": "k.cu", "command": "./x"}]')
    (folder / "Makefile").write_text("all:\n\t./x\n")
    (folder / "conftest.py").write_text(PYTHON)
    return ["predict", source(folder)]


def python_in_the_editor(folder: Path) -> list[str]:
    return ["edit", source(folder, "k.py", f"{PYTHON}# __global__ void k(int *x) {{}}\n")]


OPEN: dict[str, Callable[[Path], list[str]]] = {
    "a file name with $()": file_name(f"k{DOLLAR}.cu"),
    "a file name with backticks": file_name(f"k{BACKTICKS}.cu"),
    "a folder's name with $()": file_name(f"{DOLLAR}/k.cu"),
    "a folder's name with backticks": file_name(f"{BACKTICKS}/k.cu"),
    "the folder that the user is in": folder_of_the_user,
    "a definition with $()": settings(f"define = {{ T = '{DOLLAR}' }}"),
    "a definition with backticks": settings(f"define = ['T={BACKTICKS}']"),
    "a configuration of a sweep": configurations,
    "flags of budgets": budgets,
    "modules of Python": modules,
    "python -m": as_module,
    "an installer": installer,
    "a definition in the editor": edited(f"define = {{ T = '{DOLLAR}' }}"),
    "flags in the editor": edited("flags = ['-Xcompiler', '-wrapper,./x']"),
    "flags of one file in the editor": edited(
        "[[file]]\npath = 'k.cu'\nflags = ['-Xcompiler', '-wrapper,./x']"
    ),
    "a file name with quotation marks": file_name(f"k{QUOTES}.cu"),
}
SHUT: dict[str, Callable[[Path], list[str]]] = {
    "a folder of headers": header_folder,
    "a folder of headers in the editor": edited(f"include = ['{DOLLAR}']"),
    "a folder's name in the editor": folder_in_the_editor,
    "a definition with quotation marks": settings(f"define = ['T={QUOTES}']"),
    "flags of a project": settings("flags = ['-Xcompiler', '-wrapper,./x']"),
    "a header's name": header_name,
    "an array with a pickle": arrays,
    "a model with a pickle": model,
    "git's configuration": git,
    "files of build tools": build_files,
    "Python in the editor": python_in_the_editor,
}


def read(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what a reader does: a command, or opening a file in an editor that trusts the folder."""
    if words[0] == "-m":
        subprocess.run([sys.executable, "-m", "warpwatt", *words[1:]], check=False, capture_output=True)
    elif words[0] == "edit":
        path = Path(words[1]).absolute()
        query = settings_for(path, {}).query
        os.chdir(path.parent)
        try:
            compile_all(session_of(str(path), path.read_text(), query), ["sm_90"])
        except WarpWattError:
            return
    else:
        monkeypatch.setattr(sys, "argv", ["warpwatt", *words])
        with suppress(SystemExit):
            main()


DOORS = {**OPEN, **SHUT}
FIRST = (
    "a file name with $()", "the folder that the user is in", "a definition with $()", "flags of budgets",
    "python -m", "an installer", "a definition in the editor", "flags in the editor", "flags of a project",
    "a header's name",
)  # fmt: skip
"""Doors of different kinds; ``make doors`` tries all."""
TRIED = DOORS if "WARPWATT_DOORS" in os.environ else FIRST


@pytest.mark.parametrize("door", TRIED)
def test_a_repository_runs_no_code(door, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    read(DOORS[door](folder), monkeypatch)
    assert not list(tmp_path.rglob(MARK)), capsys.readouterr()
    assert "Traceback" not in capsys.readouterr().err
