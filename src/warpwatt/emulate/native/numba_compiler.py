"""What numba does for :class:`~warpwatt.emulate.native.aot.Library`: Python functions to object code."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]  # ships no type information
import numba
from numba.core import config, types

from warpwatt.emulate.native.aot import signature
from warpwatt.emulate.native.intrinsics import INTRINSICS
from warpwatt.emulate.native.llvm import target_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

_NUMBA_TYPES = {"i64": types.int64, "double": types.float64, "void": types.void}
_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def compile_functions(exports: Sequence[Callable[..., Any]], modules: Sequence[ModuleType]) -> bytes:
    """Return one object of functions as C functions of their own names, and of what they call."""
    native = _dispatchers(modules)
    linked = llvm.parse_assembly("")
    settings: Any = config
    before = settings.OPT
    settings.OPT = settings._OptLevel("0")  # numba would optimise every function with all that it calls
    try:
        for exported in exports:
            linked.link_in(llvm.parse_assembly(_text(native[exported], exported)))
    finally:
        settings.OPT = before
    names = {exported.__name__ for exported in exports}
    for compiled in linked.functions:
        if not compiled.is_declaration and compiled.name not in names:
            compiled.linkage = "internal"
    machine = target_machine(3)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(linked, builder)
    return bytes(machine.emit_object(linked))


def _text(dispatcher: Any, exported: Callable[..., Any]) -> str:
    """Return a function, what it calls and a C function around it as LLVM text."""
    result, parameters = signature(exported)
    dispatcher.compile(_NUMBA_TYPES[result](*[_NUMBA_TYPES[kind] for kind in parameters]))
    (compiled,) = dispatcher.overloads.values()
    around = _wrapper(exported.__name__, compiled.fndesc.llvm_func_name, result, parameters)
    return f"{compiled.library.get_llvm_str()}{around}"


def _dispatchers(modules: Sequence[ModuleType]) -> dict[Callable[..., Any], Any]:
    """Return numba's counterpart of every function of the modules, each seeing those of the others."""
    native: dict[Any, Any] = dict(INTRINSICS)
    namespaces = {module.__name__: dict(vars(module)) for module in modules}
    for module in modules:
        for found in list(vars(module).values()):
            if isinstance(found, FunctionType) and found.__module__ == module.__name__:
                copy = FunctionType(
                    found.__code__, namespaces[module.__name__], found.__name__, found.__defaults__
                )
                native[found] = numba.njit(**_OPTIONS)(copy)
    for namespace in namespaces.values():
        for name, value in namespace.items():
            if isinstance(value, FunctionType):
                namespace[name] = native.get(value, value)
    return native


def _wrapper(name: str, entry: str, result: str, parameters: Sequence[str]) -> str:
    """Return a C function around numba's, which returns through a pointer and reports exceptions."""
    place = "ptr" if result == "void" else result
    declared = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(parameters))
    passed = ", ".join(["ptr %r", "ptr %e", *(f"{kind} %a{i}" for i, kind in enumerate(parameters))])
    back = "ret void" if result == "void" else f"%v = load {result}, ptr %r\n  ret {result} %v"
    return f"""
define {result} @{name}({declared}) {{
  %r = alloca {place}
  %e = alloca ptr
  %s = call i32 @{entry}({passed})
  {back}
}}
"""
