"""An editor without a face: a real client library speaking to a real server process, from plain functions."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

SOURCE = Path(__file__).parents[3] / "src"
TIMEOUT = 90.0
"""Seconds that a server may take on a machine that does nothing else."""


def patience() -> float:
    """Return the seconds to wait: the more, the more processes share a core of this machine."""
    running = os.getloadavg()[0] if hasattr(os, "getloadavg") else 1.0
    return TIMEOUT * max(1.0, running / (os.cpu_count() or 1))


def everything() -> types.ClientCapabilities:
    """Return what a modern editor can do."""
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            apply_edit=True,
            configuration=True,
            code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
            inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
            did_change_configuration=types.DidChangeConfigurationClientCapabilities(
                dynamic_registration=True
            ),
        ),
        window=types.WindowClientCapabilities(
            work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
        ),
    )


class Editor:
    """Open documents and what the server said; every call blocks until it is done."""

    def __init__(
        self,
        capabilities: types.ClientCapabilities | None = None,
        settings: dict[str, Any] | None = None,
        flags: tuple[str, ...] = ("--trust", "/"),
        tap: Callable[[LanguageClient], object] | None = None,
    ) -> None:
        self._flags = flags
        self.settings: dict[str, Any] = settings or {}
        self.diagnosed: dict[str, list[types.PublishDiagnosticsParams]] = defaultdict(list)
        self.refreshed = 0
        self.progress: list[Any] = []
        self.created: list[Any] = []
        self.shown: list[types.ShowDocumentParams] = []
        self.edits: list[types.ApplyWorkspaceEditParams] = []
        self.messages: list[types.ShowMessageParams] = []
        self.registered: list[str] = []
        self.stderr: list[str] = []
        self._versions: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.client = self._client()
        if tap is not None:
            tap(self.client)
        self._run(self._start())
        self.initialized = self.request(
            self.client.initialize_async,
            types.InitializeParams(capabilities=capabilities or everything(), process_id=os.getpid()),
        )
        self._call(self.client.initialized, types.InitializedParams())

    def _client(self) -> LanguageClient:
        client = LanguageClient("test", "1")
        heard = {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: lambda p: self.diagnosed[p.uri].append(p),
            types.WINDOW_SHOW_MESSAGE: self.messages.append,
            types.PROGRESS: self.progress.append,
        }
        for method, action in heard.items():
            client.feature(method)(_plain(action))
        asked: dict[str, Callable[[Any], Any]] = {
            types.WORKSPACE_CODE_LENS_REFRESH: self._refresh,
            types.WORKSPACE_INLAY_HINT_REFRESH: self._refresh,
            types.WINDOW_WORK_DONE_PROGRESS_CREATE: lambda p: self.created.append(p.token),
            types.WINDOW_SHOW_DOCUMENT: self._show,
            types.WORKSPACE_APPLY_EDIT: self._apply,
            types.WORKSPACE_CONFIGURATION: lambda p: [self.settings for _ in p.items],
            types.CLIENT_REGISTER_CAPABILITY: lambda p: self.registered.extend(
                one.method for one in p.registrations
            ),
        }
        for method, action in asked.items():
            client.feature(method)(_plain(action))
        return client

    def _refresh(self, _: Any) -> None:
        self.refreshed += 1

    def _show(self, params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        self.shown.append(params)
        return types.ShowDocumentResult(success=True)

    def _apply(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        self.edits.append(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    async def _start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        await self.client.start_io(
            sys.executable, "-m", "warpwatt", "lsp", *self._flags, env=environment, limit=2**26
        )
        self._errors = asyncio.create_task(self._read_errors())

    async def _read_errors(self) -> None:
        async for line in self.process.stderr:  # type: ignore[union-attr]
            self.stderr.append(line.decode(errors="replace"))

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The server."""
        assert self.client._server is not None
        return self.client._server

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(patience())

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        async def call() -> Any:
            return function(*arguments)

        return self._run(call())

    def request(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Send a request and return its answer."""

        async def call() -> Any:
            return await function(*arguments)

        return self._run(call())

    def wait(self, condition: Callable[[], Any], seconds: float | None = None) -> Any:
        """Return the condition's value once it is true."""
        seconds = patience() if seconds is None else seconds
        end = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < end, f"nothing within {seconds} s; {''.join(self.stderr)[-2000:]}"
            time.sleep(0.01)
        return value

    # Documents

    def open(self, uri: str, text: str, language: str = "cuda-cpp") -> None:
        """Open a document."""
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self._call(self.client.text_document_did_open, types.DidOpenTextDocumentParams(item))

    def change(self, uri: str, text: str, where: types.Range | None = None) -> int:
        """Replace a document's text, or a range of it; return the new version."""
        self._versions[uri] += 1
        change: Any = types.TextDocumentContentChangeWholeDocument(text)
        if where is not None:
            change = types.TextDocumentContentChangePartial(where, text)
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        params = types.DidChangeTextDocumentParams(document, [change])
        self._call(self.client.text_document_did_change, params)
        return self._versions[uri]

    def save(self, uri: str) -> None:
        """Say that a document was saved."""
        document = types.TextDocumentIdentifier(uri)
        self._call(self.client.text_document_did_save, types.DidSaveTextDocumentParams(document))

    def close(self, uri: str) -> None:
        """Close a document."""
        document = types.TextDocumentIdentifier(uri)
        self._call(self.client.text_document_did_close, types.DidCloseTextDocumentParams(document))

    def diagnostics(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """Return the diagnostics of a version of a document once they are there; default: the newest."""
        wanted = self._versions[uri] if version is None else version

        def found() -> list[types.PublishDiagnosticsParams]:
            return [said for said in self.diagnosed[uri] if said.version == wanted]

        self.wait(found)
        return list(found()[-1].diagnostics)

    def lenses(self, uri: str) -> list[str]:
        """Return the titles of a document's lenses."""
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        return [
            lens.command.title for lens in self.request(self.client.text_document_code_lens_async, params)
        ]

    def answered(self, uri: str) -> list[str]:
        """Return the lenses of the newest version once it has been answered."""
        self.diagnostics(uri)
        end = time.monotonic() + patience()
        while True:
            seen = self.refreshed
            found = self.lenses(uri)
            if not any("…" in title for title in found):
                return found
            assert time.monotonic() < end, found
            soon = time.monotonic() + 1.0
            while self.refreshed == seen and time.monotonic() < soon:
                time.sleep(0.005)

    def hints(self, uri: str, last: int = 10_000) -> dict[int, str]:
        """Return line (from 1) to inlay hint."""
        span = types.Range(types.Position(0, 0), types.Position(last, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(uri), span)
        found = self.request(self.client.text_document_inlay_hint_async, params)
        return {hint.position.line + 1: hint.label for hint in found}

    def hover(self, uri: str, line: int) -> str:
        """Return the hover of a line (from 1) as Markdown; empty where there is none."""
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line - 1, 0))
        found = self.request(self.client.text_document_hover_async, params)
        return found.contents.value if found else ""

    def actions(
        self, uri: str, line: int, diagnostics: list[types.Diagnostic] | None = None
    ) -> list[types.CodeAction]:
        """Return the code actions of a line (from 1)."""
        where = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 0))
        context = types.CodeActionContext(diagnostics or [])
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), where, context)
        return list(self.request(self.client.text_document_code_action_async, params))

    def command(self, name: str, *arguments: Any) -> Any:
        """Execute a command of the server."""
        params = types.ExecuteCommandParams(name, list(arguments))
        return self.request(self.client.workspace_execute_command_async, params)

    def configure(self, settings: dict[str, Any]) -> None:
        """Change the editor's settings."""
        self.settings = settings
        params = types.DidChangeConfigurationParams(settings=None)
        self._call(self.client.workspace_did_change_configuration, params)

    def touched(self, path: Path) -> None:
        """Say that a file has changed on disk."""
        event = types.FileEvent(path.as_uri(), types.FileChangeType.Changed)
        params = types.DidChangeWatchedFilesParams([event])
        self._call(self.client.workspace_did_change_watched_files, params)

    def raw(self, data: bytes) -> None:
        """Write bytes to the server as they are."""

        async def write() -> None:
            self.process.stdin.write(data)  # type: ignore[union-attr]
            await self.process.stdin.drain()  # type: ignore[union-attr]

        self._run(write())

    # The end

    def quit(self, *, politely: bool = True) -> int:
        """End the server; return its exit code."""
        if politely:
            self.request(self.client.shutdown_async, None)
        self._call(self.client.exit, None)
        return self.ended()

    def ended(self) -> int:
        """Wait for the server's end; return its exit code."""
        code = self._run(asyncio.wait_for(self.process.wait(), patience()))
        self._run(self.client.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        return int(code)


def _plain(action: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of one argument, which is what the library takes for a handler."""

    def heard(params: Any) -> Any:
        return action(params)

    return heard
