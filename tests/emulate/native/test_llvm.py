"""LLVM text becomes code that runs."""

from __future__ import annotations

import ctypes

import pytest

from warpwatt import native
from warpwatt.emulate.native import llvm
from warpwatt.emulate.native.llvm import compile_text, function, load

CALLS_OTHER = "declare i64 @other(i64) define i64 @one(i64 %x) { %y = call i64 @other(i64 %x) ret i64 %y }"


def test_two_objects_see_each_other():
    other = compile_text("define i64 @other(i64 %x) { %y = add i64 %x, 1 ret i64 %y }")
    code = load([compile_text(CALLS_OTHER), other])
    assert function(code.address("one"), 1)(41) == 42


def test_generated_code_calls_the_native_core():
    text = "declare ptr @demangle(ptr) define ptr @of(ptr %x) { %y = call ptr @demangle(ptr %x) ret ptr %y }"
    code = load([compile_text(text)], {"demangle": native.address("demangle")})
    name = ctypes.create_string_buffer(b"_Z1fv")
    found = function(code.address("of"), 1)(ctypes.addressof(name))
    assert ctypes.string_at(found) == b"f()"


def test_a_function_that_is_not_there_is_a_key_error():
    with pytest.raises(KeyError):
        load([compile_text("define void @there() { ret void }")]).address("elsewhere")


def test_stored_code_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(tmp_path))
    text = "define i64 @kept() { ret i64 7 }"
    first = compile_text(text)
    monkeypatch.setattr(llvm, "target_machine", lambda _: pytest.fail("compiled again"))
    assert compile_text(text) == first
