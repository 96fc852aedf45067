"""The native core is found, and says what helps where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from warpwatt import native
from warpwatt.core.errors import ToolchainError
from warpwatt.native.records import codes, record_types

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where the library is looked for, during a test."""
    path = tmp_path / "libwarpwatt.so"
    monkeypatch.setenv(native.VARIABLE, str(path))
    native.load.cache_clear()
    yield path
    native.load.cache_clear()


@pytest.mark.usefixtures("elsewhere")
def test_a_missing_library_names_the_command_that_builds_it() -> None:
    with pytest.raises(ToolchainError, match="missing") as caught:
        native.load()
    assert "make native" in caught.value.hint


def test_what_is_no_library_is_a_toolchain_error(elsewhere: Path) -> None:
    elsewhere.write_text("not a library")
    with pytest.raises(ToolchainError, match="cannot be loaded"):
        native.load()


def test_a_function_that_the_library_lacks_is_a_toolchain_error() -> None:
    with pytest.raises(ToolchainError, match="no_such_function"):
        native.function("no_such_function", None)


def test_types_of_one_call_do_not_change_those_of_another() -> None:
    first: Any = native.function("sector_distances", None, native.INT)
    assert native.function("sector_distances", native.INT) is not first
    assert first.restype is None


def test_addresses_refuse_an_array_with_gaps() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        native.addresses(np.zeros((4, 4))[:, 1])


def test_an_address_is_that_of_the_function() -> None:
    assert native.address("sector_distances") == native.address("sector_distances") != 0


def test_a_library_older_than_what_calls_it_says_so() -> None:
    for table in (codes("sm_codes"), codes("sm_codes")["SmPipe"], record_types("sm_fields")):
        with pytest.raises(ToolchainError, match="out of date: no 'FromTomorrow'"):
            table["FromTomorrow"]
