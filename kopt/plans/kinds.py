"""The words of plans, as tables: kinds of buffers and what each takes, schedules of loops, a launch's options.

A kind is one way for an access to reach its array. Parsers, verifiers, configurations and ``docs/plans.md`` read these
tables; a new kind or word is one line.
"""

from __future__ import annotations

from dataclasses import dataclass

from kopt.plans.plan import Value

TPU = ("tpu",)
GPU = ("gpu",)
BOTH = ("tpu", "gpu")


@dataclass(frozen=True)
class Word:
    """A word behind a kind. ``takes`` says what follows it: see `FORMS`; or the choices there are."""

    name: str
    takes: str | tuple[str, ...]
    meaning: str


#: What may follow a word, as text says it.
FORMS = {"nothing": "", "number": "n", "axes": "(axis, …)", "ahead": "(axis, n)", "parts": "(part | part)"}

#: Words that name another buffer, and the field of `Buffer` that has it.
LINKS = {"from": "source", "into": "target", "address": "address"}

_WORDS = (
    Word("whole", "nothing", "the whole array, once for the launch"),
    Word("accumulate", "axes", "sums along these axes before it is written"),
    Word("over", "axes", "the axes whose visits add to one block"),
    Word("prefetch", "ahead", "brought n blocks of the axis ahead"),
    Word("outstanding", "number", "how many copies are under way at once"),
    Word("chunk", "number", "elements of a chunk"),
    Word("vec", "number", "elements of one instruction"),
    Word("cache", ("ca", "cg", "cs", "cv", "wb", "wt"), "the cache modifier of loads and stores"),
    Word("evict", ("first", "last"), "what the cache drops first, or last"),
    Word("scope", ("cta", "gpu", "sys"), "which threads an update is atomic for"),
)
WORDS = {word.name: word for word in _WORDS}


@dataclass(frozen=True)
class Kind:
    """A kind of buffer: the families of targets that have it, what it is for, and the words that it takes."""

    name: str
    families: tuple[str, ...]
    reads: bool
    writes: bool
    links: tuple[str, ...]
    words: tuple[str, ...]
    meaning: str


_KINDS = (
    Kind("window", TPU, True, True, ("address",), ("accumulate",), "a block of a BlockSpec, moved by Pallas"),
    Kind("resident", TPU, True, True, (), (), "all blocks that loops of the kernel visit, on the chip at once"),
    Kind("prefetch", TPU, True, False, ("address",), ("outstanding",), "blocks by DMA, some visits of an axis ahead"),
    Kind("emit_pipeline", TPU, True, True, (), ("accumulate",), "a block of a pipeline inside the kernel"),
    Kind("smem", TPU, True, False, (), ("whole",), "scalars in scalar memory, before the cells that use them run"),
    Kind("smem_chunk", TPU, True, False, (), ("chunk",), "scalars in scalar memory, one chunk at a time"),
    Kind("dma", TPU, True, False, ("address",), ("outstanding",), "a block by DMA, when it is needed"),
    Kind("rows", TPU, True, False, ("into", "address"), ("prefetch", "outstanding"), "a DMA for each numbered row"),
    Kind("runs", TPU, True, False, (), (), "consecutive lanes: the aligned rows around them, then a shift"),
    Kind("places", TPU, True, False, (), (), "for each number the aligned rows around it, lanes picked from them"),
    Kind("bounded", TPU, True, False, (), (), "a block proved to have all elements, picked from it"),
    Kind("one_hot", TPU, True, True, ("from", "into", "address"), (), "rows on the chip, by a one-hot product"),
    Kind("pick", TPU, True, False, ("from", "address"), (), "elements on the chip, by a shuffle of lanes"),
    Kind("accumulate", TPU, False, True, (), ("over",), "a block on the chip that visits add to, written at the end"),
    Kind(
        "writeback", TPU, True, True, ("address",), ("outstanding",), "blocks written by DMA, as later visits compute"
    ),
    Kind("row_loop", TPU, False, True, ("into", "address"), (), "rows on the chip, updated one by one"),
    Kind("row_dma", TPU, True, True, ("address",), ("outstanding",), "rows in HBM, copied in, updated, copied back"),
    Kind("scratch", TPU, True, True, (), (), "memory of the cells, for an array that nothing outside the launch sees"),
    Kind("pointer", GPU, True, True, (), ("vec", "cache", "evict"), "a block of pointers"),
    Kind("descriptor", GPU, True, True, (), ("cache", "evict"), "a block by a tensor descriptor"),
    Kind("descriptor_gather", GPU, True, False, ("address",), ("cache", "evict"), "rows by a tensor descriptor"),
    Kind("atomic", GPU, False, True, (), ("vec", "scope"), "updates by atomic instructions"),
)
KINDS = {kind.name: kind for kind in _KINDS}
#: Kinds of accesses at computed places: what stands in their place once they are realised has another kind.
VALUES = ("pick", "bounded", "places", "runs", "one_hot", "rows", "row_loop", "row_dma")


@dataclass(frozen=True)
class LoopKind:
    """A way to run a loop."""

    name: str
    families: tuple[str, ...]
    meaning: str


_LOOPS = (
    LoopKind("grid", BOTH, "a dimension of the grid"),
    LoopKind("resident", BOTH, "a loop of the kernel; its blocks are on the chip"),
    LoopKind("prefetch", TPU, "a loop of the kernel; DMAs bring the next visit's blocks"),
    LoopKind("emit_pipeline", TPU, "a pipeline inside the kernel"),
    LoopKind("walk", BOTH, "a loop over parts of a dimension that is one block in the source"),
)
LOOPS = {loop.name: loop for loop in _LOOPS}

_LOOP_WORDS = (
    Word("peel", "parts", "a separate loop for each of these parts, since only some need masks"),
    Word("unroll", "number", "how many visits are written out in one"),
    Word("stages", "number", "how many visits' blocks are under way at once"),
)
LOOP_WORDS = {word.name: word for word in _LOOP_WORDS}
#: The visits that a loop of their own may have.
PARTS = ("full", "diagonal", "ragged")

_LAUNCH_WORDS = (
    Word("warps", "number", "warps of a program"),
    Word("stages", "number", "how many blocks of its loops are under way at once"),
    Word("programs", "number", "how many programs share all cells"),
    Word("share", ("interleaved", "blocked"), "whether these have every n-th cell, or neighbours"),
    Word("registers", "number", "the most registers of a thread"),
    Word("group", "number", "how many rows of cells run side by side"),
    Word("split", "number", "how many cells share a reduction"),
)
LAUNCH_WORDS = {word.name: word for word in _LAUNCH_WORDS}

#: What the host may do to an array before a launch, or to a result after it.
VIEWS = ("permute", "pad", "slice", "cast", "fill")

#: How a dimension may be walked.
WALKS = ("online", "passes")


def takes(word: Word, value: Value) -> bool:
    """Whether a value is of the form that a word takes."""
    if isinstance(word.takes, tuple):
        return value in word.takes
    return _FITS[word.takes](value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_axes(value: Value) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and all(isinstance(axis, str) for axis in value)


def _is_ahead(value: Value) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and _is_count(value[1])


_FITS = {"nothing": lambda value: value == (), "number": _is_count, "axes": _is_axes, "ahead": _is_ahead}
