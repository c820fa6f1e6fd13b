"use strict";

/* What happens: keys, clicks, the address. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const keys = Links.stageKeys(data.stages);
  const index = new Links.Index(data);
  const get = (id) => document.getElementById(id);
  const column = { source: get("source"), stage: get("stage"), emitted: get("emitted"), compiled: get("compiled") };
  const shows = { diff: true, values: true, all: false, wrap: false, compiled: false };
  let state = Links.parse("");
  let selection = null;
  let drawn = null;
  let matches = new Set();
  let query = "";

  /* The stage whose text a stage shows: its own, or that of the last one that changed something. */
  const withText = (number) => { while (number > 0 && !data.stages[number].lines) number -= 1; return number; };
  const isListed = (number) => shows.all || data.stages[number].status !== "unchanged" || data.stages[number].remarks.length > 0;
  const current = () => Math.max(0, keys.indexOf(state.stage));
  /* The stage of the line that is selected: another one is shown, perhaps. */
  const chosen = () => (state.from === null ? current() : Math.max(0, keys.indexOf(state.from)));
  const show = (stage) => go({ view: "passes", stage, from: state.line === null ? null : keys[chosen()] });

  // Drawing.

  function drawStage() {
    const number = current();
    const shown = withText(number);
    const mark = `${number} ${shows.diff}`;
    if (mark === drawn) return;
    drawn = mark;
    const stage = data.stages[number];
    const before = shows.diff && shown === number && number > 0 ? data.stages[withText(number - 1)] : null;
    column.stage.querySelector("h2").textContent = keys[number];
    column.stage.querySelector(".about").replaceChildren(...Columns.about(data, stage, shown !== number));
    Columns.fill(column.stage, Columns.stage(data, data.stages[shown], before));
    for (const item of get("stages").children) {
      const here = item.dataset.stage === keys[number];
      item.classList.toggle("current", here);
      if (here) { item.setAttribute("aria-current", "step"); item.scrollIntoView({ block: "nearest" }); }
      else item.removeAttribute("aria-current");
    }
  }

  /* A listing is long: its rows are made when somebody wants to see them. */
  function drawCompiled() {
    column.compiled.hidden = !shows.compiled;
    if (shows.compiled && !column.compiled.querySelector(".row")) Columns.fill(column.compiled, Columns.plain(data.compiled.lines));
  }

  /* The origin of a row of IR, of the emitted module, or of what was compiled, which names emitted lines. */
  function originOf(row) {
    if (row.dataset.source !== undefined || row.dataset.line === undefined) return null;
    const line = Number(row.dataset.line) - 1;
    if (column.stage.contains(row)) return data.stages[withText(current())].origins[line];
    if (column.emitted.contains(row)) return data.emitted.origins[line];
    const emitted = data.compiled.emitted[line];
    return emitted === null ? null : data.emitted.origins[emitted - 1];
  }

  function relation(row) {
    if (row.dataset.source !== undefined) return index.relationOfSource(selection, Number(row.dataset.source), Number(row.dataset.line));
    const origin = originOf(row);
    return origin === null || origin === undefined ? null : index.relation(selection, origin);
  }

  function selected() {
    if (state.source) return index.ofSource(...state.source);
    const stage = data.stages[withText(chosen())];
    if (state.line && stage.origins && state.line <= stage.origins.length) return index.ofOrigin(stage.origins[state.line - 1]);
    if (state.emitted && data.emitted && state.emitted <= data.emitted.origins.length) return index.ofOrigin(data.emitted.origins[state.emitted - 1]);
    return null;
  }

  function isSelected(row) {
    if (row.dataset.line === undefined) return false;
    const line = Number(row.dataset.line);
    if (state.source) return row.dataset.source === String(state.source[0]) && line === state.source[1];
    if (state.line) return column.stage.contains(row) && line === state.line && withText(chosen()) === withText(current());
    return Boolean(state.emitted) && column.emitted.contains(row) && line === state.emitted;
  }

  function light() {
    selection = selected();
    for (const row of document.querySelectorAll("#passes .row")) {
      const found = relation(row);
      row.classList.toggle("exact", found === "exact");
      row.classList.toggle("near", found === "near");
      row.classList.toggle("selected", isSelected(row));
    }
    for (const [number, item] of [...get("stages").children].entries()) {
      const stage = data.stages[number];
      item.classList.toggle("touched", Boolean(selection && stage.origins && touches(stage)));
    }
    for (const node of document.querySelectorAll("#plan [data-origin]")) {
      node.classList.toggle("exact", index.relation(selection, Number(node.dataset.origin)) !== null);
    }
    if (selection) for (const one of Object.values(column)) scrollTo(one);
  }

  /* Whether a pass added or changed a line that belongs to the selection. */
  function touches(stage) {
    return (stage.diff || []).some(([, , first, last]) => {
      for (let line = first; line < last; line += 1) if (index.relation(selection, stage.origins[line]) === "exact") return true;
      return false;
    });
  }

  function scrollTo(one) {
    const row = one.querySelector(".row.selected") || one.querySelector(".row.exact") || one.querySelector(".row.near");
    if (row) row.scrollIntoView({ block: "nearest" });
  }

  function search() {
    matches = new Set();
    if (query) data.texts.forEach((text, id) => { if (text.toLowerCase().includes(query)) matches.add(id); });
    let total = 0;
    [...get("stages").children].forEach((item, number) => {
      const lines = data.stages[number].lines || [];
      const hits = query ? lines.filter((id) => matches.has(id)).length : 0;
      total += hits;
      item.querySelector(".hits").textContent = hits ? String(hits) : "";
    });
    get("found").textContent = query ? `${total} lines` : "";
    mark();
  }

  function mark() {
    for (const row of document.querySelectorAll("#passes .row")) {
      row.classList.toggle("found", Boolean(query) && row.querySelector("code").textContent.toLowerCase().includes(query));
    }
  }

  function draw() {
    get("passes").hidden = state.view !== "passes";
    get("plan").hidden = state.view !== "plan";
    for (const view of ["passes", "plan"]) get(`tab-${view}`).setAttribute("aria-selected", String(state.view === view));
    drawStage();
    light();
    mark();
  }

  // Changes.

  function go(change) {
    state = { ...state, ...change };
    history.replaceState(null, "", Links.format(state));
    draw();
  }

  function step(by) {
    let number = current();
    do { number += by; } while (number >= 0 && number < keys.length && !isListed(number));
    if (number >= 0 && number < keys.length) show(keys[number]);
  }

  function next(by) {
    const kind = query ? ".row.found" : ".row.exact, .row.selected";
    const rows = [...column.stage.querySelectorAll(kind)];
    if (!rows.length) return;
    const at = rows.findIndex((row) => row.classList.contains("here"));
    const row = rows[(at + by + rows.length) % rows.length];
    for (const other of document.querySelectorAll(".row.here")) other.classList.remove("here");
    row.classList.add("here");
    row.scrollIntoView({ block: "center" });
  }

  function toggle(name) {
    shows[name] = !shows[name];
    get(`toggle-${name}`).setAttribute("aria-pressed", String(shows[name]));
    document.body.classList.toggle("without-values", !shows.values);
    document.body.classList.toggle("all-passes", shows.all);
    document.body.classList.toggle("wrapped", shows.wrap);
    if (data.compiled) drawCompiled();
    draw();
  }

  function theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  }

  function help() {
    get("help").hidden = !get("help").hidden;
    get("toggle-help").setAttribute("aria-expanded", String(!get("help").hidden));
  }

  function clicked(event) {
    const row = event.target.closest(".row");
    if (!row || row.dataset.line === undefined || String(getSelection()) !== "") return;
    const line = Number(row.dataset.line);
    const nothing = Links.NOTHING;
    if (row.dataset.source !== undefined) go({ ...nothing, source: [Number(row.dataset.source), line] });
    else if (column.stage.contains(row)) go({ ...nothing, line });
    else if (column.emitted.contains(row)) go({ ...nothing, emitted: line });
    else if (data.compiled.emitted[line - 1]) go({ ...nothing, emitted: data.compiled.emitted[line - 1] });
  }

  const KEYS = {
    j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
    n: () => next(1), N: () => next(-1), d: () => toggle("diff"), v: () => toggle("values"), a: () => toggle("all"),
    w: () => toggle("wrap"), c: () => { if (data.compiled) toggle("compiled"); },
    t: theme, p: () => go({ view: state.view === "plan" ? "passes" : "plan" }), "?": help,
    "/": () => get("search").focus(), Escape: () => go(Links.NOTHING),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === get("search")) {
      if (event.key === "Escape" || event.key === "Enter") get("search").blur();
      if (event.key === "Enter") next(1);
      return;
    }
    const action = KEYS[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  get("passes").addEventListener("click", clicked);
  get("search").addEventListener("input", () => { query = get("search").value.toLowerCase(); search(); });
  get("stages").addEventListener("click", (event) => {
    const item = event.target.closest(".item");
    if (item) { event.preventDefault(); show(item.dataset.stage); }
  });
  get("tab-passes").addEventListener("click", () => go({ view: "passes" }));
  get("tab-plan").addEventListener("click", () => go({ view: "plan" }));
  for (const name of Object.keys(shows)) get(`toggle-${name}`).addEventListener("click", () => toggle(name));
  get("toggle-theme").addEventListener("click", theme);
  get("toggle-help").addEventListener("click", help);
  addEventListener("hashchange", begin);

  /* Goes by the address; without a stage there, to the first one, or to the one that refused. */
  function begin() {
    state = Links.parse(location.hash);
    if (!keys.includes(state.stage)) state.stage = keys[Math.max(0, data.stages.findIndex((stage) => stage.status === "refused"))];
    draw();
  }

  get("stages").replaceChildren(...Columns.list(data, keys));
  [...get("stages").children].forEach((item, number) => item.classList.toggle("quiet", !isListed(number)));
  Columns.fill(column.source, Columns.source(data));
  column.source.hidden = !column.source.querySelector(".row");
  column.emitted.hidden = !data.emitted;
  if (data.emitted) Columns.fill(column.emitted, Columns.plain(data.emitted.lines));
  if (data.compiled) {
    get("toggle-compiled").hidden = false;
    column.compiled.querySelector("h2").textContent = data.compiled.kind;
  }
  begin();
})();
