"""The page of plans: prose from here, tables from ``kopt.plans.kinds``, examples from a lit test."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kopt.plans.kinds import FORMS, KINDS, LAUNCH_WORDS, LINKS, LOOP_WORDS, LOOPS, PARTS, WALKS, WORDS, Word

EXAMPLES = Path(__file__).resolve().parents[1] / "test" / "lit" / "dialects" / "tile-plan-examples.mlir"

PROSE = """# Plans

A plan says how a launch reaches its arrays and in which order it runs: what is decided, and nothing that follows from
it. Index maps, layouts and bytes are derived from it. It changes how fast a kernel is, never what it computes.

A plan has

- **the order of the grid**, outermost first. `parallel [i]` lists the axes whose cells may run at the same time; the
  others run in order. `ordered [k]` says the same the other way round, and without either all are parallel.
- **buffers**: where blocks of an array stand while they are used. `@x = %x window(i, k) x2` is a buffer of the array
  `%x`, of kind `window`. Its contents move with the axes `i` and `k`. There are two, so that one is filled while the
  other is used. Words behind it say more. An array may have several buffers.
- **the accesses that each buffer serves**: `tile.load %x[%i, %k] via @x`. Several may share one.
- **schedules of loops**: `tile.for … schedule resident unroll 2`.
- what it **assumes** of loaded numbers, `assume [%idx in 0 to 32000]`: from the first to below the second. The plan is
  right only where they are.
- **walks**: `walk(dim 1 of %x: b1=8192, online)` makes loops of a dimension that the kernel takes whole, in blocks of
  8192. In `passes` each reduction that depends on another has a walk of its own, and a last one writes. `online` sums
  of `exp(x - maximum)` share the walk of the maximum, and are rescaled as it grows. The axis is the first loop's.
  Schedules of such loops stand in the plan: `loop b1 resident`.
- **options of the launch**, such as `warps 8`.

## In the IR

`tile.grid` has the plan. Its arrays are operands of the grid, so that whoever replaces an array replaces it in the plan
too. What is done to an array its accesses tell, not the plan (`kopt.analysis.aliases.users`). An axis is written by the
name of its range; by its tag where ranges of the grid share a name. Both are read. `via` is an attribute of the access:
what replaces an access hands its attributes on, and so its buffer. An attribute by itself has numbers of operands and
tags: `#tile.plan<order [b0] parallel [b0] @x = %0 window(b0) x2>`. Conversion to the target's dialect takes the plan
off the grid, whatever it says.

A grid's verifier checks the structure. Every axis, array and buffer that is named exists. Every buffer serves an access
of its array, and reads or writes as its kind can. Words are those of the tables below, and all kinds are of one family
of targets. Whether a plan is right for its kernel, and fits its chip, the pass `verify-plan` checks.

In Python a plan is a `kopt.plans.plan.Plan`. `kopt.analysis.plans` writes it on a grid and reads it back;
`kopt.plans.text` and `kopt.plans.parsing` are its text, without IR.

## Block sizes

What a plan costs depends on the sizes of blocks, so the pass `choose-block-sizes` looks for both. It builds the models
of the launches once, with the sizes left open (`kopt.analysis.launch_models`). It looks at up to 4,096 combinations:
powers of two of a tile of memory, and divisors of what is walked. For each it takes the cheapest plan whose blocks fit
(`kopt.planning.block_sizes`). Costs within 2 % of the least are equal; then longer rows win, then less VMEM. Ranges
whose bounds only a launch tells are assumed to share their arrays alike (`kopt.planning.assumed`). `low.config` has the
sizes, and `low.report()` what the launches take with them, `planned_seconds`. On a GPU sizes are
powers of two, and a candidate fits if no register spills and shared memory holds its operands. What bounds it is the
slowest of issue, matrix units, the second-level cache, memory, and the dispatch of programs (`kopt.planning.gpu_cost`).
Warps and stages follow from the sizes (`kopt.planning.gpu_program`). The constants of GPUs are not fitted, so
`planned_seconds` of theirs is null. What would have been the second choice, and what to try next, a
[report](targets.md#what-a-report-predicts) says.

## Written and obeyed

The pass `plan-accesses` writes a plan for every launch, on TPUs and GPUs. What follows it decides nothing again. On a
TPU it makes a plan for each way in which the launch's loops may run together, and looks for the cheapest that fits the
chip's memory (`kopt.planning.cost`). That one is taken if it is cheaper than the usual plan by more than the model's
mean error (`kopt.planning.choice`). `kopt FILE.mlir -p '…,plan-accesses'` shows it, and text that was edited is lowered
as it says:

| edit | what it does |
|---|---|
| `schedule grid` → `resident`, `order [i, j, k]` → `[i, j]`, `window(i, k)` → `resident(i)` | a loop of the kernel |
| the same with `prefetch` and `prefetch(k)` | blocks come by DMAs, a visit ahead |
| `order [i, j]` → `order [j, i]` | cells run in that order, on a GPU too |
| `@x = %x smem` → `window` | scalars arrive as a block |
| `@w = %w window(i, n) x2 address @group` → `window` | all that may be asked for is on the chip |
| `@w = %w window(i, n) x2 address @group` → `dma` | each cell brings its block, by a DMA |
| `schedule resident` → `schedule resident unroll 4` | four visits of the loop are written out in one |
| `parallel [i, j]` → `parallel [i]` | cells along `j` run in order, on one core |
| `warps 4` → `warps 8` | on a GPU |
| `b1=8192` → `b1=4096`, `online` → `passes` | in a walk, before it is a loop |

Walks are decided first, by `plan-walks`, for rows whose values do not fit a GPU's registers, or whose blocks do not fit
VMEM: `kopt FILE.mlir -p '…,plan-walks'` shows them. `walk-dims` makes loops of them, which `plan-accesses` treats as
any others; `schedule walk` says where they come from.

`address @group` lets Pallas move blocks at loaded numbers, `w[group[i], k, n]` (`kopt.analysis.addressed`): `@group` is
`smem whole`, in scalar memory before the grid runs (`pltpu.PrefetchScalarGridSpec`), and index maps load from it. The
planner takes such a window wherever it moves no more bytes than the array as a whole, or a DMA a cell, would.

Gathers and scatters on a TPU are decided before, by `plan-values`, once `normalise-accesses` has written as blocks what
are blocks: `kopt FILE.mlir -p '…,plan-values'` shows it. Such a buffer has a kind of its own, and `realise-values`
makes of it what the kind says: products, picks, loops and DMAs, whose blocks `plan-accesses` then treats as any others.
It decides nothing, so text that was edited is lowered as it says:

| edit | what it does |
|---|---|
| `@table = %table one_hot` → `rows` | a DMA a row; not the table as a whole, of which a product takes rows |
| `@table = %table rows` → `one_hot` | the other way round |
| `@logits_1 = %logits pick from @logits` → `rows` | elements are not picked from the row that is there |
| `@out = %out row_loop` → `one_hot` | rows are added by a product, not one after the other |
| `@out = %out row_loop` → `row_dma` | the array stays in HBM, its rows come and go |

Which kinds an access may have, and which is taken first, is in `kopt.analysis.values`: of gathers the first that holds,
of updates the one of the fewest cycles, as a remark says. Elements of a block that another access has on the chip,
`logits[i, labels[i]]` beside `logits[i, :]`, are picked `from` it (`kopt.analysis.held_blocks`). The block is loaded
once for both, so the last plan has `@logits = %logits window(i) x2` alone. Here it is a `window` of which nothing more
is said yet. Where the index algebra does not prove that every lane is in the block, they are fetched: of flat storage,
`flat[i * n + labels[i]]`, nothing keeps a label from naming another row.

The pass `verify-plan` runs right after it, and before the conversion of a TPU again, where bytes are known. What cannot
be it refuses at the access, loop or grid, with what can:

    error: 'x' cannot stand in a buffer of kind 'smem' here: window or resident

So does `realise-values` with accesses at computed places. What no lowering makes code of yet is refused too. On a TPU
that is the kind `accumulate`, words of buffers but a window's `address`, `pick from` and `smem whole`, other depths
than the usual, and views; loops that are `resident` and whose visits are known may be unrolled by what divides these.
On a GPU it is all but `pointer`, `atomic`, `warps`, `stages` and loops that are `resident` or `walk`, which may have
`stages` of their own: `tl.range(…, num_stages=n)` loads the blocks of later visits ahead, also where they feed no
product. A loop that writes is refused them. No default has them: of eight examples four take more registers so, and all
take more shared memory. On both, loops
that are `resident` may `peel(full | diagonal)` where comparisons hold in all lanes of the first visits, as in causal
attention; `peel` of other parts is refused. In the last plan all accesses of an array share one buffer."""

PINS = """## Pins

A configuration may make some of the decisions itself; the planner makes the others.

```python
config = {
    "accesses": {"k": "resident", "v": "resident(h) x2"},
    "loops": {"j": "resident"},
    "order": ["h", "i"],
}
```

The values are the words of the tables above, without names of buffers. The names are

- of an access its id: `k` for the first access of the array `k`, in the order of the program, `k#1` for the second;
- of a loop or an axis that of its variable in the source, `j`, or its tag, `b2`. Where several axes of a kernel have
  one name, their tags tell them apart. On a GPU the axis of blocks that are no power of two is that of the blocks.

A name that several launches have holds for each. Axes that `order` leaves out come behind the others. Accesses and
loops are those that are left when the plan is made: dead ones are gone, and on a TPU loops of one visit.

An access at a computed place may be pinned to be `pick`, `bounded`, `runs`, `one_hot`, `rows`, `row_loop` or `row_dma`:
`{"table": "rows"}`. Other kinds are pinned of what it becomes. A row by a loaded
number of an array that VMEM does not hold is left as the block that it is pinned to be.

What is pinned is what the plan says, and the rest follows: where `k` is `prefetch`, so are the loops that walk it
(`kopt.analysis.pinned_loops`). Where `cache` is a `window`, loaded numbers may tell where its blocks are, unless the
array of those is pinned to be anything but `smem whole`. What cannot be is refused as in a plan that was written by
hand: a tuner may try all there is. Names and words that there are not are refused with those that there are. The
reference interpreter has no plan, and computes the same.

As text, pins are options of a pass: `plan-accesses{accesses="k = resident","v = resident(h) x2" loops="j = resident"
order=h,i}`."""


def plans_page() -> str:
    """The page, without its note."""
    parts = [PROSE, "## Examples", *_examples(), *_tables(), PINS]
    return "\n\n".join(parts) + "\n"


def _examples() -> Iterator[str]:
    """The functions of the lit test, by their names."""
    text = re.sub(r"^ *// .*\n", "", EXAMPLES.read_text(), flags=re.M)
    for function in text.strip().split("\n\n"):
        name = re.search(r"@(\w+)", function)
        assert name is not None
        yield f"### {name[1].replace('_', ' ').capitalize()}\n\n```mlir\n{function}\n```"


def _tables() -> Iterator[str]:
    yield "## Kinds of buffers"
    kinds = [
        (f"`{kind.name}`", _yes(kind.reads), _yes(kind.writes), _code([*kind.links, *kind.words]), kind.meaning)
        for kind in KINDS.values()
    ]
    for family, title in (("tpu", "On a TPU:"), ("gpu", "On a GPU:")):
        rows = [row for row, kind in zip(kinds, KINDS.values(), strict=True) if family in kind.families]
        yield f"{title}\n\n{_table(('kind', 'reads', 'writes', 'words', 'meaning'), rows)}"
    links = [(f"`{word} @b`", f"the buffer's `{field}`: {_LINKS[word]}") for word, field in LINKS.items()]
    yield f"Their words:\n\n{_table(('word', 'meaning'), [*links, *_words(WORDS.values())])}"
    yield "## Schedules of loops"
    yield _table(
        ("schedule", "on", "meaning"),
        [(f"`{loop.name}`", ", ".join(loop.families), loop.meaning) for loop in LOOPS.values()],
    )
    yield f"Their words (parts are {_code(PARTS)}):\n\n{_table(('word', 'meaning'), _words(LOOP_WORDS.values()))}"
    yield "## Options of launches"
    yield _table(("word", "meaning"), _words(LAUNCH_WORDS.values()))
    yield f"A dimension is walked {' or in '.join(f'`{how}`' for how in WALKS)}."


_LINKS = {
    "from": "rows or elements are picked from it",
    "into": "rows are brought into it",
    "address": "it holds their numbers",
}


def _words(words: Iterable[Word]) -> list[tuple[str, str]]:
    return [(f"`{word.name}{_form(word)}`".replace("|", "\\|"), word.meaning) for word in words]


def _form(word: Word) -> str:
    if isinstance(word.takes, tuple):
        return f" {'|'.join(word.takes)}"
    form = FORMS[word.takes]
    return f" {form}" if form and form[0] != "(" else form


def _yes(holds: bool) -> str:
    return "yes" if holds else ""


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [titles, ("---",) * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
