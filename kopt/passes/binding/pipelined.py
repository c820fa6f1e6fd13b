"""Loops of schedule ``pipeline`` become `pallas.pipeline`: their blocks stream between HBM and the chip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.layouts import Layout
from kopt.analysis.pipelining import PipelinedAccess, name_of, names
from kopt.analysis.windows import Window
from kopt.diagnostics import location_of
from kopt.dialects.pallas import PipelineOp, WindowAttr
from kopt.dialects.tile import ForOp, IdOp, LoadOp, RangeType, RefType
from kopt.errors import LoweringError
from kopt.ir.index_expr import IndexExpr
from kopt.passes.binding.accesses import WindowPlace, convert_load, convert_store


@dataclass(frozen=True)
class Stream:
    """One access of an array in HBM: ``array`` is its ref, ``layout`` says how its blocks stand on the chip."""

    walk: PipelinedAccess
    window: Window
    layout: Layout
    array: SSAValue


def convert_pipelines(streams: Sequence[Stream]) -> None:
    """Puts each loop that serves some of the accesses into a `pallas.pipeline`.

    tile.for %k in (0, 512) schedule emit_pipeline { %v = tile.load %x[%i, %k]; … }
    becomes
    %n = tile.id %i
    pallas.pipeline reads (%x_ref) at (%n) windows [<[8, 128], (d0)[s0] -> (s0, d0), vmem>] {
    ^bb0(%x_block): tile.for %k in (0, 512) schedule emit_pipeline { %v = tile.get %x_block[:, :]; … }
    }
    """
    for loop in dict.fromkeys(stream.walk.loop for stream in streams):
        _Pipeline(loop, [stream for stream in streams if stream.walk.loop is loop]).convert()


@dataclass
class _Block:
    """One block of the pipeline, and the accesses that see it."""

    array: SSAValue
    window: WindowAttr
    streams: list[Stream]

    @property
    def type(self) -> RefType:
        assert isinstance(self.array.type, RefType)
        return RefType([size for size in self.window.sizes if size], self.array.type.element_type)


class _Pipeline:
    def __init__(self, loop: ForOp, streams: Sequence[Stream]):
        self.loop = loop
        symbols = [symbol for stream in streams for number in stream.walk.numbers for symbol in names(number)]
        self.known = [symbol for symbol in dict.fromkeys(symbols) if symbol is not loop.range]
        self.reads = self._blocks([stream for stream in streams if isinstance(stream.walk.access, LoadOp)])
        self.writes = self._blocks([stream for stream in streams if not isinstance(stream.walk.access, LoadOp)])

    def convert(self) -> None:
        if self.loop.results:
            raise LoweringError(
                "a loop of schedule emit_pipeline carries values, which its pipeline cannot give back",
                location_of(self.loop),
                notes=["'apply-schedule' keeps them in scratch memory: run it before 'bind-buffers'"],
            )
        at = [self._outside(symbol) for symbol in self.known]
        blocks = [*self.reads, *self.writes]
        body = Block(arg_types=[block.type for block in blocks])
        for block, ref in zip(blocks, body.args, strict=True):
            _convert_accesses(block, ref)
        op = PipelineOp(
            [block.array for block in self.reads],
            [block.array for block in self.writes],
            at,
            [block.window for block in blocks],
            Region(body),
        )
        op.location = self.loop.location
        Rewriter.insert_op(op, InsertPoint.before(self.loop))
        self.loop.detach()
        body.add_op(self.loop)

    def _blocks(self, streams: Sequence[Stream]) -> list[_Block]:
        """The blocks, one for all accesses of an array that take the same."""
        found: dict[tuple[SSAValue, WindowAttr], _Block] = {}
        for stream in streams:
            window = self._window(stream)
            found.setdefault((stream.array, window), _Block(stream.array, window, [])).streams.append(stream)
        return list(found.values())

    def _window(self, stream: Stream) -> WindowAttr:
        zero = AffineExpr.constant(0)
        numbers = [
            self._affine(stream.walk.numbers[part.dim]) if part.kind in ("all", "outer") else zero
            for part in stream.layout.parts
        ]
        return WindowAttr(stream.layout.blocks, AffineMap(1, len(self.known), tuple(numbers)))

    def _affine(self, number: IndexExpr) -> AffineExpr:
        assert isinstance(number.const, int)
        total = AffineExpr.constant(number.const)
        for atom, coefficient in number.terms.items():
            assert isinstance(coefficient, int)
            own = (name := name_of(atom)) is self.loop.range
            term = AffineExpr.dimension(0) if own else AffineExpr.symbol(self.known.index(name))
            total = total + (term if coefficient == 1 else term * coefficient)
        return total

    def _outside(self, symbol: SSAValue) -> SSAValue:
        """A number that is known before the loop, as an ``index`` value."""
        if not isinstance(symbol.type, RangeType):
            return symbol
        id: Operation = IdOp(symbol)
        id.location = self.loop.location
        Rewriter.insert_op(id, InsertPoint.before(self.loop))
        return id.results[0]


def _convert_accesses(block: _Block, ref: SSAValue) -> None:
    name = block.streams[0].window.memory.name_hint or "array"
    is_input = isinstance(block.streams[0].walk.access, LoadOp)
    ref.name_hint = f"{name}_block" if is_input else f"{_written_name(block, name)}_block"
    for stream in block.streams:
        access = stream.walk.access
        place = WindowPlace(replace(stream.window, dims=stream.walk.dims), stream.layout, ref)
        if isinstance(access, LoadOp):
            convert_load(access, place)
        else:
            convert_store(access, place)


def _written_name(block: _Block, name: str) -> str:
    """An array that is read too has two blocks."""
    return f"new_{name}" if block.streams[0].window.loads else name
