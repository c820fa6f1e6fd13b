// The grammar in the tokenizer of VS Code: vscode-textmate, with its regular expressions by Oniguruma.
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");
const oniguruma = require("vscode-oniguruma");
const { Registry, parseRawGrammar } = require("vscode-textmate");

const ROOT = path.join(__dirname, "..", "..", "..");
const SYNTAX = path.join(__dirname, "..", "syntaxes", "kopt-mlir.tmLanguage.json");
const LINES = JSON.parse(fs.readFileSync(path.join(__dirname, "lines.json"), "utf8"));
const SUFFIX = ".kopt-mlir";

async function load() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const onigLib = Promise.resolve({
    createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
    createOnigString: (text) => new oniguruma.OnigString(text),
  });
  const loadGrammar = async () => parseRawGrammar(fs.readFileSync(SYNTAX, "utf8"), SYNTAX);
  return new Registry({ onigLib, loadGrammar }).loadGrammar("source.kopt-mlir");
}

const grammar = load();

// The words of a line that have a scope of their own.
function words(one, line) {
  return one
    .tokenizeLine(line)
    .tokens.filter((token) => token.scopes.length > 1)
    .map((token) => [line.slice(token.startIndex, token.endIndex), token.scopes[1].replace(SUFFIX, "")]);
}

test("lines have the colours that they have in kopt's own tests", async () => {
  for (const { line, words: expected } of LINES) assert.deepStrictEqual(words(await grammar, line), expected);
});

test("every line of the IR in the repository is read, and no operation of a line is without a colour", async () => {
  const one = await grammar;
  let operations = 0;
  for (const folder of ["examples/ir", "test/lit/dialects"]) {
    for (const name of fs.readdirSync(path.join(ROOT, folder)).filter((name) => name.endsWith(".mlir"))) {
      const text = fs.readFileSync(path.join(ROOT, folder, name), "utf8");
      for (const line of text.split("\n")) {
        const found = words(one, line);
        const named = /^\s*(?:%[^=]*= )?((?:tile|atomic|jagged|pallas|triton)\.[a-z_]+) [%(@]/.exec(line);
        if (named === null || name.includes("errors")) continue;
        operations += 1;
        const scope = `support.function.${named[1].split(".")[0]}`;
        assert.ok(found.some(([word, its]) => word === named[1] && its === scope), `${name}: ${line}`);
      }
    }
  }
  assert.ok(operations > 400, `${operations} operations`);
});
