"""The page of plans: prose from here, tables from ``kopt.plans.kinds``, examples from a lit test."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kopt.plans.kinds import FORMS, KINDS, LAUNCH_WORDS, LINKS, LOOP_WORDS, LOOPS, PARTS, WALKS, WORDS, Word

EXAMPLES = Path(__file__).resolve().parents[1] / "test" / "lit" / "dialects" / "tile-plan-examples.mlir"

PROSE = """# Plans

A plan says how a launch reaches its arrays, and in which order it runs. It holds what was decided, and nothing that
follows from that: index maps, layouts and bytes are derived. A plan changes how fast a kernel is, never what it
computes.

A plan has

- **the order of the grid**, outermost axis first. `parallel [i]` lists the axes whose cells may run at the same time;
  cells along the others run in order. `ordered [k]` lists those others instead. Without either word all are parallel.
- **buffers**: where blocks of an array stand while they are used. `@x = %x window(i, k) x2` is a buffer of the array
  `%x`, of kind `window`. Its contents move with the axes `i` and `k`. There are two, so that one is filled while the
  other is used. Further words may follow. An array may have several buffers.
- **the accesses that each buffer serves**: `tile.load %x[%i, %k] via @x`. Several may share one.
- **schedules of loops**: `tile.for … schedule resident unroll 2`.
- **assumptions** about loaded numbers. `assume [%idx in 0 to 32000]` means 0 ≤ n < 32000 for each number n of `%idx`.
  The plan is right only where that holds.
- **walks**: `walk(dim 1 of %x: b1=8192, online)` makes loops over a dimension that the kernel takes whole, in blocks of
  8192. With `passes`, each reduction that depends on another has a loop of its own, and a last loop writes the result.
  With `online`, sums of `exp(x - maximum)` run in the loop of the maximum, and are rescaled when the maximum grows.
  `b1` is the tag of the first of these loops. Their schedules stand in the plan: `loop b1 resident`.
- **options of the launch**, such as `warps 8`.

## In the IR

The plan is an attribute of `tile.grid`. The arrays that it names are operands of the grid, so a pass that replaces an
array replaces it in the plan too. So the grid is a user of these arrays. Whether it reads or writes one is decided by
the accesses, not by the plan (`kopt.analysis.aliases.users`). An axis is printed by the name of its range, or by its
tag where ranges of the grid share a name. The parser takes both. `via` is an attribute of the access. A rewrite that
replaces an access hands its attributes on, and with them its buffer. Printed alone, the attribute of a plan names
arrays by the numbers of their operands, and axes by their tags:
`#tile.plan<order [b0] parallel [b0] @x = %0 window(b0) x2>`. The conversion to the target's dialect drops the plan.

The verifier of `tile.grid` checks the structure. Every axis, array and buffer that is named exists. Every buffer serves
an access of its array, and its kind allows what that access does. Words are those of the tables below. All kinds in a
plan belong to one family of targets: TPUs or GPUs. The pass `verify-plan` checks whether the plan is right for its
kernel, and fits its chip.

In Python a plan is a `kopt.plans.plan.Plan`. `kopt.analysis.plans` writes it on a grid and reads it back;
`kopt.plans.text` and `kopt.plans.parsing` are its text, without IR.

## Block sizes

What a plan costs depends on the sizes of blocks, so the pass `choose-block-sizes` chooses both together. It builds the
models of the launches once, with the sizes left open (`kopt.analysis.launch_models`). It tries up to 4,096 combinations
of sizes: powers of two times a tile of memory, and divisors of what is walked. For each combination it takes the
cheapest plan whose blocks fit (`kopt.planning.block_sizes`). A loop that may be a dimension of the grid is one, unless
another plan is clearly cheaper, as [below](#written-and-obeyed). Costs within 2 % of the least count as equal. Among
these longer rows win, then less VMEM. Where rows are computed, the choice is made once more on a TPU, by the products
and DMAs that move them. On a GPU the first eight sizes are compared again where whole dimensions are walked: with the
walks as loops, which may be dealt out to more cells. The bounds of some ranges are known only when the kernel runs.
Such ranges are assumed to divide their arrays evenly (`kopt.planning.assumed`).

On a TPU a candidate fits if its buffers and its values, counted whole, take no more than 24 MiB. Fewer of its values
take VMEM: those that wait for the end of a reduction or a product, and have no register. By these alone it is decided
whether a plan is legal (`kopt.planning.waiting`). Code for larger values takes libtpu longer, for mostly as many
cycles.

On a GPU sizes are powers of two. A candidate fits if no register spills and shared memory holds its operands. Its cost
is that of the slowest of five: issue, matrix units, the second-level cache, memory, and the dispatch of programs
(`kopt.planning.gpu_cost`). Warps and stages follow from the sizes (`kopt.planning.gpu_program`). How many visits of a
loop shared memory holds depends on what reads an operand there: the matrix unit by itself, or threads
(`kopt.analysis.launch_models.factors`).

`low.config` has the sizes. `low.report()` has the time that the launches are planned to take, `planned_seconds`. It is
null on GPUs. The [report](targets.md#what-a-report-predicts) also names the second choice, and what to try next.

## Written and obeyed

The pass `plan-accesses` writes a plan for every launch, on TPUs and GPUs. Later passes obey it, and decide nothing
again. On a TPU the pass makes one plan for each combination of schedules that the launch's loops may have. Of those
that fit the chip's memory it looks for the cheapest (`kopt.planning.cost`). The cheapest replaces the usual plan only
if it is better by 5 %: most of the model's error is common to all plans of a kernel (`kopt.planning.choice`).
`kopt FILE.mlir -p '…,plan-accesses'` shows the plan. Edit the text, and it is lowered as it says:

| edit | what it does |
|---|---|
| `schedule grid` → `resident`, `order [i, j, k]` → `[i, j]`, `window(i, k)` → `resident(i)` | a loop of the kernel |
| the same with `prefetch` and `prefetch(k)` | blocks come by DMA, one visit ahead |
| `order [i, j]` → `order [j, i]` | cells run in that order, on a GPU too |
| `@x = %x smem` → `window` | scalars arrive as a block |
| `@w = %w window(i, n) x2 address @group` → `window` | all that may be asked for is on the chip |
| `@w = %w window(i, n) x2 address @group` → `dma` | each cell brings its block, by a DMA |
| `schedule resident` → `schedule resident unroll 4` | four visits of the loop are written out in one |
| `parallel [i, j]` → `parallel [i]` | cells along `j` run in order, on one core |
| `warps 4` → `warps 8` | on a GPU |
| `b1=8192` → `b1=4096`, `online` → `passes` | in a walk, before it is a loop |

Walks are decided before, by `plan-walks`: for rows whose values do not fit a GPU's registers, and for rows whose blocks
do not fit VMEM. `kopt FILE.mlir -p '…,plan-walks'` shows them. `walk-dims` makes loops of them. `plan-accesses` treats
these like any other loops; the schedule `walk` says where they come from.

`address @group` lets Pallas move blocks at loaded numbers, such as `w[group[i], k, n]` (`kopt.analysis.addressed`). The
buffer `@group` is `smem whole`: it is in scalar memory before the grid runs (`pltpu.PrefetchScalarGridSpec`), and index
maps load from it. The planner takes such a window unless another way moves fewer bytes: the array as a whole, or one
DMA a cell.

Gathers and scatters on a TPU are decided before that, by `plan-values`. By then `normalise-accesses` has rewritten
accesses that are blocks as blocks. `kopt FILE.mlir -p '…,plan-values'` shows what was decided. Each such buffer has a
kind of its own. `realise-values` makes the code of the kind: products, picks, loops and DMAs. `plan-accesses` then
treats the blocks of that code like any others. `realise-values` decides nothing either, so edited text is lowered as it
says:

| edit | what it does |
|---|---|
| `@table = %table one_hot` → `rows` | one DMA a row, in place of a product with the whole table |
| `@table = %table rows` → `one_hot` | the other way round |
| `@logits_1 = %logits pick from @logits` → `rows` | elements are fetched by DMA, though their row is on the chip |
| `@out = %out row_loop` → `one_hot` | rows are added by one product, not one after the other |
| `@out = %out row_loop` → `row_dma` | the array stays in HBM; its rows come and go by DMA |

`kopt.analysis.values` lists the kinds that an access may have. A gather takes the first that is possible, an update the
one of fewest cycles; a remark says which. `logits[i, labels[i]]` beside `logits[i, :]` takes elements of a block that
is on the chip anyway, so they are picked `from` that block (`kopt.analysis.held_blocks`). The block is loaded once for
both. The plan of `plan-values` has it as a `window`, without axes or depth. After `plan-accesses` only
`@logits = %logits window(i) x2` is left. Elements are picked so only where the index algebra proves that every lane is
in the block. In flat storage, `flat[i * n + labels[i]]`, a label may name another row, so the elements are fetched.

The pass `verify-plan` runs right after `plan-accesses`. On a TPU it runs again before the conversion, where bytes are
known. It refuses an impossible plan at the access, loop or grid, and names what is possible there:

    error: 'x' cannot stand in a buffer of kind 'smem' here: window or resident

`realise-values` refuses accesses at computed places in the same way. Some words have no lowering yet, and are refused
too.

- On a TPU these are the kind `accumulate`; all words of buffers but `address` of a window, `pick from` and `smem
  whole`; depths other than the usual one; and views.
- On a GPU these are the kind `descriptor_gather`; all words of buffers; the option `split`; and loops that are neither
  `resident` nor `walk`.

A `resident` loop whose number of visits is known may have `unroll n` on a TPU, where n divides that number. On a GPU a
loop may have `stages n` of its own: `tl.range(…, num_stages=n)` loads the blocks of later visits ahead, also where they
feed no product. A loop that writes may not. No default plan has such stages: of eight examples four then take more
registers, and all take more shared memory.

On both, a `resident` loop may have `peel(full | diagonal)` where comparisons hold in all lanes of its first visits, as
in causal attention. `peel` of other parts is refused. In the plan that `plan-accesses` leaves, all accesses of an array
share one buffer."""

PINS = """## Pins

A configuration may make some of the decisions itself. The planner makes the others.

```python
config = {
    "accesses": {"k": "resident", "v": "resident(h) x2"},
    "loops": {"j": "resident"},
    "order": ["h", "i"],
}
```

The values are the words of the tables above, without names of buffers. The keys are names:

- An access has its id: `k` for the first access of the array `k`, in the order of the program, `k#1` for the second.
- A loop or an axis has the name of its variable in the source, `j`, or its tag, `b2`. Where several axes of a kernel
  share a name, use the tags. On a GPU a loop in blocks that are no power of two is split in two;
  its name means the loop over blocks.

A name that occurs in several launches is pinned in each. Axes that `order` leaves out come last. Only accesses and
loops that are there when the plan is made can be pinned. Dead ones are gone by then, and on a TPU so are loops of one
visit.

An access at a computed place may be pinned to be `pick`, `bounded`, `runs`, `one_hot`, `rows`, `row_loop` or `row_dma`:
`{"table": "rows"}`. A pin of any other kind applies to the accesses that `realise-values` makes of it. One case is
special: a row at a loaded number, of an array that VMEM does not hold, stays the block that it is pinned to be.

The plan says what is pinned, and the rest follows from it. If `k` is `prefetch`, so are the loops that walk it
(`kopt.analysis.pinned_loops`). If `cache` is a `window`, its blocks may be at loaded numbers, unless the array of the
numbers is pinned to be something other than `smem whole`. An impossible pin is refused, as in a plan written by hand,
so a tuner may try everything. Names and words that do not exist are refused, with a list of those that do. The
reference interpreter has no plan, and gives the same results.

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
