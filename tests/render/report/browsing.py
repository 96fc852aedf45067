"""A headless Chromium for tests, and what they ask of a page."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@contextmanager
def chromium():
    """Start a browser; skip, saying so, where there is none."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"NO BROWSER: none of {', '.join(NAMES)} is on the path; the pages were not opened")
    api = pytest.importorskip("playwright.sync_api", reason="NO PLAYWRIGHT: the pages were not opened")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


CHECKS = Path(__file__).with_name("checks.js").read_text(encoding="utf-8")
"""Returns what a page does against rules of accessibility."""
