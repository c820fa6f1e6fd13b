"use strict";

/* What changed between two stages: pairs of lines, and the words of a pair that differ. Without a page: tests run it. */
const Diff = (() => {
  const WORDS = /[A-Za-z_][\w.]*|%[\w.]+|@[\w.]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\s+|./gu;
  /* Longer lines are compared as wholes. */
  const LONGEST = 400;

  const words = (text) => text.match(WORDS) || [];

  /* The longest common subsequence of two lists, as pairs of positions. */
  function common(before, after) {
    let start = 0;
    const most = Math.min(before.length, after.length);
    while (start < most && before[start] === after[start]) start += 1;
    let end = 0;
    while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
    const rows = before.length - start - end;
    const columns = after.length - start - end;
    const width = columns + 1;
    const lengths = new Uint16Array((rows + 1) * width);
    for (let a = rows - 1; a >= 0; a -= 1) {
      for (let b = columns - 1; b >= 0; b -= 1) {
        lengths[a * width + b] = before[start + a] === after[start + b]
          ? lengths[(a + 1) * width + b + 1] + 1
          : Math.max(lengths[(a + 1) * width + b], lengths[a * width + b + 1]);
      }
    }
    const pairs = [];
    for (let n = 0; n < start; n += 1) pairs.push([n, n]);
    for (let a = 0, b = 0; a < rows && b < columns;) {
      if (before[start + a] === after[start + b]) { pairs.push([start + a, start + b]); a += 1; b += 1; }
      else if (lengths[(a + 1) * width + b] >= lengths[a * width + b + 1]) a += 1;
      else b += 1;
    }
    for (let n = end; n > 0; n -= 1) pairs.push([before.length - n, after.length - n]);
    return pairs;
  }

  /* Parts of two lines: [text, whether it differs], neighbours joined. */
  function parts(before, after) {
    const [old, now] = [words(before), words(after)];
    if (old.length > LONGEST || now.length > LONGEST) return { before: [[before, true]], after: [[after, true]] };
    const pairs = common(old, now);
    return { before: joined(old, new Set(pairs.map((pair) => pair[0]))), after: joined(now, new Set(pairs.map((pair) => pair[1]))) };
  }

  function joined(list, kept) {
    const found = [];
    list.forEach((word, number) => {
      const differs = !kept.has(number);
      const last = found[found.length - 1];
      if (last && last[1] === differs) last[0] += word;
      else found.push([word, differs]);
    });
    return found;
  }

  /* How alike two lines are: the share of words that they have in common. */
  function likeness(before, after) {
    const left = new Map();
    const [old, now] = [words(before), words(after)];
    old.forEach((word) => left.set(word, (left.get(word) || 0) + 1));
    let shared = 0;
    now.forEach((word) => { if (left.get(word)) { left.set(word, left.get(word) - 1); shared += 1; } });
    return old.length + now.length ? (2 * shared) / (old.length + now.length) : 1;
  }

  /* Pairs of lines of one hunk that are alike, in order: [number before, number after]. */
  function alike(before, after, least = 0.6, ahead = 12) {
    const found = [];
    let next = 0;
    before.forEach((text, number) => {
      let best = -1;
      let most = least;
      for (let other = next; other < Math.min(after.length, next + ahead); other += 1) {
        const share = likeness(text, after[other]);
        if (share > most) { best = other; most = share; }
      }
      if (best >= 0) { found.push([number, best]); next = best + 1; }
    });
    return found;
  }

  /* The rows of a stage beside the one before: {kind, before, after}, numbers of lines or null. Hunks are [a, b, c, d]. */
  function rows(before, after, hunks) {
    const found = [];
    let [a, b] = [0, 0];
    const same = (until) => { for (; b < until; a += 1, b += 1) found.push({ kind: "same", before: a, after: b }); };
    for (const [start, end, first, last] of hunks) {
      same(first);
      const pairs = alike(before.slice(start, end), after.slice(first, last));
      for (const [old, now] of [...pairs, [end - start, last - first]]) {
        for (; a < start + old; a += 1) found.push({ kind: "removed", before: a, after: null });
        for (; b < first + now; b += 1) found.push({ kind: "added", before: null, after: b });
        if (a < end && b < last) { found.push({ kind: "changed", before: a, after: b }); a += 1; b += 1; }
      }
    }
    same(after.length);
    return found;
  }

  return { words, common, parts, likeness, alike, rows };
})();
