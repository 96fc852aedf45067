"""C source as the parser wants it: preprocessed by the machine's C compiler, or plainly where there is none.

Headers are ours and empty: their declarations would be of no use, and system headers use extensions that no
C99 parser reads. Their common types and constants stand in front of the text instead.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import CompileError, ParseError
from warpwatt.frontend.process import run
from warpwatt.published.resios.c_loops.types import TYPEDEFS

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Source
    from warpwatt.frontend.options import CompileOptions

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([\w./+-]+)[>"]', re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)[ \t]*(.*)$")
_MACRO = re.compile(r"(\w+)(?:[ \t]+(.*))?$")
STANDARD_HEADERS = [
    "arpa/inet.h", "assert.h", "complex.h", "ctype.h", "dirent.h", "errno.h", "fcntl.h", "fenv.h", "float.h",
    "getopt.h", "glob.h", "inttypes.h", "limits.h", "locale.h", "malloc.h", "math.h", "netinet/in.h", "omp.h",
    "pthread.h", "sched.h", "setjmp.h", "signal.h", "stdalign.h", "stdarg.h", "stdbool.h", "stddef.h",
    "stdint.h", "stdio.h", "stdlib.h", "string.h", "strings.h", "sys/mman.h", "sys/resource.h",
    "sys/socket.h", "sys/stat.h", "sys/time.h", "sys/types.h", "tgmath.h", "time.h", "unistd.h",
]  # fmt: skip
_CONSTANTS = {
    "M_PI": "3.14159265358979323846", "M_E": "2.7182818284590452354", "INT_MAX": "2147483647",
    "FLT_MAX": "3.402823466e+38F", "DBL_MAX": "1.7976931348623158e+308", "FLT_EPSILON": "1.192092896e-07F",
    "DBL_EPSILON": "2.2204460492503131e-16", "true": "1", "false": "0", "bool": "int", "NULL": "0",
    "__restrict__": "restrict", "__restrict": "restrict", "__inline": "inline", "__extension__": "",
}  # fmt: skip
_OPAQUE = (
    "FILE",
    "DIR",
    "glob_t",
    "va_list",
    "jmp_buf",
    "pthread_t",
    "pthread_mutex_t",
    "clock_t",
    "time_t",
    "off_t",
)
_FILE = " ".join(f"typedef struct warpwatt_{name} {name};" for name in _OPAQUE)
"""Types of headers that no kernel computes with; who names them shall parse."""


def compiler() -> str | None:
    """Return the path of the machine's C compiler, None where there is none."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def preprocessed(source: Source, options: CompileOptions) -> str:
    """Return a C source ready for the parser, line markers included.

    Raises
    ------
    CompileError
        If the preprocessor refuses it.
    ParseError
        If there is no preprocessor and the source needs one.
    """
    cc = compiler()
    text = _plain(source, options) if cc is None else _by_compiler(cc, source, options)
    typedefs = " ".join(f"typedef {kind.spelling} {name};" for name, kind in TYPEDEFS.items())
    return f"{typedefs} {_FILE}\n" + text


def _by_compiler(cc: str, source: Source, options: CompileOptions) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        _write_headers(Path(scratch))
        command = [
            cc, "-E", "-x", "c", "-std=gnu99", "-nostdinc", "-U__GNUC__", "-D__attribute__(x)=",
            *(f"-D{name}={value}" for name, value in _CONSTANTS.items()),
            *(f"-D{define}" for define in options.defines),
            f"-I{source.folder}", *(f"-I{folder}" for folder in options.include), f"-I{scratch}", "-",
        ]  # fmt: skip
        outcome = run(command, stdin=f'# 1 "{source.name}"\n'.encode() + source.data, timeout=60)
    if outcome.status:
        raise CompileError(
            "the C preprocessor refuses it", file=source.name, details=outcome.messages.strip()
        )
    return outcome.stdout.decode("utf-8", "replace")


def _write_headers(folder: Path) -> None:
    for name in STANDARD_HEADERS:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("", encoding="utf-8")


def _plain(source: Source, options: CompileOptions) -> str:
    """Return the text with standard headers and pragmas left out and macros without arguments replaced."""
    macros = dict(_CONSTANTS)
    for define in options.defines:
        name, equals, value = define.partition("=")
        macros[name] = value if equals else "1"
    lines = []
    for number, line in enumerate(_without_comments(source.text).splitlines(), start=1):
        directive = _DIRECTIVE.match(line)
        if directive is None:
            lines.append(_replaced(line, macros))
            continue
        lines.append("")
        _obey(directive[1], directive[2], macros, source.name, number)
    return f'# 1 "{source.name}"\n' + "\n".join(lines) + "\n"


def _obey(word: str, rest: str, macros: dict[str, str], file: str, line: int) -> None:
    included = _INCLUDED.match(f"#include {rest}") if word == "include" else None
    macro = _MACRO.match(rest.strip()) if word == "define" else None
    if word == "pragma" or (included is not None and included[1] in STANDARD_HEADERS):
        return
    if macro is None:
        hint = "install a C compiler (cc), or pass the output of its preprocessor"
        raise ParseError(f"#{word} needs a C preprocessor", file=file, line=line, hint=hint)
    macros[macro[1]] = macro[2] or ""


def _replaced(line: str, macros: dict[str, str]) -> str:
    for _ in range(16):  # macros in macros, as deep as anybody nests them
        new = re.sub(r"[A-Za-z_]\w*", lambda word: macros.get(word[0], word[0]), line)
        if new == line:
            break
        line = new
    return line


def _without_comments(text: str) -> str:
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])  # noqa: E731 - used twice below at most
    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.DOTALL)
