"""Functions compiled ahead of time."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from warpwatt.emulate.native import sample
from warpwatt.emulate.native.aot import Library, function, load
from warpwatt.emulate.native.llvm import compile_text


def test_compiled_is_what_python_computes():
    values = np.array([3, -5, 2**40], np.int64)
    code = load([Library((sample,), ("total",)).object()])
    compiled = function(code.address("total"), 2)(values.ctypes.data, 3)
    assert compiled == sample.total(values.ctypes.data, 3) == 2**40 - 2


def test_stored_code_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(tmp_path))
    library = Library((sample,), ("total",))
    first = library.object()
    monkeypatch.setattr(Library, "_compile", lambda _: b"compiled again")
    assert library.object() == first


def test_key_depends_on_exports():
    assert Library((sample,), ("total",)).key != Library((sample,), ()).key


def test_warm_engine_does_not_import_numba():
    load([Library((sample,), ("total",)).object()])
    code = (
        "import sys; from warpwatt.emulate import native; from warpwatt.emulate.native import sample;"
        "from warpwatt.emulate.native.aot import Library; Library((sample,), ('total',)).object();"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_two_objects_see_each_other():
    one = compile_text(
        "declare i64 @other(i64) define i64 @one(i64 %x) { %y = call i64 @other(i64 %x) ret i64 %y }"
    )
    two = compile_text("define i64 @other(i64 %x) { %y = add i64 %x, 1 ret i64 %y }")
    code = load([one, two])
    assert function(code.address("one"), 1)(41) == 42
