"""Sources where compilers find them: a worker may have no such file, or a newer one."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.storage.cache import digest
from warpwatt.storage.paths import cache_directory

if TYPE_CHECKING:
    from pathlib import Path

    from warpwatt.frontend.compiled import Source
    from warpwatt.frontend.options import CompileOptions


def present(source: Source, options: CompileOptions) -> tuple[Source, CompileOptions]:
    """Return a source whose file holds its text, and options with which its headers are found.

    That is the source as it is, or a copy in the cache where its file is not there or was changed since.
    """
    if source.path is None or _holds(source.path, source.data):
        return source, options
    copy = cache_directory() / "sources" / digest(source.data) / source.path.name
    if not _holds(copy, source.data):
        copy.parent.mkdir(parents=True, exist_ok=True)
        scratch = copy.with_name(f"{copy.name}.{os.getpid()}")
        scratch.write_bytes(source.data)
        scratch.replace(copy)
    include = (*options.include, str(source.path.parent.absolute()))
    return replace(source, path=copy), replace(options, include=include)


def _holds(file: Path, data: bytes) -> bool:
    try:
        return file.read_bytes() == data
    except OSError:
        return False
