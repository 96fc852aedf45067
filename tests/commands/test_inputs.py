"""What is kept on disk notices every changed input: a table of inputs, and of caches and journals.

A sweep and a search that go on after an input has changed stop and name it; caches answer from the new one.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from warpwatt.commands import kept
from warpwatt.emulate import analysis, kept_executions
from warpwatt.gpus import find
from warpwatt.server.lsp.facts import Query
from warpwatt.server.lsp.memory import key_of
from warpwatt.server.lsp.module import compile_all, session_of
from warpwatt.server.lsp.source import annotated_launches
from warpwatt.storage import inputs
from warpwatt.sweep import run as sweep_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SOURCE = """\
#include "size.h"
#include "choice.h"
// warpwatt: --grid 64 --block 128 --arg n=8192 --arg x=f32[n] --arg at=i32[8192]:at.npy
__global__ void k(int n, float *x, const int *at) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < SIZE + EXTRA; ++j) x[i] += x[at[(i + j) % n]];
}
"""
CHOICE = '#if __has_include("extra.h")\n#include "extra.h"\n#else\n#define EXTRA 0\n#endif\n'


GPU = 'name = "Mine"\ninherits = "Tesla T4"\n[values]\nboost_clock_mhz = 1200\n'


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Return a folder with all inputs, its own cache, in which everything is kept."""
    monkeypatch.chdir(tmp_path)
    switches = {"WARPWATT_GPUS": "gpus", "WARPWATT_CACHE_DIR": "cache", "XDG_CONFIG_HOME": "config"}
    for name, value in switches.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.setenv("WARPWATT_KEEP_EXECUTIONS", "1")
    monkeypatch.setattr(kept_executions, "WORTH_SECONDS", 0.0)
    (tmp_path / "gpus").mkdir()
    texts = {"k.cu": SOURCE, "size.h": "#define SIZE 2\n", "choice.h": CHOICE, "gpus/mine.toml": GPU}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    np.save(tmp_path / "at.npy", np.arange(8192, dtype=np.int32))
    return tmp_path


@contextmanager
def written(file: Path, data: bytes) -> Iterator[None]:
    """Let a file have other contents, or be there at all; of the same time, where it was there."""
    before = file.read_bytes() if file.exists() else None
    status = file.stat() if before is not None else None
    file.write_bytes(data)
    if status is not None:
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    yield
    if before is None:
        file.unlink()
    else:
        file.write_bytes(before)


def scattered() -> bytes:
    """Return a file of other indices, of the same size."""
    held = BytesIO()
    np.save(held, np.random.default_rng(0).permutation(8192).astype(np.int32))
    return held.getvalue()


@contextmanager
def another_version() -> Iterator[None]:
    """Be another version of WarpWatt."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (inputs, kept):
            patch.setattr(module, "__version__", "0.0.9")
        forget()
        yield
    forget()


def forget() -> None:
    """Forget what this process knows, as a new one would."""
    for known in (analysis._analyse, sweep_run._compiled, inputs.package_state, inputs.package_digest):
        known.cache_clear()


CHANGES = {
    "the source": ("k.cu", SOURCE.replace("+= x[", "+= 2 * x[").encode(), "k.cu"),
    "a header": ("size.h", b"#define SIZE 9\n", "size.h"),
    "a header that was not there": ("extra.h", b"#define EXTRA 5\n", "extra.h"),
    "contents of a buffer": ("at.npy", scattered(), "at.npy"),
    "a field of the GPU": ("gpus/mine.toml", GPU.replace("1200", "900").encode(), "the GPU"),
    "settings": ("pyproject.toml", b"[tool.warpwatt]\nlevel = 'ptx'\n", "the models"),
}
"""The file that changes, its new contents, and how the message of a journal names it."""


def changes(folder: Path, before: Callable[[], object] = tuple) -> Iterator[tuple[str, str]]:
    """Make each change, and take it back; yield its name, and how journals name it."""
    for name, (file, data, said) in CHANGES.items():
        before()
        with written(folder / file, data):
            forget()
            yield name, said
    before()
    with another_version():
        yield "the version", "WarpWatt"
    forget()


def test_caches_notice_every_input(run, folder):
    """Answers, compiled code and executions are all kept: whichever misses a change gives the old answer."""
    asked = ("predict", "k.cu", "--gpu", "mine", "--format", "json")
    first = run(*asked)
    assert first[0] == 0, first
    assert run(*asked) == first
    noticed = {name: run(*asked)[1] != first[1] for name, _ in changes(folder) if name != "the version"}
    assert noticed == dict.fromkeys(CHANGES, True)


def test_answers_and_executions_are_those_of_one_version(run, folder, monkeypatch):
    found: list[object] = []
    real = analysis._found_out

    def counted(*given: Any) -> Any:
        found.append(given)
        return real(*given)

    monkeypatch.setattr(analysis, "_found_out", counted)
    asked = ("predict", "k.cu", "--gpu", "mine", "--format", "brief")
    for expected in (1, 1):
        assert run(*asked)[0] == 0
        assert len(found) == expected
    with another_version():
        assert run(*asked)[0] == 0
    assert len(found) > 1


@pytest.mark.parametrize("verb", ["sweep", "tune"])
def test_journals_name_what_has_changed(run, folder, monkeypatch, verb):
    """The first run is stopped before its result is written; once inputs are as before, it goes on."""
    asked = (
        verb,
        "k.cu",
        "--gpu",
        "mine",
        "-D",
        "W=1,2",
        "-o",
        "out.csv",
        *(["--jobs", "1"] * (verb == "sweep")),
    )
    with monkeypatch.context() as patch:
        module = import_module(f"warpwatt.commands.{verb}" if verb == "sweep" else "warpwatt.commands.output")
        patch.setattr(module, "_write" if verb == "sweep" else "write", stop)
        assert run(*asked)[0] == 130
    kept_rows = (folder / "out.csv.partial").read_bytes()
    noticed = {}
    for name, said in changes(folder):
        code, _, err = run(*asked)
        noticed[name] = code == 1 and said in err
        assert (folder / "out.csv.partial").exists(), name
        assert (folder / "out.csv.partial").read_bytes() == kept_rows, (name, err)
    assert noticed == dict.fromkeys([*CHANGES, "the version"], True)
    code, _, err = run(*asked)
    assert code == 0, err
    assert not (folder / "out.csv.partial").exists()


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_facts_of_the_editor_notice_what_is_no_code(folder):
    """The key of what the editor remembers holds the compiled code; here is the rest."""
    path = folder / "k.cu"
    session = session_of(str(path), path.read_text(), Query(gpu="mine"))
    module = compile_all(session, ["sm_75"])["sm_75"]
    name = next(iter(module.codes))
    (launch,) = annotated_launches(path.read_text())[0]

    def key() -> str:
        return key_of(module, name, launch.read(()), find("mine"), Query(gpu="mine")).text

    keys: list[str] = []
    noticed = {change: key() != keys[-1] for change, _ in changes(folder, lambda: keys.append(key()))}
    assert [name for name, is_new in noticed.items() if is_new] == [
        "contents of a buffer", "a field of the GPU", "the version",
    ]  # fmt: skip
