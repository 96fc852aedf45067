"""Fixtures: realistic predictions, built by hand in samples.py."""

from __future__ import annotations

import pytest

from tests.render import explained as explained_sample
from tests.render import samples


@pytest.fixture(scope="session")
def saxpy():
    return samples.saxpy_pair()


@pytest.fixture(scope="session")
def matmul():
    return samples.matmul_pair()


@pytest.fixture(scope="session")
def application():
    return samples.application()


@pytest.fixture(scope="session")
def explained():
    return explained_sample.explained()
