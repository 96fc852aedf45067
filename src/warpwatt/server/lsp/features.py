"""The protocol's methods, each tied to what answers it."""

from __future__ import annotations

from lsprotocol import types

from warpwatt.request.settings import PROJECT
from warpwatt.server.lsp.actions import actions
from warpwatt.server.lsp.app import SECTION, Server
from warpwatt.server.lsp.hover import hover
from warpwatt.server.lsp.lenses import INSERT_LAUNCH, SHOW_REPORT, hints, lenses
from warpwatt.server.lsp.settings import NAME


def make_server(trust: tuple[str, ...] = ()) -> Server:
    """Return a server with every feature registered, which compiles in these folders."""
    server = Server(trust)
    for register in (_life, _documents, _settings, _questions, _commands):
        register(server)
    return server


def _life(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.protocol.use_plain_lines()
        server.take_settings(params.initialization_options)
        server.analyses.warm()

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        await server.register()
        await server.fetch_settings()

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.end()

    @server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def cancelled(params: types.WorkDoneProgressCancelParams) -> None:
        server.cancel(params.token)


def _documents(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.open(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.change(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.save(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)


def _settings(server: Server) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: types.DidChangeConfigurationParams) -> None:
        pushed = params.settings.get(SECTION) if isinstance(params.settings, dict) else None
        if pushed is not None:
            server.take_settings(pushed)
        else:
            await server.fetch_settings()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        settings = (NAME, PROJECT)
        if any(
            change.uri not in server.documents or change.uri.endswith(settings) for change in params.changes
        ):
            server.analyse_all()


def _questions(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return []
        await server.settled(document)
        return lenses(document)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return []
        await server.settled(document)
        return hints(document, params.range.start.line + 1, params.range.end.line + 1)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovering(params: types.HoverParams) -> types.Hover | None:
        document = server.documents.get(params.text_document.uri)
        return hover(document, params.position.line + 1) if document is not None else None

    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(kinds))
    def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.documents.get(params.text_document.uri)
        return actions(document, params.range, params.context.diagnostics) if document is not None else []


def _commands(server: Server) -> None:
    @server.command(SHOW_REPORT)
    async def show_report(uri: str, *kernel: str) -> str | None:
        return await server.show_report(uri, *kernel[:1])

    @server.command(INSERT_LAUNCH)
    async def insert_launch(uri: str, kernel: str) -> None:
        await server.insert_launch(uri, kernel)
