"""The language server: its answers by the protocol's types, and one session by stdin and stdout."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls")
from lsprotocol import types
from pygls.workspace import Workspace

from kopt.catalogue import CATALOGUE
from kopt.lsp import server as lsp
from kopt.tools.main import main

ROOT = Path(__file__).resolve().parents[2]
URI = "file:///work/f.mlir"
#: The first line has a character that is two units of the protocol's.
TEXT = """\
func.func @"𝒳"(%a: i32) -> i32 {
  %r = arith.addi %a, %a : i32
  func.return %r : i32
}
"""


class Recording(lsp.Server):
    """A server whose problems are kept instead of sent."""

    def __init__(self):
        super().__init__("test")
        self.sent: list[list[types.Diagnostic]] = []

    def text_document_publish_diagnostics(self, params):
        self.sent.append([*params.diagnostics])


@pytest.fixture
def server() -> Recording:
    found = Recording()
    found.protocol._workspace = Workspace(None)
    return found


def document() -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(URI)


def opened(server: Recording, text: str = TEXT) -> None:
    item = types.TextDocumentItem(URI, "mlir", 1, text)
    server.workspace.put_text_document(item)
    lsp.opened(server, types.DidOpenTextDocumentParams(item))


def change(server: Recording, text: str, version: int) -> types.DidChangeTextDocumentParams:
    which = types.VersionedTextDocumentIdentifier(uri=URI, version=version)
    whole = types.TextDocumentContentChangeWholeDocument(text)
    server.workspace.update_text_document(which, whole)
    return types.DidChangeTextDocumentParams(which, [whole])


def test_problems_follow_the_text(server):
    async def type_quickly():
        broken = change(server, TEXT.replace("arith.addi", "arith.addo"), 2)
        first = asyncio.create_task(lsp.changed(server, broken))
        await asyncio.sleep(0)
        mended = change(server, TEXT.replace("func.return %r", "func.return %q"), 3)
        await asyncio.gather(first, lsp.changed(server, mended))

    opened(server)
    asyncio.run(type_quickly())
    lsp.closed(server, types.DidCloseTextDocumentParams(document()))
    none, (problem,), gone = server.sent  # the second of three versions was never looked at
    assert none == [] == gone
    assert problem.range == types.Range(types.Position(2, 14), types.Position(2, 16))
    assert (problem.source, problem.severity, problem.code) == ("kopt", types.DiagnosticSeverity.Error, "syntax")
    assert "%q is not defined" in problem.message
    assert problem.code in CATALOGUE


def test_questions(server):
    opened(server)
    use = types.Position(1, 18)
    hovered = lsp.hover(server, types.HoverParams(document(), use))
    assert hovered is not None and isinstance(hovered.contents, types.MarkupContent)
    assert "%a : i32" in hovered.contents.value
    found = lsp.definition(server, types.DefinitionParams(document(), use))
    # Columns count as the editor's do: the symbol's name is two units wide.
    assert found == types.Location(URI, types.Range(types.Position(0, 16), types.Position(0, 18)))
    (symbol,) = lsp.symbols(server, types.DocumentSymbolParams(document()))
    assert (symbol.name, symbol.range.end) == ('@"𝒳"', types.Position(3, 1))


def test_completion_replaces_the_word_that_is_typed(server):
    opened(server, TEXT.replace("arith.addi", "arith.ad"))
    items = lsp.completion(server, types.CompletionParams(document(), types.Position(1, 15)))
    (found,) = [item for item in items if item.label == "arith.addi"]
    assert isinstance(found.text_edit, types.TextEdit)
    assert found.text_edit.range == types.Range(types.Position(1, 7), types.Position(1, 15))


def test_positions_beyond_the_text(server):
    opened(server)
    for position in (types.Position(0, 999), types.Position(999, 0)):
        assert lsp.hover(server, types.HoverParams(document(), position)) is None
        assert lsp.definition(server, types.DefinitionParams(document(), position)) is None


def test_a_session_by_stdin_and_stdout(tmp_path):
    """An editor starts ``kopt lsp``, opens a broken text, asks, and ends it."""
    from pygls.lsp.client import LanguageClient

    problems: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
    ended: asyncio.Queue[int | None] = asyncio.Queue()
    uri = (tmp_path / "f.mlir").as_uri()

    class Editor(LanguageClient):
        async def server_exit(self, server: asyncio.subprocess.Process) -> None:
            ended.put_nowait(server.returncode)

    async def session() -> str:
        client = Editor("test", "1")

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            problems.put_nowait(params)

        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        await client.start_io(sys.executable, "-m", "kopt.tools.main", "lsp", env=environment)
        answer = await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
        assert answer.capabilities.hover_provider and answer.capabilities.document_symbol_provider
        client.initialized(types.InitializedParams())
        item = types.TextDocumentItem(uri, "mlir", 1, TEXT.replace("arith.addi", "arith.addo"))
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        (problem,) = (await problems.get()).diagnostics
        where = types.HoverParams(types.TextDocumentIdentifier(uri), problem.range.start)
        assert await client.text_document_hover_async(where) is None
        await client.shutdown_async(None)
        client.exit(None)
        assert await ended.get() == 0
        await client.stop()
        return problem.message

    message = asyncio.run(asyncio.wait_for(session(), timeout=60))
    assert "unknown operation 'arith.addo'" in message


def test_what_to_install(monkeypatch, capsys):
    for module in [name for name in sys.modules if name == "kopt.lsp.server" or name.startswith("lsprotocol")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    assert main(["lsp"]) == 1
    assert "pip install 'kopt-compiler[lsp]'" in capsys.readouterr().err
