"""A session with the language server on the wire: ``python -m benchmarks.lsp_transcript [FILE]``.

Opens an example, edits, breaks and mends it, and prints every request, answer and notification in order,
long texts cut short. ``docs/how-to/editor-transcript.md`` is made with ``--markdown``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from tests.server.lsp.editor import Editor

if TYPE_CHECKING:
    from pygls.lsp.client import LanguageClient

LONGEST = 110
"""Characters of a text that are shown."""
HEAD = """# A session on the wire

Made by `python -m benchmarks.lsp_transcript --markdown` on [examples/matmul.cu](../../examples/matmul.cu):
every message between an editor (→) and `warpwatt lsp` (←), long texts cut short.

```
"""


def shortened(value: Any) -> Any:
    """Return a message with long texts and lists cut short and paths without their folders."""
    if isinstance(value, dict):
        return {shortened(key): shortened(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        shown = [shortened(part) for part in value[:3]]
        return shown if len(value) <= 3 else [*shown, f"… {len(value) - 3} more"]
    if isinstance(value, str):
        text = value.replace(str(Path.cwd()), "…")
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"
    return value


class Wire:
    """Prints what goes over the wire of an editor."""

    def __init__(self, client: LanguageClient) -> None:
        self.start = time.perf_counter()
        protocol: Any = client.protocol  # whose two ends are replaced by ours
        self._send, self._receive = protocol._send_data, protocol.handle_message
        self._convert = protocol._converter.unstructure
        self._asked: dict[object, str] = {}
        protocol._send_data = self.sent
        protocol.handle_message = self.received

    def sent(self, data: Any) -> None:
        """Print and send a message."""
        self.show("→", data)
        self._send(data)

    def received(self, message: Any) -> None:
        """Print and take a message."""
        self.show("←", message)
        self._receive(message)

    def show(self, arrow: str, message: Any) -> None:
        """Print one message."""
        plain = self._convert(message)
        method, identity = plain.get("method"), plain.get("id")
        if method and identity is not None:
            self._asked[identity] = method
        name = method or f"answer to {self._asked.get(identity, identity)}"
        body = plain.get("params", plain.get("result", plain.get("error")))
        text = json.dumps(shortened(body), ensure_ascii=False)
        seconds = time.perf_counter() - self.start
        print(f"{seconds:7.3f} {arrow} {name}  {text if text != 'null' else ''}".rstrip())


def main() -> None:
    """Run the session and print it."""
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    markdown = "--markdown" in sys.argv
    path = Path(names[0] if names else "examples/matmul.cu").resolve()
    text, uri = path.read_text(encoding="utf-8"), path.as_uri()
    if markdown:
        print(HEAD, end="")
    editor = Editor(tap=Wire)
    editor.open(uri, text)
    editor.answered(uri)
    editor.hints(uri)
    hot = next(n for n, line in enumerate(text.split("\n"), start=1) if "+=" in line)
    editor.hover(uri, hot)
    last = types.Position(hot - 1, len(text.split("\n")[hot - 1]))
    editor.change(uri, " oops", types.Range(last, last))
    editor.answered(uri)
    editor.change(uri, text)
    editor.save(uri)
    found = editor.diagnostics(uri)
    editor.actions(uri, hot, found)
    editor.command("warpwatt.showReport", uri, "matmul_tiled")
    editor.close(uri)
    editor.quit()
    if markdown:
        print("```")


if __name__ == "__main__":
    main()
