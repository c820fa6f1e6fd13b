"use strict";

/* Which lines belong together, and what the address says. Without a page: tests run it. */
const Links = (() => {
  /* Finds lines of every text by the places in the source that they come from. */
  class Index {
    constructor(data) {
      this.places = data.places;
      this.origins = data.origins;
      this.lines = data.origins.map((origin) => new Set(origin.map((place) => this.lineOf(place))));
    }

    /* The source line of a place. */
    lineOf(place) {
      const [source, line] = this.places[place];
      return `${source}:${line}`;
    }

    /* What a line of a stage, or of the emitted module, selects. */
    ofOrigin(origin) {
      return { places: new Set(this.origins[origin]), lines: this.lines[origin] };
    }

    /* What a line of the source selects: all places in it. */
    ofSource(source, line) {
      const places = new Set();
      this.places.forEach(([file, number], place) => { if (file === source && number === line) places.add(place); });
      return { places, lines: new Set([`${source}:${line}`]) };
    }

    /* How a line with an origin belongs to a selection: "exact" by a place, "near" by a source line, or null. */
    relation(selection, origin) {
      if (!selection) return null;
      if (this.origins[origin].some((place) => selection.places.has(place))) return "exact";
      for (const line of this.lines[origin]) if (selection.lines.has(line)) return "near";
      return null;
    }

    /* How a line of the source belongs to a selection. */
    relationOfSource(selection, source, line) {
      return selection && selection.lines.has(`${source}:${line}`) ? "exact" : null;
    }
  }

  /* Names of stages that stay when others come: a pass that runs again is numbered. */
  function stageKeys(stages) {
    const taken = new Map();
    return stages.map(({ name }) => {
      const number = (taken.get(name) || 0) + 1;
      taken.set(name, number);
      return number === 1 ? name : `${name}.${number}`;
    });
  }

  /* No line is selected. */
  const NOTHING = Object.freeze({ from: null, line: null, emitted: null, source: null });

  /* The state in an address: "#stage=plan-accesses&line=42", "#stage=…&source=0:14", "#stage=…&emitted=9", "#view=plan".
     "from" is the stage of the line, where another one is shown. */
  function parse(hash) {
    const found = new URLSearchParams(hash.replace(/^#/, ""));
    const number = (key) => (/^\d+$/.test(found.get(key) || "") ? Number(found.get(key)) : null);
    const source = /^(\d+):(\d+)$/.exec(found.get("source") || "");
    return {
      view: found.get("view") === "plan" ? "plan" : "passes",
      stage: found.get("stage"),
      from: found.get("from"),
      line: number("line"),
      emitted: number("emitted"),
      source: source ? [Number(source[1]), Number(source[2])] : null,
    };
  }

  function format(state) {
    const found = new URLSearchParams();
    if (state.view === "plan") found.set("view", "plan");
    if (state.stage) found.set("stage", state.stage);
    if (state.from && state.from !== state.stage) found.set("from", state.from);
    if (state.line) found.set("line", String(state.line));
    if (state.emitted) found.set("emitted", String(state.emitted));
    if (state.source) found.set("source", state.source.join(":"));
    return `#${found.toString().replace(/%3A/g, ":")}`;
  }

  return { Index, NOTHING, stageKeys, parse, format };
})();
