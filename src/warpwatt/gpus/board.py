"""The file of one board, read: :class:`Board`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwatt.gpus.datafile import Cited, DataFile


@dataclass(frozen=True, slots=True)
class Board:
    """A board's file with everything it inherits, still in the units of the data sheet."""

    file: DataFile
    name: str
    aliases: tuple[str, ...]
    arch: str
    capability: str
    die: str = ""
    note: str = ""
    memory_from: tuple[str, ...] = ()
    values: Mapping[str, Cited] = field(default_factory=dict)
    capability_values: Mapping[str, Cited] = field(default_factory=dict)
    capability_throughput: Mapping[str, Cited] = field(default_factory=dict)
    memory: Mapping[str, Cited] = field(default_factory=dict)
    inherits: str = ""
    """Name of the built-in board at the root of ``inherits``."""
    own: frozenset[str] = frozenset()
    """Keys of ``values`` that a user's file gives, and none that it inherits from the package."""

    def number(self, key: str) -> float:
        """Return a required number of ``[values]``, or raise ``ParseError``."""
        return self.required(key).number()

    def required(self, key: str) -> Cited:
        """Return a required entry of ``[values]``, or raise ``ParseError``."""
        if key not in self.values:
            self.file.fail(
                f"{key} is missing", "values", hint="add it to [values], or inherits = a GPU that has it"
            )
        return self.values[key]
