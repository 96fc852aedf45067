"""The tables of the study are those that learning is tested with."""

from tests.lab.learn.conftest import alavani, header, rows, table, write  # noqa: F401 - fixtures
