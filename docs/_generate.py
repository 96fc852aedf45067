"""A hook of MkDocs that adds the pages made from the program itself, and fits the rest together.

Pages of the command line, schemas, GPUs, models and errors are made on every build and never written down, so
that they cannot be out of date. ``<!-- generated: NAME -->`` in a page stands for a table.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from docs._pages import cli, cuda, errors, gpus, models, quantities, schemas  # noqa: E402 - paths come first

REPOSITORY = "https://github.com/warpwatt/warpwatt/blob/main"
_MARK = re.compile(r"^<!-- generated: ([a-z_]+) -->$", re.MULTILINE)
_ADJACENT = re.compile(r"(`[^`\n]*`)|\]\[")
_EXAMPLE = re.compile(r"^<!-- example.*-->\n", re.MULTILINE)
_OUTSIDE = re.compile(r"\]\((?:\.\./)+((?:src|validation|corpus|data|examples|benchmarks|tests)/[^)\s]*)\)")
_LOADED = re.compile(
    r"""<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)"""
)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_LEFT_OUT = re.compile(r"^## Rows left out\n(?:(?!^## ).*\n?)*", re.MULTILINE)
LONG = 16
"""Rows beyond which a table of a validation page is folded."""
TABLES = {
    "quantities": quantities.table,
    "time_models": models.time_table,
    "power_models": models.power_table,
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and make the navigation whole."""
    pages = {
        **cli.pages(),
        **schemas.pages(),
        **gpus.pages(),
        **models.pages(),
        **quantities.pages(),
        **errors.pages(),
        **cuda.pages(),
    }
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    known = {file.src_uri for file in files.documentation_pages()}
    config.nav = _whole(config.nav, known)
    _gather(config.nav, known)
    return files


def _whole(nav: Any, known: set[str]) -> Any:
    """Return navigation with folders spelled out."""
    if isinstance(nav, dict):
        return {title: _whole(item, known) for title, item in nav.items()}
    if isinstance(nav, str):
        pages = sorted(name for name in known if name.startswith(nav) and not name.endswith("/index.md"))
        return pages if nav.endswith("/") else nav
    return [_whole(item, known) for item in nav]


def _gather(nav: Any, known: set[str]) -> None:
    """Put guides that no entry names at the end of theirs, and list all on the guides' first page."""
    guides = next(item["How-to"] for item in nav if isinstance(item, dict) and "How-to" in item)
    others = sorted(name for name in known if name.startswith("how-to/") and name not in str(nav))
    if others:
        guides.append({"More": others})
    lines = []
    for section in guides:
        if isinstance(section, dict):
            ((title, pages),) = section.items()
            links = (f"[{_title(page)}]({os.path.relpath(page, 'how-to')})" for page in pages)
            lines.append(f"## {title}\n\n" + "\n".join(f"- {link}" for link in links) + "\n")
    TABLES["guides"] = lambda: "\n".join(lines)


def _title(page: str) -> str:
    """Return the first heading of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return next((line[2:] for line in text.splitlines() if line.startswith("# ")), page)


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site that would load anything from elsewhere."""
    for page in Path(config.site_dir).rglob("*.html"):
        found = _LOADED.search(page.read_text(encoding="utf-8"))
        if found is not None:
            raise PluginError(f"{page.relative_to(config.site_dir)} loads {found[1]}")


def _left_out_last(markdown: str) -> str:
    """Return a page whose account of what was left out stands at its end."""
    found = _LEFT_OUT.search(markdown)
    return markdown if found is None else f"{markdown.replace(found[0], '').rstrip()}\n\n{found[0].strip()}\n"


def _folded(markdown: str) -> str:
    """Return a page whose long tables open on demand."""

    def fold(table: re.Match[str]) -> str:
        rows = table[0].count("\n") - 2
        if rows <= LONG:
            return table[0]
        said = f"<summary>{rows} rows</summary>"
        return f'<details markdown="1">{said}\n\n{table[0]}\n</details>\n'

    return _TABLE.sub(fold, markdown)


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Fill in generated tables; links out of the documentation lead to the repository."""
    markdown = _MARK.sub(lambda found: TABLES[found[1]](), markdown)
    if page.file.src_uri.startswith("validation/"):
        markdown = _folded(_left_out_last(markdown))
        # brackets side by side are text there, never a link
        markdown = _ADJACENT.sub(lambda found: found[0] if found[1] else "]\\[", markdown)
    return _OUTSIDE.sub(rf"]({REPOSITORY}/\1)", _EXAMPLE.sub("", markdown))
