"""Call NVRTC in a process of its own: a line of JSON on standard input, another on standard output, each.

Run as a script by :mod:`warpwatt.frontend.nvrtc`, so that a crash or a runaway compilation of the library
cannot take the caller with it. Standard library only: it starts without site packages.

Request: ``library`` (path), ``source``, ``name``, ``headers`` (name to text), ``options``, ``expressions``;
for sources of strangers also ``filter``, a filter of system calls (:mod:`warpwatt.workers.seccomp`) that
leaves NVRTC no file to open or to look for, and ``preload``, libraries to load before.
Answer: ``status`` (0 good), ``error``, ``log``, ``ptx``.
"""

from __future__ import annotations

import ctypes
import json
import struct
import sys
from typing import Any


def main() -> None:
    """Answer the requests on standard input, a line each."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Compile as the request says and return the answer."""
    nvrtc = ctypes.CDLL(request["library"])
    for library in request.get("preload", []):
        ctypes.CDLL(library)
    if "filter" in request:
        _apply(request["filter"])
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    program = ctypes.c_void_p()
    headers = request["headers"]
    status = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program),
        request["source"].encode(),
        request["name"].encode(),
        len(headers),
        _strings(headers.values()),
        _strings(headers),
    )
    if status:
        return {"status": status, "error": nvrtc.nvrtcGetErrorString(status).decode(), "log": ""}
    for expression in request["expressions"]:
        nvrtc.nvrtcAddNameExpression(program, expression.encode())
    options = request["options"]
    status = nvrtc.nvrtcCompileProgram(program, len(options), _strings(options))
    result = {
        "status": status,
        "error": nvrtc.nvrtcGetErrorString(status).decode(),
        "log": _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program),
    }
    if status == 0:
        result["ptx"] = _text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return result


def _apply(words: list[list[int]]) -> None:
    """Put this process behind a filter; raise OSError if the system refuses.

    The structures and numbers are those of ``linux/filter.h`` and ``linux/prctl.h``.
    """
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *word) for word in words))
    program = struct.pack("@HP", len(words), ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(_SET_SECCOMP, _MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


_NO_NEW_PRIVS, _SET_SECCOMP, _MODE_FILTER = 38, 22, 2


def _strings(values: Any) -> Any:
    encoded = [value.encode() for value in values]
    return (ctypes.c_char_p * len(encoded))(*encoded)


def _text(size_of: Any, read: Any, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    if size_of(program, ctypes.byref(size)) or size.value == 0:
        return ""
    buffer = ctypes.create_string_buffer(size.value)
    read(program, buffer)
    return buffer.value.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
