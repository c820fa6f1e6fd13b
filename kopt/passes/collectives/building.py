"""Building a kernel of one cell: its call, loops, index arithmetic, and copies that are waited for.

Ops are built where they are written: inside ``with kernel.body():`` they go to the kernel's body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineMap

from kopt.dialects.builder import named
from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp, WindowAttr
from kopt.dialects.symm import RankOp, RemoteCopyOp, RemoteCopyStartOp, RemoteCopyWaitOp
from kopt.dialects.tile import ALL, Entry, ForOp, GridOp, IdOp, RangeType, RefType, YieldOp

#: A block of a ref: the ref and an index list.
Place = tuple[SSAValue, tuple[Entry, ...]]


@dataclass(frozen=True)
class Members:
    """The group that a kernel runs in: its name, its number of ranks, and the number of its barriers' semaphore.

    ``tags`` are those that loops of the function may still take.
    """

    group: str
    ranks: int
    collective: int
    tags: Iterator[str]


class CollectiveKernel:
    """A `pallas.call` whose arrays stay in HBM, with one cell; its body is filled by ``with kernel.body():``."""

    def __init__(
        self, name: str, inputs: Sequence[SSAValue], outputs: Sequence[MemRefType], scratch: Sequence[RefType],
        members: Members,
    ):  # fmt: skip
        types = [value.type for value in inputs] + [*outputs]
        refs = [RefType(_memref(type).get_shape(), _memref(type).element_type, "hbm") for type in types]
        windows = [_whole(ref) for ref in refs]
        options = (windows, ["arbitrary"], [-1] * len(outputs), scratch, refs)
        self.call = CallOp(name, inputs, outputs, *options, collective=members.collective)
        self.members = members

    def call_refs(self, *names: str) -> tuple[SSAValue, ...]:
        """The body's refs of operands, results and scratch memory, called so."""
        return tuple(named(ref, name) for ref, name in zip(self.call.body.block.args, names, strict=True))

    @contextmanager
    def body(self) -> Iterator[SSAValue]:
        """Where ops of the cell are built; gives this rank's number."""
        cell = Block(arg_types=[RangeType(next(self.members.tags), 1)])
        with ImplicitBuilder(cell):
            yield named(RankOp(self.members.group).result, "me")
            YieldOp()
        with ImplicitBuilder(self.call.body.block):
            GridOp([1], Region(cell))


def _memref(type: Attribute) -> MemRefType:
    assert isinstance(type, MemRefType)
    return type


def _whole(ref: RefType) -> WindowAttr:
    return WindowAttr(ref.shape, AffineMap(1, 0, tuple(AffineConstantExpr(0) for _ in ref.shape)), "hbm")


def number(value: int) -> SSAValue:
    """A constant ``index``."""
    return arith.ConstantOp.from_int_and_width(value, IndexType()).result


def ring(rank: SSAValue, distance: int, ranks: int, name: str) -> SSAValue:
    """``(rank + distance) mod ranks``; the distance may be negative."""
    return wrapped(named(arith.AddiOp(rank, number(distance % ranks)).result, "ahead"), ranks, name)


def wrapped(value: SSAValue, ranks: int, name: str) -> SSAValue:
    """``value mod ranks``, of a number that is not negative."""
    return named(arith.RemUIOp(value, number(ranks)).result, name)


def before(rank: SSAValue, step: SSAValue, distance: int, ranks: int, name: str) -> SSAValue:
    """``(rank - step - distance) mod ranks``, for steps below the number of ranks."""
    start = named(arith.AddiOp(rank, number(2 * ranks - distance)).result, "ahead")
    return wrapped(named(arith.SubiOp(start, step).result, "behind"), ranks, name)


@contextmanager
def loop(members: Members, name: str, upper: int, size: int = 1) -> Iterator[SSAValue]:
    """A loop over blocks of ``size`` of ``upper`` elements; gives its range."""
    block = Block(arg_types=[RangeType(next(members.tags), size)])
    named(block.args[0], name)
    with ImplicitBuilder(block):
        yield block.args[0]
        YieldOp()
    ForOp(0, upper, [], Region(block))


@contextmanager
def when(predicate: str, value: SSAValue, bound: int) -> Iterator[None]:
    """Ops for the visits where a comparison with a number holds: ``uge``, ``ult``, ``eq``."""
    then = Block()
    with ImplicitBuilder(then):
        yield
        scf.YieldOp()
    scf.IfOp(named(arith.CmpiOp(value, number(bound), predicate).result, "applies"), [], Region(then))


def visit(range: SSAValue, name: str) -> SSAValue:
    """The number of a loop's visit."""
    return named(IdOp(range).result, name)


def whole(ref: SSAValue) -> Place:
    """All of a ref."""
    assert isinstance(ref.type, RefType)
    return ref, (ALL,) * ref.type.rank


@dataclass(frozen=True)
class LocalCopy:
    """A copy on this rank."""

    source: Place
    target: Place
    loaded: SSAValue

    def start(self) -> None:
        """Builds its start."""
        DmaStartOp(*self.source, *self.target, self.loaded, (0,))

    def wait(self) -> None:
        """Builds the wait for its end."""
        DmaWaitOp(*self.source, *self.target, self.loaded, (0,))

    def run(self) -> None:
        """Both, with nothing in between."""
        self.start()
        self.wait()


class RankCopy:
    """A copy to another rank, described where this is called."""

    def __init__(self, source: Place, target: Place, rank: SSAValue, sent: Place, received: Place, group: str):
        places = (source, target, sent, received)
        copy = RemoteCopyOp([ref for ref, _ in places], [entries for _, entries in places], rank, group)
        self._transfer = named(copy.transfer, "copy")

    def start(self) -> None:
        """Builds its start."""
        RemoteCopyStartOp(self._transfer)

    def wait(self) -> None:
        """Builds the waits for both ends: what was sent has left, and what is sent here has come."""
        for end in ("send", "receive"):
            RemoteCopyWaitOp(end, self._transfer)

    def run(self) -> None:
        """All three, with nothing in between."""
        self.start()
        self.wait()
