"""The page of four hand-made predictions, with clock sweeps, as text and as a tree."""

from __future__ import annotations

import json

import pytest

from tests.render import samples
from tests.render.report.parsed import parse
from warpwatt.render import html
from warpwatt.render.context import Context
from warpwatt.render.report.report import reports

SOURCES = {"matmul.cu": samples.MATMUL_SOURCE, "saxpy.cu": samples.SAXPY_SOURCE}
CONTEXT = Context(command="warpwatt predict", sources=SOURCES)


@pytest.fixture(scope="session")
def predictions(saxpy, matmul, explained):
    return [*saxpy, *matmul, explained]


@pytest.fixture(scope="session")
def full(predictions):
    return reports(predictions)


@pytest.fixture(scope="session")
def page(full):
    return html.render_reports(full, CONTEXT)


@pytest.fixture(scope="session")
def tree(page):
    return parse(page)


@pytest.fixture(scope="session")
def data(tree):
    return json.loads("".join(tree.one("script", id="data").parts))


@pytest.fixture(scope="session")
def page_file(page, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path
