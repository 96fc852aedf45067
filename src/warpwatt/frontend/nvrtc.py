"""CUDA C++ to PTX with NVRTC, for toolkits and machines without nvcc or a host compiler."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict

from warpwatt.core.errors import CompileError, ToolchainError
from warpwatt.frontend import hostcode, process, standing, toolchain, untrusted
from warpwatt.frontend.compiled import Compiled, Source
from warpwatt.frontend.cuda import source_parameters
from warpwatt.frontend.host_headers import HOST_HEADERS, stand_in
from warpwatt.frontend.messages import NAMED, Message, compile_error, errors
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.ptxas import assemble
from warpwatt.frontend.toolchain import Toolkit
from warpwatt.workers.seccomp import filter_of_files

WORKER = Path(__file__).with_name("nvrtc_worker.py")
ATTEMPTS = 12
"""How often host declarations that stand in the way are blanked before we give up."""

_CALLED: set[Path] = set()
"""Libraries that were called in this process: whoever compiles twice compiles often."""
_MISSING_HEADER = re.compile(r'(?:could not|cannot) open source file "([^"]+)"')
_NAMES = "__nv_name_map"
"""What NVRTC calls the file of the names of instances."""
_UNDEFINED = re.compile(r'error: identifier "(\w+)" is undefined')
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


class Request(TypedDict):
    """What :mod:`~warpwatt.frontend.nvrtc_worker` is asked; the path of the library comes on top."""

    source: str
    name: str
    headers: dict[str, str]
    options: list[str]
    expressions: list[str]


class Answer(TypedDict):
    """What it answers; ``ptx`` only where ``status`` is 0."""

    status: int
    error: str
    log: str
    ptx: str


@dataclass(slots=True)
class _Texts:
    """The source and the user's headers, host functions blanked: path -> text, and include name -> path."""

    name: str
    texts: dict[str, str]
    headers: dict[str, str]
    missing: list[str]
    given: dict[str, str] = field(default_factory=lambda: HOST_HEADERS)
    """Headers that are ours, by the names they are included by."""
    marks: frozenset[str] = frozenset()
    """Annotations of device code that some file defines."""

    def blank(self, messages: Sequence[Message]) -> bool:
        """Blank the host declarations the messages point at; return whether anything changed."""
        changed = False
        for file in {message.file for message in messages} & set(self.texts):
            lines = {m.line for m in messages if m.file == file and m.line is not None}
            blanked = hostcode.without_lines(self.texts[file], lines, self.marks)
            changed |= blanked != self.texts[file]
            self.texts[file] = blanked
        return changed

    def virtual_headers(self) -> dict[str, str]:
        """Return the text of every header under the name it is included by; ``#line`` keeps its path."""
        own = {name: f'#line 1 "{path}"\n{self.texts[path]}' for name, path in self.headers.items()}
        return {**self.given, **{name: stand_in(name) for name in self.missing}, **own}

    def add_missing(self, log: str) -> bool:
        """Take a header that does not exist for its stand-in; return whether there was one."""
        found = _MISSING_HEADER.search(log)
        if found is None or found[1] in self.missing:
            return False
        self.missing.append(found[1])
        return True


def compile_nvrtc(source: Source, target: str, toolkit: Toolkit, options: CompileOptions) -> Compiled:
    """Compile the device code of a CUDA source for one target; host code is left out.

    Raises
    ------
    CompileError
        If NVRTC refuses the device code, or it depends on host headers NVRTC does not have.
    ToolchainError
        If NVRTC or ptxas is missing, crashes or runs out of time.
    """
    texts = _read_untrusted(source, options, toolkit) if options.untrusted else _read(source, options)
    flags = nvrtc_flags(source, target, toolkit, options)
    # NVRTC's own headers must not take it for nvcc; the user's code, which asks, is meant for nvcc.
    flags += ["-D__NVCC__=1"] if any("__NVCC__" in text for text in texts.texts.values()) else []
    answer = _compile_blanking(texts, source, flags, toolkit, options)
    whole = options.untrusted and texts.texts[texts.name] == untrusted.normalised(source.text)
    made = assemble(answer["ptx"], target, toolkit, options)
    ignored = [flag for flag in options.flags if not _NVRTC_FLAGS.match(flag)]
    notes = [f"NVRTC does not know {' '.join(ignored)}: left out"] if ignored else []
    notes += [f"header {name} not found: taken for empty" for name in texts.missing]
    included = tuple(path for path in texts.texts if path != texts.name)
    return replace(
        made,
        parameters=source_parameters(source, included, toolkit),
        dependencies=(*included, *_looked_for(texts.missing, source, options)),
        warnings=(*([] if whole else ["compiled with NVRTC: host code left out"]), *notes, *made.warnings),
    )


def _compile_blanking(
    texts: _Texts, source: Source, flags: Sequence[str], toolkit: Toolkit, options: CompileOptions
) -> Answer:
    """Compile, blanking host declarations that NVRTC refuses, until it accepts or none is left."""
    expressions = [*options.instantiate, *hostcode.launched_templates(source.text)]
    refusals: list[str] = []
    for _ in range(ATTEMPTS):
        request = Request(
            source=texts.texts[texts.name],
            name=texts.name,
            headers=texts.virtual_headers(),
            options=list(flags),
            expressions=expressions,
        )
        answer = call(request, toolkit, options)
        if answer["status"] == 0:
            return answer
        log = answer["log"] or answer["error"]
        refusals.append(log)
        guessed = [e for e in expressions if e not in options.instantiate]
        bad = {e for e in guessed if f'"{e}"' in log} or (set(guessed) if _NAMES in log else set())
        expressions = [e for e in expressions if e not in bad]
        if not texts.add_missing(log) and not texts.blank(errors(log)) and not bad:
            break
    # What a missing header, or a declaration that was blanked, leads to, explains less than that itself.
    why = refusals[0] if _blanked(refusals[-1], texts, source) else refusals[-1]
    log = next((r for r in refusals if _MISSING_HEADER.search(r)), why)
    if all(message.file == _NAMES for message in errors(refusals[-1])):  # all the rest compiles
        log = refusals[-1]
    log = log.replace(texts.name, source.name).replace(_NAMES, NAMED)
    raise _refusal(log, flags, source.name, toolkit)


def _blanked(log: str, texts: _Texts, source: Source) -> bool:
    """Return whether a log complains of a name that was declared until its declaration was blanked."""
    found = _UNDEFINED.search(log)
    if found is None:
        return False
    word = re.compile(rf"\b{found[1]}\b")
    before, after = hostcode.without_host_functions(source.text, texts.marks), texts.texts[texts.name]
    return len(word.findall(before)) > len(word.findall(after))


def _looked_for(names: Sequence[str], source: Source, options: CompileOptions) -> list[str]:
    """Return where missing headers may turn up later, which must undo the result."""
    if options.untrusted:
        return []
    folders = [source.folder, *(Path(folder) for folder in options.include)]
    return [str((folder / name).resolve()) for name in names for folder in folders]


def _read_untrusted(source: Source, options: CompileOptions, toolkit: Toolkit) -> _Texts:
    """Check an untrusted source and give it the headers it names as texts; no other file is looked for."""
    given = untrusted.headers(untrusted.check(source, options, toolkit), toolkit)
    text = hostcode.without_host_functions(untrusted.normalised(source.text))
    return _Texts(source.name, {source.name: text}, {}, [], given)


def _read(source: Source, options: CompileOptions) -> _Texts:
    """Read the source and the headers of the user's own it includes, directly or not."""
    name = str(source.path.resolve()) if source.path is not None else source.name
    folders = [source.folder, *(Path(folder) for folder in options.include)]
    result = _Texts(name, {name: source.text}, {}, [])
    pending, marks, seen = [(source.text, source.folder)], set[str](), set[tuple[str, Path]]()
    while pending:
        text, here = pending.pop()
        for included in _INCLUDE.findall(text):
            file = next((f for folder in (here, *folders) if (f := folder / included).is_file()), None)
            if file is None or included in result.headers or included in HOST_HEADERS:
                continue
            if (included, file.resolve()) in seen:
                continue
            seen.add((included, file.resolve()))
            text_of = file.read_text(errors="replace")
            if "__CUDACC_RTC__" not in text_of:  # those know NVRTC and need no help
                path = str(file.resolve())
                result.headers[included] = path
                result.texts[path] = text_of
            marks |= hostcode.device_words(text_of)
            pending.append((text_of, file.parent))
    result.marks = frozenset(marks)
    for path, text in result.texts.items():
        result.texts[path] = hostcode.without_host_functions(text, result.marks)
    return result


def _refusal(log: str, flags: Sequence[str], file: str, toolkit: Toolkit) -> CompileError:
    target = next((flag.partition("=")[2] for flag in flags if "arch" in flag), "")
    header = re.search(r"cannot open source file", log)
    host = _host_hint(toolkit)
    hint = f"name the folder that holds the header with -I DIR, or {host}" if header else ""
    hint = host if re.search(r'namespace "std|"std::', log) else hint
    return compile_error(log, "NVRTC", target, file=file, hint=hint)


def _host_hint(toolkit: Toolkit) -> str:
    """Return what helps a source that needs the host's headers, which NVRTC lacks."""
    if toolchain.host_compiler() is None:
        return "install g++ or clang++ so that nvcc can compile the file: NVRTC has no host headers"
    if toolkit.nvcc is None:
        return "install nvcc (`warpwatt doctor` says how) to compile the file: NVRTC has no host headers"
    return "leave the host's headers out: what compiles this, NVRTC, has none"


def call(request: Request, toolkit: Toolkit, options: CompileOptions) -> Answer:
    """Run NVRTC in a process of its own, which stays from the second time on, and return its answer.

    Raises
    ------
    ToolchainError
        If NVRTC is missing, cannot be loaded, crashes or runs out of time.
    """
    library = toolkit.require("nvrtc")
    walls = {} if not options.untrusted else _walls(library)
    command: list[str | Path] = [sys.executable, "-I", "-S", WORKER]
    asked = json.dumps({"library": str(library), **walls, **request}).encode()
    found = {"LD_LIBRARY_PATH": str(library.parent)}
    again = library in _CALLED and not options.untrusted
    _CALLED.add(library)
    if again:
        outcome = standing.ask(
            command, asked, timeout=options.timeout, memory=options.memory, extra_environment=found
        )
    else:
        with tempfile.TemporaryDirectory(prefix="warpwatt-") as scratch:
            outcome = process.run(
                command,
                cwd=Path(scratch),
                stdin=asked,
                timeout=options.timeout,
                memory=options.memory,
                extra_environment=found,
            )
    try:
        answer: Answer = json.loads(outcome.stdout)
    except ValueError:
        detail = outcome.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no answer"]
        raise ToolchainError(
            f"NVRTC {toolkit.version} ended with status {outcome.status}: {detail[0]}",
            hint="reinstall the wheel, or raise the memory limit",
        ) from None
    return answer


def _walls(library: Path) -> dict[str, object]:
    """Return what keeps NVRTC from files of this machine, once it has loaded its own."""
    if not (words := filter_of_files()):
        return {}
    return {"filter": words, "preload": [str(file) for file in library.parent.glob("libnvrtc-builtins*")]}


def nvrtc_flags(source: Source, target: str, toolkit: Toolkit, options: CompileOptions) -> list[str]:
    """Return NVRTC's flags for these options; those it does not know (``-Xcompiler``) are left out."""
    result = [f"--gpu-architecture={target.replace('sm_', 'compute_')}", "-lineinfo", "-default-device"]
    result += [f"-D{define}" for define in options.defines]
    if options.untrusted:
        result += ["--no-source-include", f"-D{untrusted.MACRO}(...)=0"]
    else:
        folders = [Path(folder).resolve() for folder in options.include]
        result += [f"-I{folder}" for folder in (source.folder.resolve(), *folders, *toolkit.include)]
        result += [
            "--pre-include=math.h",
            "--pre-include=sys/types.h",
        ]  # as nvcc does, through cuda_runtime.h
    result += [] if options.max_registers is None else [f"--maxrregcount={options.max_registers}"]
    known = [flag for flag in options.flags if _NVRTC_FLAGS.match(flag)]
    result += [] if any("std=" in flag for flag in known) else ["-std=c++17"]
    return [*result, *(flag for flag in known if flag not in result)]


_NVRTC_FLAGS = re.compile(
    r"^-?-(std=|use_fast_math|ftz|prec-|fmad|D|U|I|extra-device-vectorization|dopt|device-debug|G|restrict"
    r"|relocatable-device-code|rdc|device-as-default|default-device|diag-|pre-include|maxrregcount)"
)
