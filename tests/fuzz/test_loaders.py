"""A second or two of what ``python -m tests.fuzz`` does for as long as one likes."""

from __future__ import annotations

import random
import warnings
from contextlib import suppress

import pytest

from tests.fuzz.__main__ import feed
from tests.fuzz.loaders import LOADERS
from tests.fuzz.mutations import mutated

FILES = 12


@pytest.mark.parametrize("loader", LOADERS, ids=lambda one: one.name)
def test_changed_files_are_read_or_refused(loader, tmp_path):
    random_ = random.Random(loader.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy evaluates headers of files as Python text
        for _ in range(FILES):
            with suppress(*loader.errors):
                feed(loader, tmp_path, mutated(random_.choice(loader.seeds), random_))


@pytest.mark.parametrize("loader", LOADERS, ids=lambda one: one.name)
def test_the_files_it_starts_from_are_read(loader, tmp_path):
    feed(loader, tmp_path, loader.seeds[0])


def test_a_limit_beyond_every_float_is_refused(tmp_path):
    loader = next(one for one in LOADERS if one.name == "budget")
    with pytest.raises(loader.errors):
        feed(loader, tmp_path, loader.seeds[0].replace(b'"60 us"', b"9" * 400))
