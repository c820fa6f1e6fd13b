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
    Word("whole", "nothing", "the array as a whole, once a launch"),
    Word("accumulate", "axes", "sums along these axes before it is written"),
    Word("over", "axes", "the axes whose visits add to one block"),
    Word("prefetch", "ahead", "brought that many blocks of an axis ahead"),
    Word("outstanding", "number", "copies that are under way at once"),
    Word("chunk", "number", "elements of a chunk"),
    Word("vec", "number", "elements of one instruction"),
    Word("cache", ("ca", "cg", "cs", "cv", "wb", "wt"), "the cache modifier of loads and stores"),
    Word("evict", ("first", "last"), "what the cache drops first, or last"),
    Word("scope", ("cta", "gpu", "sys"), "who sees an update at once"),
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
    Kind("window", TPU, True, True, ("address",), ("accumulate",), "a block of a BlockSpec, which Pallas moves"),
    Kind("resident", TPU, True, True, (), (), "all blocks that inner loops walk, on the chip at once"),
    Kind("prefetch", TPU, True, False, ("address",), ("outstanding",), "blocks by DMA, ahead of an axis"),
    Kind("emit_pipeline", TPU, True, True, (), ("accumulate",), "a block of a pipeline inside of the kernel"),
    Kind("smem", TPU, True, False, (), ("whole",), "scalars in scalar memory, there before the cells that use them"),
    Kind("smem_chunk", TPU, True, False, (), ("chunk",), "scalars in scalar memory, a chunk at a time"),
    Kind("dma", TPU, True, False, ("address",), ("outstanding",), "what is asked for, by DMA, when it is asked for"),
    Kind("rows", TPU, True, False, ("into", "address"), ("prefetch", "outstanding"), "a DMA for each row, by numbers"),
    Kind(
        "runs", TPU, True, False, (), (), "rows of memory around lanes that follow one another, turned to their first"
    ),
    Kind("places", TPU, True, False, (), (), "rows of memory around a number of each place, of which lanes are picked"),
    Kind("bounded", TPU, True, False, (), (), "the block that has all elements, which are picked from it"),
    Kind("one_hot", TPU, True, True, ("from", "into", "address"), (), "rows on the chip, by a product with ones"),
    Kind("pick", TPU, True, False, ("from", "address"), (), "elements on the chip, by a shuffle of lanes"),
    Kind("accumulate", TPU, False, True, (), ("over",), "a block on the chip that visits add to, written at the end"),
    Kind("writeback", TPU, True, True, ("address",), ("outstanding",), "blocks by DMA, behind an axis"),
    Kind("row_loop", TPU, False, True, ("into", "address"), (), "rows on the chip, one after the other"),
    Kind("row_dma", TPU, True, True, ("address",), ("outstanding",), "rows in HBM, brought, changed and sent by DMA"),
    Kind("scratch", TPU, True, True, (), (), "memory of the cells' own: nobody else sees the array"),
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
    LoopKind("resident", BOTH, "a loop of the kernel; what it reads is there"),
    LoopKind("prefetch", TPU, "a loop of the kernel; DMAs bring the next visit's blocks"),
    LoopKind("emit_pipeline", TPU, "a pipeline inside of the kernel"),
    LoopKind("walk", BOTH, "a loop over parts of what is one block in the source"),
)
LOOPS = {loop.name: loop for loop in _LOOPS}

_LOOP_WORDS = (
    Word("peel", "parts", "a loop of its own for each of these visits: only some need masks"),
    Word("unroll", "number", "visits written out in one"),
    Word("stages", "number", "visits whose blocks are under way at once"),
)
LOOP_WORDS = {word.name: word for word in _LOOP_WORDS}
#: The visits that a loop of their own may have.
PARTS = ("full", "diagonal", "ragged")

_LAUNCH_WORDS = (
    Word("warps", "number", "warps of a program"),
    Word("stages", "number", "blocks of its loops that are under way at once"),
    Word("programs", "number", "programs that share all cells"),
    Word("group", "number", "rows of cells that run side by side"),
    Word("split", "number", "cells that share a reduction"),
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
