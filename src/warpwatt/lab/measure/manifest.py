"""Reading TOML manifests: typed values out, every mistake as an error that names file and key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from warpwatt.core.errors import ParseError
from warpwatt.core.toml import read_toml

_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a manifest; ``where`` is its place, such as ``size[0].launch[1]``."""

    file: Path
    where: str
    values: Mapping[str, Any]

    @classmethod
    def read(cls, file: Path) -> Table:
        """Return the top table of a TOML file.

        Raises
        ------
        ParseError
            If it is not TOML.
        """
        return cls(file, "", read_toml(file))

    def fail(self, key: str, problem: str, hint: str = "") -> NoReturn:
        """Raise a ParseError about ``key``."""
        place = f"{self.where}.{key}" if self.where else key
        raise ParseError(f"{place}: {problem}", file=self.file, hint=hint)

    def text(self, key: str, default: str = _MISSING) -> str:
        """Return a text that is not empty."""
        value = self._get(key, default)
        if not isinstance(value, str) or not value:
            self.fail(key, f"is {value!r}, not a text")
        return value

    def choice(self, key: str, allowed: Sequence[str]) -> str:
        """Return a text that is one of ``allowed``."""
        value = self.text(key)
        if value not in allowed:
            self.fail(key, f"is {value!r}", f"one of: {', '.join(allowed)}")
        return value

    def whole(self, key: str, default: int = _MISSING) -> int:
        """Return a whole number."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(key, f"is {value!r}, not a whole number")
        return value

    def number(self, key: str, default: float | None = _MISSING) -> float | None:
        """Return a number that is not negative, or the default."""
        value = self._get(key, default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            self.fail(key, f"is {value!r}, not a number from 0 on")
        return float(value)

    def numbers(self, key: str, least: int, most: int) -> list[int]:
        """Return a list of ``least`` to ``most`` positive whole numbers."""
        value = self._get(key, _MISSING)
        whole = isinstance(value, list) and all(type(v) is int and v > 0 for v in value)
        if not whole or not least <= len(value) <= most:
            self.fail(key, f"is {value!r}", f"write {least} to {most} positive whole numbers: [4, 4]")
        return list(value)

    def mapping(self, key: str, default: Mapping[str, Any] = _MISSING) -> Mapping[str, Any]:
        """Return an inline table of texts and numbers."""
        value = self._get(key, default)
        if not isinstance(value, dict) or not all(isinstance(v, str | int | float) for v in value.values()):
            self.fail(key, f"is {value!r}", 'write a table of texts and numbers: { n = 64, A = "f32[n]" }')
        return value

    def tables(self, key: str) -> list[Table]:
        """Return the tables of an array of tables; at least one."""
        value = self._get(key, _MISSING)
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            self.fail(key, "is not an array of tables", f"write [[{key}]]")
        prefix = f"{self.where}.{key}" if self.where else key
        return [Table(self.file, f"{prefix}[{index}]", values) for index, values in enumerate(value)]

    def only(self, *known: str) -> None:
        """Refuse keys beyond ``known``, which are misspelled more often than meant for later."""
        if unknown := sorted(set(self.values) - set(known)):
            self.fail(unknown[0], "is not a key of a manifest here", f"keys: {' '.join(known)}")

    def _get(self, key: str, default: Any) -> Any:
        if key not in self.values and default is _MISSING:
            self.fail(key, "is missing")
        return self.values.get(key, default)
