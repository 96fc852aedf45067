"""What pages say where this system cannot keep workers in."""

from __future__ import annotations

from collections.abc import Sequence


def lacking(missing: Sequence[str]) -> str:
    """Return a sentence about the walls that are missing.

    >>> lacking(["Landlock"])
    'this system lacks Landlock: what a hostile source reaches is not walled off'
    """
    return f"this system lacks {' and '.join(missing)}: what a hostile source reaches is not walled off"


def with_banner(page: bytes, missing: Sequence[str]) -> bytes:
    """Return a page of HTML that begins with a warning, where walls are missing.

    >>> with_banner(b"<body><h1>", [])
    b'<body><h1>'
    >>> with_banner(b"<body><h1>", ["Landlock"])[:40]
    b'<body><p class="alert" role="alert">Warn'
    """
    if not missing:
        return page
    banner = f'<p class="alert" role="alert">Warning: {lacking(missing)}. Predict only what you trust.</p>'
    return page.replace(b"<body>", b"<body>" + banner.encode(), 1)
