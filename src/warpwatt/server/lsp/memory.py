"""Facts of code that was analysed before, kept in the user's cache: by code, launch, GPU and models."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cattrs.preconf.json import make_converter

from warpwatt.core.folders import cache_directory
from warpwatt.core.gpu import Gpu
from warpwatt.emulate.analysis import contents_of
from warpwatt.server.lsp.facts import Facts
from warpwatt.server.lsp.moved import line_map, moved
from warpwatt.storage.cache import Cache, default_cache, digest
from warpwatt.storage.inputs import identity, package_state

if TYPE_CHECKING:
    from warpwatt.request.launch_text import Request
    from warpwatt.server.lsp.facts import Query
    from warpwatt.server.lsp.module import Module
    from warpwatt.server.lsp.moved import Places

_LIMIT = 64 * 2**20
_CONVERTER = make_converter()


@dataclass(frozen=True, slots=True)
class Key:
    """What facts are remembered by; ``places`` and ``own`` say where the code's lines are now."""

    text: str
    places: Places
    own: str


def key_of(module: Module, name: str, request: Request, gpu: Gpu, query: Query) -> Key:
    """Return the key of one launch of one kernel (by its linker's name) on one GPU.

    Where a loop count names a line, or the kernel lies in another file, its lines are part of the key.
    """
    code, compiled = module.codes[name], module.compiled
    own = module.own
    fixed = code.places if request.loop_counts or not any(file == own for file, _ in code.places) else ()
    facts = [
        package_state(),
        code.text,
        [module.target, compiled.target, compiled.toolkit, compiled.warnings],
        repr(compiled.resources.get(name)),
        repr(request.launch),
        [contents_of(request.launch), [(name, identity(name.rpartition("=")[2])) for name in query.model]],
        repr(request.loop_counts),
        repr(gpu),
        [
            query.flags,
            query.maxrregcount,
            query.model,
            query.clock,
            query.level,
            query.beside,
            query.power_limit,
        ],
        fixed,
    ]
    return Key(digest(json.dumps(facts).encode()), code.places, own)


def recall(key: Key) -> Facts | None:
    """Return the facts remembered under a key, their lines where they are now; None where there are none."""
    payload = _cache().get(key.text)
    if payload is None:
        return None
    stored = json.loads(payload)
    places = tuple((file, line) for file, line in stored["places"])
    lines = line_map(places, key.places, stored["own"], key.own)
    return None if lines is None else moved(_CONVERTER.structure(stored["facts"], Facts), lines)


def remember(key: Key, facts: Facts) -> None:
    """Store facts under a key."""
    stored = {"places": key.places, "own": key.own, "facts": _CONVERTER.unstructure(facts)}
    _cache().put(key.text, json.dumps(stored).encode())


def _cache() -> Cache:
    """Return the folder of facts; off where the user switched the cache of compilations off."""
    return Cache(cache_directory() / "facts", min(_LIMIT, default_cache().limit))
