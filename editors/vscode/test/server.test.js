// `kopt lsp` beside the protocol library of VS Code's language client. KOPT_LSP names another command, as JSON.
const assert = require("node:assert");
const { spawn } = require("node:child_process");
const { test } = require("node:test");
const protocol = require("vscode-languageserver-protocol/node");

const [command, ...args] = JSON.parse(process.env.KOPT_LSP ?? '["kopt", "lsp"]');
const textDocument = { uri: "file:///work/add.mlir" };
const TEXT = `func.func @add(%a: i32) -> i32 {
  %r = arith.addi %a, %a : i32
  func.return %r : i32
}
`;

test("an editor opens a broken text, mends it, and asks what is in it", { timeout: 60000 }, async () => {
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const connection = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(server.stdout),
    new protocol.StreamMessageWriter(server.stdin),
  );
  const published = [];
  let wake = () => {};
  connection.onNotification(protocol.PublishDiagnosticsNotification.type, (found) => {
    published.push(found.diagnostics);
    wake();
  });
  const problems = async () => {
    if (published.length === 0) await new Promise((resolve) => (wake = resolve));
    return published.shift();
  };
  connection.listen();

  const { capabilities } = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
  });
  assert.ok(capabilities.hoverProvider && capabilities.definitionProvider && capabilities.completionProvider);
  await connection.sendNotification(protocol.InitializedNotification.type, {});

  const broken = TEXT.replace("arith.addi", "arith.addo");
  const opened = { textDocument: { ...textDocument, languageId: "kopt-mlir", version: 1, text: broken } };
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, opened);
  const [problem] = await problems();
  assert.match(problem.message, /unknown operation 'arith.addo'/);
  assert.strictEqual(problem.severity, protocol.DiagnosticSeverity.Error);
  assert.deepStrictEqual(problem.range, { start: { line: 1, character: 7 }, end: { line: 1, character: 17 } });

  const mended = { textDocument: { ...textDocument, version: 2 }, contentChanges: [{ text: TEXT }] };
  await connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, mended);
  assert.deepStrictEqual(await problems(), []);

  const use = { textDocument, position: { line: 1, character: 18 } };
  const hover = await connection.sendRequest(protocol.HoverRequest.type, use);
  assert.match(hover.contents.value, /%a : i32/);
  const definition = await connection.sendRequest(protocol.DefinitionRequest.type, use);
  assert.deepStrictEqual(definition.range.start, { line: 0, character: 15 });
  const typing = { textDocument, position: { line: 1, character: 13 } };
  const offered = await connection.sendRequest(protocol.CompletionRequest.type, typing);
  assert.ok(offered.some((item) => item.label === "arith.addi"));
  const [symbol] = await connection.sendRequest(protocol.DocumentSymbolRequest.type, { textDocument });
  assert.strictEqual(symbol.name, "@add");

  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  assert.strictEqual(await ended, 0);
  connection.dispose();
});
