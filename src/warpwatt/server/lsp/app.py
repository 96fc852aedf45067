"""The language server itself: what comes in through the protocol, and what goes out."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import tempfile
import threading
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import from_fs_path

from warpwatt.core.version import __version__
from warpwatt.request.settings import PROJECT
from warpwatt.server.lsp.actions import insertion
from warpwatt.server.lsp.diagnostics import at_file, diagnostics
from warpwatt.server.lsp.document import MAX_CHARACTERS, Document, bare, is_cuda
from warpwatt.server.lsp.facts import Answer, Job, Page
from warpwatt.server.lsp.progress import Reporter
from warpwatt.server.lsp.scheduler import Request, Scheduler
from warpwatt.server.lsp.settings import NAME, settings_for
from warpwatt.server.lsp.text import PlainWorkspace, Text

logger = logging.getLogger(__name__)

DEBOUNCE_SECONDS = 0.3
"""Quiet time after an edit before the text is analysed."""
SECTION = "warpwatt"
"""Of the editor's settings."""


class Protocol(LanguageServerProtocol):
    """The library's protocol over documents whose lines are the protocol's own."""

    def use_plain_lines(self) -> None:
        """Replace the workspace that initialisation has made."""
        made = self.workspace
        folders = list(made.folders.values())
        kind = types.TextDocumentSyncKind.Incremental
        self._workspace = PlainWorkspace(made.root_uri, kind, folders, made.position_encoding)

    @property
    def shut_down(self) -> bool:
        """Whether the client has asked for the end, as it should before it says that this is it."""
        return bool(self._shutdown)


class Server(LanguageServer):
    """Open documents, what is known of them, and the processes that find it out."""

    protocol: Protocol

    def __init__(self, trust: tuple[str, ...] = ()) -> None:
        super().__init__("warpwatt", __version__, protocol_cls=Protocol)
        self.trust = trust
        self.documents: dict[str, Document] = {}
        self.editor: Mapping[str, Any] = {}
        self.analyses = Scheduler()
        self.reports = Scheduler()
        self.debounce = DEBOUNCE_SECONDS
        self._published: dict[str, dict[str, list[types.Diagnostic]]] = defaultdict(dict)
        self._reporter = Reporter(self)
        self._folder: Path | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    # Documents

    def open(self, uri: str) -> None:
        """Take a document that the client has opened, if it is CUDA."""
        source = self.workspace.get_text_document(uri)
        if not is_cuda(uri, source.language_id, source.source):
            return
        text = Text.of(source.source, self.workspace.position_codec)
        self.documents[uri] = Document(uri, text, source.version or 0)
        self.analyse(self.documents[uri])

    def change(self, uri: str) -> None:
        """Take a document's new text; it is analysed when typing pauses."""
        source = self.workspace.get_text_document(uri)
        document = self.documents.get(uri)
        if document is None:
            self.open(uri)
            return
        document.text = Text.of(source.source, self.workspace.position_codec)
        document.version = source.version or 0
        document.settled.clear()
        self._quiet(document)
        document.timer = asyncio.get_running_loop().call_later(self.debounce, self.analyse, document)

    def save(self, uri: str) -> None:
        """Analyse a saved document at once; after another file everything may be different."""
        document = self.documents.get(uri)
        if document is not None:
            self.analyse(document)
        else:
            self.analyse_all()

    def close(self, uri: str) -> None:
        """Forget a document and what was said of it."""
        document = self.documents.pop(uri, None)
        if document is None:
            return
        self._quiet(document)
        document.settled.set()
        self.analyses.cancel(uri)
        self._publish(uri, {}, None)

    def analyse_all(self) -> None:
        """Analyse every open document again: settings or a header have changed."""
        for document in self.documents.values():
            document.asked = None
            self.analyse(document)

    @staticmethod
    def _quiet(document: Document) -> None:
        if document.timer is not None:
            document.timer.cancel()
            document.timer = None

    # Analyses

    def analyse(self, document: Document) -> None:
        """Ask for an answer to a document's text; what was asked before for it is dropped."""
        self._quiet(document)
        document.settings = settings_for(document.path, self.editor, self.trust)
        if len(document.text.text) > MAX_CHARACTERS or not document.settings.trusted:
            document.answer, document.answered = Answer(), document.text.text
            self._settle(document)
            return
        launches, query = document.launches(), document.settings.query
        asked = (document.text.text, launches, query)
        if document.pending and document.asked == asked:
            return
        document.asked, document.pending = asked, True
        document.settled.clear()
        job = Job(0, document.name, document.text.text, query, launches)
        self.analyses.submit(
            Request(
                document.uri,
                document.version,
                job,
                self._answered,
                self._reporter.report,
                _ignore,
                self._ended,
            )
        )

    def _answered(self, request: Request, answer: Answer) -> None:
        document = self.documents.get(request.owner)
        if document is None or document.text.text != request.job.text:
            return
        document.answer, document.answered = self._placed(document, answer), request.job.text
        if answer.shown:
            document.good = answer.shown
        if answer.complete:
            stages = ", ".join(f"{name} {1000 * seconds:.0f}" for name, seconds in answer.timings.items())
            logger.info("version %d answered; ms: %s", request.version, stages or "nothing to do")
            document.pending = False
            self._reporter.end(request)
            self._settle(document)
        else:
            self._show(document)

    def _placed(self, document: Document, answer: Answer) -> Answer:
        """Return the answer with what is wrong with the settings' GPU in the settings' file."""
        file = document.settings.file
        if file is None or self.editor.get("gpu"):
            return answer
        problems = tuple(at_file(p, file) if p.code == "gpu" else p for p in answer.problems)
        return Answer(
            answer.launches, answer.shown, problems, answer.complete, answer.advised, answer.timings
        )

    def _ended(self, request: Request) -> None:
        self._reporter.end(request)
        document = self.documents.get(request.owner)
        if document is not None and document.asked == (
            request.job.text,
            request.job.launches,
            request.job.query,
        ):
            document.pending = False
            document.settled.set()

    def _settle(self, document: Document) -> None:
        document.settled.set()
        self._show(document)

    def _show(self, document: Document) -> None:
        """Publish diagnostics, and have the client ask for the rest again."""
        self._publish(document.uri, diagnostics(document), document.version)
        capabilities = self.client_capabilities.workspace
        if capabilities and capabilities.code_lens and capabilities.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)
        if capabilities and capabilities.inlay_hint and capabilities.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def _publish(self, owner: str, found: dict[str, list[types.Diagnostic]], version: int | None) -> None:
        """Publish what one document's analysis says of files, beside what others say of them."""
        for uri in {*found, *(u for u, owners in self._published.items() if owner in owners)}:
            owners = self._published[uri]
            owners.pop(owner, None)
            if found.get(uri):
                owners[owner] = found[uri]
            every = [diagnostic for several in owners.values() for diagnostic in several]
            number = version if uri == owner else None
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, every, number))

    async def settled(self, document: Document) -> None:
        """Wait for a document's answer where the client would not ask again when it is there."""
        workspace = self.client_capabilities.workspace
        asks = workspace and workspace.code_lens and workspace.code_lens.refresh_support
        if not asks and not document.current:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(document.settled.wait(), 60)

    # Commands

    async def insert_launch(self, uri: str, kernel: str) -> None:
        """Have the client insert a proposed launch above a kernel."""
        document = self.documents.get(uri)
        place = next((p for p in document.places if p.name == kernel), None) if document else None
        if document is None or place is None:
            self._say(types.MessageType.Warning, f"no kernel {kernel} in this document")
            return
        label = f"launch of {kernel}"
        await self.workspace_apply_edit_async(
            types.ApplyWorkspaceEditParams(insertion(document, place), label)
        )

    async def show_report(self, uri: str, kernel: str = "") -> str | None:
        """Render the page of a document's launches (or one kernel's), have it shown, return its file."""
        document = self.documents.get(uri)
        if document is None:
            self._say(types.MessageType.Warning, "the document is not open, or not CUDA")
            return None
        page = await self._page(document, kernel)
        if page.problem:
            self._say(types.MessageType.Error, f"no report: {page.problem}")
            return None
        address = from_fs_path(page.file) or ""
        shown = self.client_capabilities.window and self.client_capabilities.window.show_document
        if shown:
            await self.window_show_document_async(types.ShowDocumentParams(address, external=True))
        else:
            self._say(types.MessageType.Info, f"report: {address}")
        return page.file

    async def _page(self, document: Document, kernel: str) -> Page:
        if not document.settings.trusted:
            return Page(0, problem="this folder is not trusted")
        every = document.launches()
        chosen = tuple(words for words in every if not kernel or bare(words.kernel) in ("", kernel))
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="warpwatt-reports-"))
        job = Job(0, document.name, document.text.text, document.settings.query, chosen, str(self._folder))
        future: asyncio.Future[Page] = asyncio.get_running_loop().create_future()

        def told(_: Request, page: Page) -> None:
            if not future.done():
                future.set_result(page)

        def ended(request: Request) -> None:
            self._reporter.end(request)
            told(request, Page(0, problem="it was cancelled"))

        owner = f"report of {document.uri}"
        request = Request(owner, document.version, job, _ignore, self._reporter.report, told, ended)
        self.reports.submit(request)
        return await future

    def _say(self, kind: types.MessageType, text: str) -> None:
        self.window_show_message(types.ShowMessageParams(kind, text))

    # Settings

    async def fetch_settings(self) -> None:
        """Ask the client for its settings, where it can be asked, and analyse everything again."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            item = types.ConfigurationItem(section=SECTION)
            answer = await self.workspace_configuration_async(types.ConfigurationParams([item]))
            self.take_settings(answer[0] if answer else None)

    def take_settings(self, options: object) -> None:
        """Take the client's settings; what is no mapping says nothing."""
        settings = options if isinstance(options, dict) else {}
        if settings != self.editor:
            self.editor = settings
            pause = settings.get("debounce")
            if isinstance(pause, int | float) and not isinstance(pause, bool) and 0 <= pause <= 10_000:
                self.debounce = pause / 1000
            self.analyse_all()

    async def register(self) -> None:
        """Ask the client to tell of changed files and settings, where it can."""
        workspace = self.client_capabilities.workspace
        wanted = []
        watched = workspace.did_change_watched_files if workspace else None
        if watched and watched.dynamic_registration:
            globs = [
                types.FileSystemWatcher(f"**/{name}") for name in (NAME, PROJECT, "*.{cuh,h,hpp,hxx,inl}")
            ]
            options = types.DidChangeWatchedFilesRegistrationOptions(globs)
            wanted.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
        changed = workspace.did_change_configuration if workspace else None
        if changed and changed.dynamic_registration:
            section = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            wanted.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
        if wanted:
            await self.client_register_capability_async(types.RegistrationParams(wanted))

    def cancel(self, token: object) -> None:
        """Drop the work behind a progress bar."""
        request = self._reporter.cancelled(token)
        if request is not None:
            (self.reports if request.job.report else self.analyses).cancel(request.owner)

    # The end

    def start_tcp(self, host: str, port: int) -> None:
        """Serve the one client that connects first, until it leaves."""
        self._stop_event = stop = threading.Event()

        async def serve() -> None:
            connected: asyncio.Future[tuple[Any, Any]] = asyncio.get_running_loop().create_future()

            def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                if connected.done():
                    writer.close()
                else:
                    connected.set_result((reader, writer))

            listener = await asyncio.start_server(connect, host, port)
            reader, writer = await connected
            listener.close()
            self.protocol.set_writer(writer)
            with contextlib.suppress(ConnectionError):
                await run_async(stop, reader, self.protocol, logger, self.report_server_error)

        with contextlib.suppress(SystemExit, KeyboardInterrupt):
            asyncio.run(serve())

    def end(self) -> None:
        """End every process and remove what was written."""
        self.analyses.kill()
        self.reports.kill()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _ignore(_: Request, __: object) -> None:
    """Hear what cannot come."""
