// Starts kopt's language server, and ends it with the window.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const [command, ...args] = workspace.getConfiguration("kopt-mlir").get("command");
  client = new LanguageClient("kopt", "kopt IR", { command, args }, { documentSelector: [{ language: "kopt-mlir" }] });
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
