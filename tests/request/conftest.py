"""Compilations have a cache of their own, as the front ends' tests have."""

from tests.frontend.conftest import own_cache  # noqa: F401 - a fixture
