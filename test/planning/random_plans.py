"""Random plans: of any names, and of one kernel."""

from __future__ import annotations

from hypothesis import strategies as st

from kopt.plans.kinds import (
    GPU,
    KINDS,
    LAUNCH_WORDS,
    LINKS,
    LOOP_WORDS,
    LOOPS,
    PARTS,
    TPU,
    WALKS,
    WORDS,
    Kind,
    Word,
)
from kopt.plans.plan import Assumption, Buffer, LoopSchedule, Options, Plan, Value, Walk

COUNTS = st.integers(1, 4096)
#: Names that look like other words too.
AXES: tuple[str, ...] = ("i", "b0", "x2", "_", "x.1", "k$", "Row_3", "order", "grid", "loop", "window", "vec", "true")
BUFFERS: tuple[str, ...] = ("x", "x0", "x.y", "_1", "a$b", "via", "Big_Name")
ARRAYS: tuple[str, ...] = ("x", "k", "0", "17", "a-b", "a.b", "$s", "in", "to")


def values(word: Word, axes: list[str]) -> st.SearchStrategy[Value]:
    """What may stand behind a word."""
    if isinstance(word.takes, tuple):
        return st.sampled_from(word.takes)
    some = st.sampled_from(axes)
    return {
        "nothing": st.just(()),
        "number": COUNTS,
        "axes": st.lists(some, min_size=1, max_size=3).map(tuple),
        "ahead": st.tuples(some, COUNTS),
    }[word.takes]


@st.composite
def options(draw: st.DrawFn, words: list[Word], axes: list[str]) -> Options:
    """Some words, each once."""
    chosen = draw(st.lists(st.sampled_from(words), unique=True, max_size=3)) if words else []
    return tuple((word.name, draw(values(word, axes))) for word in chosen)


@st.composite
def buffers(draw: st.DrawFn, name: str, operand: str, kind: Kind, others: list[str], axes: list[str]) -> Buffer:
    """A buffer of a kind."""
    linked = draw(st.lists(st.sampled_from(kind.links), unique=True)) if kind.links and others else []
    links = {LINKS[word]: draw(st.sampled_from(others)) for word in linked}
    moves = tuple(draw(st.lists(st.sampled_from(axes), unique=True, max_size=3)))
    words = draw(options([WORDS[word] for word in kind.words], axes))
    return Buffer(name, operand, kind.name, moves, draw(st.integers(1, 4)), options=words, **links)


@st.composite
def schedules(draw: st.DrawFn, family: str) -> LoopSchedule:
    """A schedule of a loop."""
    kind = draw(st.sampled_from([loop.name for loop in LOOPS.values() if family in loop.families]))
    peel = draw(st.just(()) | st.lists(st.sampled_from(PARTS), unique=True, min_size=2).map(tuple))
    words = [word for name, word in LOOP_WORDS.items() if name not in ("peel", "unroll")]
    return LoopSchedule(kind, draw(st.integers(1, 8)), peel, draw(options(words, [""])))


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """A plan whose names are its own."""
    family = draw(st.sampled_from([*TPU, *GPU]))
    axes = draw(st.lists(st.sampled_from(AXES), unique=True, min_size=1, max_size=5))
    names = draw(st.lists(st.sampled_from(BUFFERS), unique=True, min_size=1, max_size=5))
    operand = st.sampled_from(ARRAYS)
    kinds = [kind for kind in KINDS.values() if family in kind.families]
    made = tuple(
        draw(buffers(name, draw(operand), draw(st.sampled_from(kinds)), [n for n in names if n != name], axes))
        for name in names
    )
    access = st.builds(lambda name, number: f"{name}#{number}" if number else name, operand, st.integers(0, 3))
    via = draw(st.dictionaries(access, st.sampled_from(names), max_size=5))
    order = tuple(draw(st.permutations(axes)))
    walked = draw(st.lists(st.sampled_from("uvw"), unique=True, max_size=2))
    return Plan(
        order,
        frozenset(draw(st.lists(st.sampled_from(order), unique=True))),
        made,
        via,
        draw(st.dictionaries(st.sampled_from(axes), schedules(family), max_size=3)),
        draw(options(list(LAUNCH_WORDS.values()), axes)),
        tuple(draw(st.lists(assumptions(operand), max_size=2))),
        tuple(Walk(draw(operand), draw(st.integers(0, 3)), axis, draw(COUNTS), draw(ways())) for axis in walked),
    )


def ways() -> st.SearchStrategy[str]:
    """Ways to walk."""
    return st.sampled_from(WALKS)


def assumptions(operand: st.SearchStrategy[str]) -> st.SearchStrategy[Assumption]:
    """What may be assumed of loaded numbers."""
    return st.builds(lambda name, low, count: Assumption(name, low, low + count), operand, st.integers(-9, 9), COUNTS)


#: The operands of `KERNEL` and their ranks; its axes; its accesses, and whether each writes.
OPERANDS = {"x": 2, "y": 2, "n": 1, "o": 2}
GRID, INNER = ("b0", "b1"), ("b2", "b3")
ACCESSES = {"n": False, "x": False, "x#1": False, "y": False, "y#1": True, "o": True}
KERNEL = """
func.func @kernel(%x: memref<64x64xi32>, %y: memref<64x64xi32>, %n: memref<64xi32>, %o: memref<64x64xi32>) {
  tile.grid (%i: b0=16, %j: b1=16) in (64, 64) {
    %lengths = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    tile.for %k: b2=16 in (0, 64) {
      %a = tile.load %x[%i, %k] : memref<64x64xi32> -> !tile.tile<b0=16 x b2=16 x i32>
      %b = tile.load %x[%k, %j] : memref<64x64xi32> -> !tile.tile<b2=16 x b1=16 x i32>
      %c = tile.load %y[%i, %k] : memref<64x64xi32> -> !tile.tile<b0=16 x b2=16 x i32>
      atomic.rmw add %a, %y[%i, %k] : !tile.tile<b0=16 x b2=16 x i32>, memref<64x64xi32>
    }
    jagged.for %k: b3=16 in %lengths {
    }
    %v = tile.full 0 : !tile.tile<b0=16 x b1=16 x i32>
    tile.store %v, %o[%i, %j] : !tile.tile<b0=16 x b1=16 x i32>, memref<64x64xi32>
  }
  func.return
}
"""


@st.composite
def plans_of_kernel(draw: st.DrawFn) -> Plan:
    """A plan that `KERNEL` may have: every buffer serves an access that it is for."""
    family = draw(st.sampled_from([*TPU, *GPU]))
    walks = [Walk(name, draw(st.integers(0, rank - 1)), f"{name}.0", draw(COUNTS), draw(ways()))
             for name, rank in OPERANDS.items() if draw(st.booleans())]  # fmt: skip
    axes = [*GRID, *INNER, *(walk.axis for walk in walks)]
    served = draw(st.lists(st.sampled_from(sorted(ACCESSES)), unique=True))
    names = {access: f"{access.replace('#', '_')}" for access in served}
    made = tuple(draw(_buffer_for(access, name, list(names.values()), family, axes)) for access, name in names.items())
    own = draw(st.lists(st.sampled_from(axes), unique=True))
    order = tuple(draw(st.permutations([*GRID, *(axis for axis in own if axis not in GRID)])))
    return Plan(
        order,
        frozenset(draw(st.lists(st.sampled_from(order), unique=True))),
        made,
        names,
        draw(st.dictionaries(st.sampled_from(axes), schedules(family), max_size=3)),
        draw(options(list(LAUNCH_WORDS.values()), axes)),
        tuple(draw(st.lists(assumptions(st.sampled_from(sorted(OPERANDS))), max_size=2))),
        tuple(walks),
    )


def _buffer_for(access: str, name: str, names: list[str], family: str, axes: list[str]) -> st.SearchStrategy[Buffer]:
    kinds = [kind for kind in KINDS.values()
             if family in kind.families and (kind.writes if ACCESSES[access] else kind.reads)]  # fmt: skip
    others = [other for other in names if other != name]
    operand = access.partition("#")[0]
    return st.sampled_from(kinds).flatmap(lambda kind: buffers(name, operand, kind, others, axes))
