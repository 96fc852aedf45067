"""Compile CUDA and assemble PTX through the cache: the same input is compiled once per machine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from warpwatt.core.errors import CompileError, InputError, ToolchainError
from warpwatt.core.program import Resources
from warpwatt.frontend import toolchain
from warpwatt.frontend.compiled import Compiled, Source
from warpwatt.frontend.options import CompileOptions, Compiler
from warpwatt.frontend.toolchain import Toolkit
from warpwatt.frontend.toolkits import ToolkitChoice, target_number
from warpwatt.storage.cache import default_cache, digest
from warpwatt.storage.inputs import Identity, changed, identity
from warpwatt.storage.witness import depends_on

_ARCH_FLAG = re.compile(r"^-?-(arch|gpu-architecture)=(sm|compute)_\d+[af]?$")
FORMAT = 3
"""Version of what is stored; raise it when the content or its meaning changes."""


def compile_cuda(source: Source, choice: ToolkitChoice, options: CompileOptions) -> Compiled:
    """Return what the compiler makes of a CUDA source, from the cache if nothing it read has changed.

    Raises
    ------
    CompileError, ToolchainError
        As :func:`~warpwatt.frontend.cuda.compile_nvcc` and :func:`~warpwatt.frontend.nvrtc.compile_nvrtc`.
    """
    choice, options = with_arch_flag(choice, options)
    compiler = choose_compiler(choice.toolkit, options)
    if options.compiler is Compiler.CONFIGURATION:
        from warpwatt.frontend.configurations import compile_configuration

        auto, quick = (replace(options, compiler=one) for one in (Compiler.AUTO, Compiler.NVRTC))
        nvcc = partial(compile_cuda, source, choice, auto)
        if compiler is Compiler.NVRTC:
            return nvcc()
        return compile_configuration(
            source, choice, options, nvcc, partial(compile_cuda, source, choice, quick)
        )

    def make() -> Compiled:
        # Imported here because a warm run, which must start fast, needs none of it.
        from warpwatt.frontend.earlier_headers import earlier_headers
        from warpwatt.frontend.messages import NAMED
        from warpwatt.frontend.written import no_instance

        try:
            made = _compile(compiler, source, choice, options)
        except CompileError as error:
            if error.file != NAMED:
                raise
            raise no_instance(error, source.text, options.instantiate) from None
        if options.untrusted:  # which includes nothing of this machine's
            return made
        earlier = earlier_headers(source, made.dependencies, choice.toolkit, options)
        return replace(made, dependencies=(*made.dependencies, *earlier))

    return _through_cache(_key("cuda", compiler, source, choice, options), choice, options, make)


def _compile(compiler: Compiler, source: Source, choice: ToolkitChoice, options: CompileOptions) -> Compiled:
    """Compile with nvcc, or with NVRTC, which also stands in where nvcc refuses host code."""
    from warpwatt.frontend.cuda import compile_nvcc
    from warpwatt.frontend.messages import asked_flag, uses_removed
    from warpwatt.frontend.nvrtc import compile_nvrtc

    if compiler is Compiler.NVRTC:
        return compile_nvrtc(source, choice.target, choice.toolkit, options)
    try:
        return compile_nvcc(source, choice.target, choice.toolkit, options)
    except CompileError as refusal:
        if asked := asked_flag(refusal.details, options.flags):
            wider = replace(options, flags=(*options.flags, asked))
            made = _compile(compiler, source, choice, wider)
            return replace(made, warnings=(f"compiled with {asked}, which nvcc asks for", *made.warnings))
        # A refusal without a line is about flags or tools, not about host code.
        if options.compiler is Compiler.NVCC or refusal.line is None:
            raise
        try:
            return _device_code_only(source, choice, options, refusal)
        except CompileError as error:
            if source.path is None or not uses_removed(refusal.details):
                raise
            return _with_removed(source, source.path, choice, options, error)


def _with_removed(
    source: Source, path: Path, choice: ToolkitChoice, options: CompileOptions, refusal: CompileError
) -> Compiled:
    """Compile with what this toolkit no longer has, from a header of ours; else raise a refusal."""
    from warpwatt.frontend.cuda import compile_nvcc
    from warpwatt.frontend.removed import HEADER, HEADERS, removed_features

    added = (f"-I{HEADERS}", *removed_features([path]))
    try:
        made = compile_nvcc(
            source, choice.target, choice.toolkit, replace(options, flags=(*options.flags, *added))
        )
    except CompileError:
        raise refusal from None
    note = f"uses what CUDA {choice.toolkit.version} dropped: compiled with stand-ins ({HEADER})"
    return replace(made, warnings=(note, *made.warnings))


def _device_code_only(
    source: Source, choice: ToolkitChoice, options: CompileOptions, refusal: CompileError
) -> Compiled:
    """Compile without host code, which may use what this toolkit no longer has; else raise nvcc's refusal."""
    from warpwatt.frontend.messages import NAMED
    from warpwatt.frontend.nvrtc import compile_nvrtc

    try:
        made = compile_nvrtc(source, choice.target, choice.toolkit, options)
    except (CompileError, ToolchainError) as error:
        # These are of more use than a word on host code.
        if "-arch=" in error.hint or error.file == NAMED:
            raise
        raise refusal from None
    if not made.resources:
        raise refusal
    said = str(refusal).replace(f"nvcc for {choice.target}: ", "")  # the same for every GPU
    return replace(made, warnings=(f"host code refused: {said}", *made.warnings))


def assemble_ptx(source: Source, choice: ToolkitChoice, options: CompileOptions) -> Compiled:
    """Return PTX with the cubin and resources ptxas makes of it; without them where ptxas refuses."""

    def make() -> Compiled:
        from warpwatt.frontend.ptxas import try_assemble

        return try_assemble(source.text, choice.target, choice.toolkit, options, file=source.name)

    return _through_cache(_key("ptx", "ptxas", source, choice, options), choice, options, make)


def with_arch_flag(choice: ToolkitChoice, options: CompileOptions) -> tuple[ToolkitChoice, CompileOptions]:
    """Move the user's own ``-arch=sm_90a`` from the flags into the choice of target.

    Raises
    ------
    InputError
        If it names another architecture than the GPU's.
    """
    given = [flag for flag in options.flags if _ARCH_FLAG.match(flag)]
    for flag in given:
        target = "sm_" + flag.rpartition("_")[2]
        if target_number(target) != target_number(choice.target):
            raise InputError(
                f"{flag} does not fit {choice.target}", hint="leave it out, or choose another --gpu"
            )
        choice = replace(choice, target=target)
    kept = tuple(flag for flag in options.flags if flag not in given)
    return choice, replace(options, flags=kept)


def choose_compiler(toolkit: Toolkit, options: CompileOptions) -> Compiler:
    """Return nvcc where it can run, else NVRTC; the user's choice wins, unless the source is untrusted."""
    if options.untrusted:
        return Compiler.NVRTC
    if options.compiler in (Compiler.NVCC, Compiler.NVRTC):
        return options.compiler
    runs = toolkit.nvcc is not None and toolchain.host_compiler() is not None
    return Compiler.NVCC if runs else Compiler.NVRTC


def _key(kind: str, compiler: str, source: Source, choice: ToolkitChoice, options: CompileOptions) -> str:
    """Digest of everything that decides the result, headers excepted: those are checked one by one."""
    host = toolchain.host_compiler() if compiler == Compiler.NVCC else None
    status = host.stat() if host is not None else None
    facts = [
        FORMAT,
        [field.name for field in fields(Resources)],
        kind,
        compiler,
        choice.toolkit.version,
        str(choice.toolkit.root),
        choice.target,
        [str(host), status.st_size, status.st_mtime_ns] if status is not None else None,
        source.name,
        str(source.path.resolve() if source.path is not None else source.folder),
        [options.defines, [str(Path(folder).resolve()) for folder in options.include], options.flags],
        [options.max_registers, options.instantiate, options.compiler, *(["untrusted"] * options.untrusted)],
        str(Path.cwd()) if options.flags else "",
    ]
    return digest(json.dumps(facts).encode(), source.data)


def _through_cache(
    key: str, choice: ToolkitChoice, options: CompileOptions, make: Callable[[], Compiled]
) -> Compiled:
    if options.untrusted and not options.cached:
        return _once(key, make)
    if not options.cached:
        return make()
    cache = default_cache()
    payload = cache.get(key)
    compiled = _unpack(payload) if payload is not None else None
    if compiled is None:
        compiled = make()
        # The toolkit's own headers are covered by its version.
        files = [f for f in compiled.dependencies if not f.startswith(f"{choice.toolkit.root}/")]
        # Headers of the system change with their time alone.
        found = {f: identity(f, contents=not toolchain.is_system(f, choice.toolkit)) for f in files}
        cache.put(key, _pack(compiled, found))
    depends_on(*compiled.dependencies)
    return compiled


_ONCE: dict[str, Compiled] = {}
"""What a process made of sources of strangers, which depend on no file; it serves one request of one."""
MOST_ONCE = 8


def _once(key: str, make: Callable[[], Compiled]) -> Compiled:
    """Return what ``make`` does, remembered: one request asks for the kernels of a source one by one."""
    if key not in _ONCE:
        if len(_ONCE) >= MOST_ONCE:
            del _ONCE[next(iter(_ONCE))]
        _ONCE[key] = make()
    return _ONCE[key]


def _pack(compiled: Compiled, dependencies: Mapping[str, Identity]) -> bytes:
    """Serialise: one line of JSON, then PTX and cubin as they are."""
    ptx = compiled.ptx.encode()
    head = {
        "target": compiled.target,
        "toolkit": compiled.toolkit,
        "resources": {name: asdict(resources) for name, resources in compiled.resources.items()},
        "parameters": compiled.parameters,
        "warnings": compiled.warnings,
        "dependencies": dependencies,
        "ptx": len(ptx),
    }
    return b"\n".join([json.dumps(head).encode(), ptx + compiled.cubin])


def _unpack(payload: bytes) -> Compiled | None:
    """Read what :func:`_pack` wrote; None where a header has changed since."""
    line, _, blobs = payload.partition(b"\n")
    head: dict[str, Any] = json.loads(line)
    if changed(head["dependencies"]):
        return None
    return Compiled(
        target=head["target"],
        toolkit=head["toolkit"],
        ptx=blobs[: head["ptx"]].decode(),
        cubin=blobs[head["ptx"] :],
        resources={name: Resources(**fields) for name, fields in head["resources"].items()},
        parameters={name: tuple(names) for name, names in head["parameters"].items()},
        dependencies=tuple(head["dependencies"]),
        warnings=tuple(head["warnings"]),
    )


def mark_assumed(compiled: Compiled) -> Compiled:
    """Flag every resource as assumed: it was compiled for a stand-in target."""
    resources = {name: replace(r, assumed=True) for name, r in compiled.resources.items()}
    return replace(compiled, resources=resources)
