"""One real server for all tests of this room: its start, warm workers included, takes seconds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def url():
    """Return the address of a server with small limits."""
    command = [sys.executable, "-m", "warpwatt", "serve", "--port", "0", "--workers", "2", "--timeout", "25"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=None, text=True, env=environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        yield found[0].rstrip("/")
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session")
def client(url):
    """Return a client of that server."""
    with httpx.Client(base_url=url, timeout=60) as found:
        yield found


@pytest.fixture(scope="module")
def browser():
    """Return headless Chromium."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("NO CHROMIUM: the page is not tested; install it or name it in CHROMIUM")
    sync_api = pytest.importorskip("playwright.sync_api", reason="NO PLAYWRIGHT: the page is not tested")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
    flags += ["--disable-background-networking", "--disable-component-update"]
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield found
        found.close()
