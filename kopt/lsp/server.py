"""The language server: what editors ask by the protocol, answered from `Document`."""

from __future__ import annotations

import asyncio

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import ServerTextPosition, TextDocument

from kopt.lsp import answers
from kopt.lsp.document import Document, Finding

#: How long a text has to rest before it is looked at: people type faster than a large module parses.
PAUSE_S = 0.15

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "remark": types.DiagnosticSeverity.Information,
    "note": types.DiagnosticSeverity.Hint,
}
_KINDS = {
    "op": types.CompletionItemKind.Function,
    "type": types.CompletionItemKind.Struct,
    "value": types.CompletionItemKind.Variable,
    "symbol": types.CompletionItemKind.Reference,
    "label": types.CompletionItemKind.Constant,
}


class Server(LanguageServer):
    """kopt's language server. Texts are sent whole, and each version is parsed once."""

    def __init__(self, version: str):
        super().__init__("kopt", version, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self._documents: dict[str, tuple[str, Document]] = {}

    def document(self, uri: str) -> tuple[Document, EditorPlaces]:
        """What a text says now, and its places."""
        text_document = self.workspace.get_text_document(uri)
        kept = self._documents.get(uri)
        if kept is None or kept[0] != text_document.source:
            kept = text_document.source, Document(text_document.source, text_document.path)
            self._documents[uri] = kept
        return kept[1], EditorPlaces(kept[1], text_document)

    def forget(self, uri: str) -> None:
        """A text that nobody looks at any more."""
        self._documents.pop(uri, None)


class EditorPlaces:
    """Positions of the protocol, which counts columns as the editor does, and positions in a text."""

    def __init__(self, document: Document, text_document: TextDocument):
        self._document = document
        self._lines = document.text.split("\n")
        self._codec = text_document.position_codec

    def position(self, offset: int) -> types.Position:
        """Where an offset in the text is."""
        line, col = self._document.line_col(min(offset, len(self._document.text)))
        return self._codec.position_to_client_units(self._lines, ServerTextPosition(line, col))

    def range(self, start: int, end: int) -> types.Range:
        """Where ``[start, end)`` is."""
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one beyond a line's or the text's end is at that end."""
        if position.line >= len(self._lines):
            return len(self._document.text)
        found = self._codec.position_from_client_units(self._lines, position)
        return self._document.starts[found.line] + min(found.character, len(self._lines[found.line]))


def show_problems(server: Server, uri: str) -> None:
    """Send what is wrong in a text."""
    document, places = server.document(uri)
    found = [_diagnostic(problem, places) for problem in document.problems]
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))


def _diagnostic(problem: Finding, places: EditorPlaces) -> types.Diagnostic:
    where = places.range(problem.start, problem.end)
    severity = _SEVERITIES[problem.severity]
    return types.Diagnostic(where, problem.message, severity=severity, source="kopt", code=problem.id or None)


def opened(server: Server, params: types.DidOpenTextDocumentParams) -> None:
    """A text was opened."""
    show_problems(server, params.text_document.uri)


async def changed(server: Server, params: types.DidChangeTextDocumentParams) -> None:
    """A text was changed: only the last of quick changes is looked at."""
    uri = params.text_document.uri
    await asyncio.sleep(PAUSE_S)
    if server.workspace.get_text_document(uri).version == params.text_document.version:
        show_problems(server, uri)


def closed(server: Server, params: types.DidCloseTextDocumentParams) -> None:
    """A text was closed: its problems go."""
    uri = params.text_document.uri
    server.forget(uri)
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    """What the word there is."""
    document, places = server.document(params.text_document.uri)
    found = answers.hover(document, places.offset(params.position))
    if found is None:
        return None
    word, text = found
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), places.range(word.start, word.end))


def definition(server: Server, params: types.DefinitionParams) -> types.Location | None:
    """Where what the word there names is defined."""
    uri = params.text_document.uri
    document, places = server.document(uri)
    word = document.words.at(places.offset(params.position))
    found = None if word is None else document.definition(word)
    return None if found is None else types.Location(uri, places.range(found.start, found.end))


def completion(server: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
    """What may be written there."""
    document, places = server.document(params.text_document.uri)
    position = places.offset(params.position)
    start, found = answers.completions(document, position)
    where = places.range(start, position)
    return [
        types.CompletionItem(
            one.text, kind=_KINDS[one.kind], detail=one.detail or None, text_edit=types.TextEdit(where, one.text)
        )
        for one in found
    ]


def symbols(server: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    """The functions, and whatever else has a name ``@name``."""
    document, places = server.document(params.text_document.uri)
    return [
        types.DocumentSymbol(
            one.definition.name,
            types.SymbolKind.Function,
            places.range(one.start, one.end),
            places.range(one.definition.start, one.definition.end),
            detail=one.op_name,
        )
        for one in document.symbols
    ]


def make_server(version: str) -> Server:
    """A server that answers all of these; it tells editors the ``version`` of kopt."""
    server = Server(version)
    triggers = types.CompletionOptions(trigger_characters=[".", "%", "^", "@", "!"])
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(opened)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(changed)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(closed)
    server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
    server.feature(types.TEXT_DOCUMENT_DEFINITION)(definition)
    server.feature(types.TEXT_DOCUMENT_COMPLETION, triggers)(completion)
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(symbols)
    return server
