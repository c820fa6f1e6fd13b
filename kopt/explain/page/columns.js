"use strict";

/* The texts as rows of a page. All text goes in as text: nothing of a kernel is ever markup. */
const Columns = (() => {
  /* Rows of a block that is laid out only when it is looked at. */
  const CHUNK = 100;

  function element(tag, classes, text) {
    const found = document.createElement(tag);
    if (classes) found.className = classes;
    if (text !== undefined) found.textContent = text;
    return found;
  }

  /* One line: its number, its text as parts that differ or do not, and what belongs to it. */
  function row(number, parts, kind, value) {
    const found = element("div", `row ${kind}`);
    if (number !== null) found.dataset.line = String(number);
    found.append(element("span", "number", number === null ? "" : String(number)));
    const code = element("code");
    for (const [text, differs] of parts) code.append(differs ? element(kind === "removed" ? "del" : "ins", "", text) : text);
    found.append(code);
    if (value !== undefined) found.append(element("span", "value", value));
    return found;
  }

  /* Puts rows into a column, in blocks. */
  function fill(column, rows) {
    const text = column.querySelector(".text");
    const blocks = [];
    for (let start = 0; start < rows.length; start += CHUNK) {
      const block = element("div", "block");
      block.append(...rows.slice(start, start + CHUNK));
      blocks.push(block);
    }
    text.replaceChildren(...blocks);
  }

  function source(data) {
    const rows = [];
    data.sources.forEach((file, number) => {
      file.parts.forEach((part, index) => {
        rows.push(element("div", "file", index ? "⋯" : file.file));
        part.lines.forEach((text, offset) => {
          const found = row(part.start + offset, [[text, false]], "same");
          found.dataset.source = String(number);
          rows.push(found);
        });
      });
    });
    return rows;
  }

  const plain = (lines) => lines.map((text, number) => row(number + 1, [[text, false]], "same"));

  /* The rows of a stage; with the stage before it what changed. */
  function stage(data, shown, before) {
    const text = (ids) => ids.map((id) => data.texts[id]);
    const lines = text(shown.lines);
    const value = (number) => (shown.values || {})[number];
    if (!before) return lines.map((line, number) => row(number + 1, [[line, false]], "same", value(number)));
    const old = text(before.lines);
    return Diff.rows(old, lines, shown.diff).flatMap((found) => {
      if (found.kind === "removed") return [row(null, [[old[found.before], false]], "removed")];
      const number = found.after;
      if (found.kind !== "changed") return [row(number + 1, [[lines[number], false]], found.kind, value(number))];
      const parts = Diff.parts(old[found.before], lines[number]);
      return [row(null, parts.before, "removed"), row(number + 1, parts.after, "changed", value(number))];
    });
  }

  /* What a pass is, did and said, above its text. */
  function about(data, shown, unchanged) {
    const found = [];
    if (shown.options) found.push(element("p", "options", shown.options));
    found.push(element("p", "what", shown.what));
    if (unchanged) found.push(element("p", "note", "It changed nothing: this is the IR before it."));
    for (const remark of shown.remarks) {
      const place = remark.place === null ? "" : placed(data, remark.place);
      const line = element("p", `remark ${remark.severity}`);
      line.append(element("b", "", remark.severity), ` ${place}${remark.message}`);
      found.push(line);
    }
    if (shown.verdict) found.push(element("p", `verdict ${shown.verdict.status || ""}`, shown.verdict.text || ""));
    const reason = shown.no_values || data.no_values;
    if (reason) found.push(element("p", "note", `No values: ${reason}.`));
    return found;
  }

  function placed(data, place) {
    const [source, line, column] = data.places[place];
    return `${data.sources[source].file}:${line}:${column}: `;
  }

  /* Verdicts that a mark stands for: of a pass that was not run nothing is known. */
  const marks = { validated: "right", same: "right", wrong: "wrong", "not run": "unknown" };

  /* The list of passes: what each added and removed, and whether it said something. */
  function list(data, keys) {
    return data.stages.map((stage, number) => {
      const item = element("a", `item ${stage.status}`);
      item.href = `#stage=${keys[number]}`;
      item.dataset.stage = keys[number];
      item.append(element("span", "name", keys[number]));
      if (stage.added || stage.removed) item.append(element("span", "counts", `+${stage.added} −${stage.removed}`));
      if (stage.verdict) item.append(element("span", `mark ${marks[stage.verdict.status] || ""}`, stage.verdict.status === "wrong" ? "✗" : "✓"));
      if (stage.remarks.length) item.append(element("span", "said", String(stage.remarks.length)));
      item.append(element("span", "hits", ""));
      return item;
    });
  }

  return { element, row, fill, source, plain, stage, about, list };
})();
