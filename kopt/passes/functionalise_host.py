"""The pass ``functionalise-host``: launches give new versions of what they write; nothing is written in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import FixedBitwidthType, MemRefType, ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed, root, view_chain
from kopt.analysis.effects import is_side_effect_free
from kopt.analysis.view_boxes import may_overlap
from kopt.diagnostics import location_of
from kopt.dialects.host import (
    CallOp,
    CopyOp,
    ExpandOp,
    InsertOp,
    LaunchOp,
    PermuteOp,
    ReshapeOp,
    SliceOp,
    ViewOp,
)
from kopt.dialects.tile import ExtentOp, GridOp
from kopt.dialects.tile.extents import extent_of
from kopt.errors import LoweringError
from kopt.walk import walk


@dataclass(frozen=True)
class FunctionaliseHostPass(ModulePass):
    """Functionalisation: each `tile.grid` goes into a `host.launch`, whose results are new versions of written memrefs.

    Uses after a launch see the new version; views are taken anew of it, and a write through a view is carried back to
    the whole by the inverse view. `host.copy` becomes the value that it copies.

        tile.grid … { … tile.store %v, %out[%i] … }
        func.return %out
    becomes
        %out_1 = host.launch @f (%a = %x, %b = %out) writes [1] : … { tile.grid … { … tile.store %v, %b[%i] … } }
        func.return %out_1

    Constants and extents from around a loop nest are made again inside of the launch. Refuses a launch that reads and
    writes the same elements through different views, writes through an expanded view, and other values from around a
    loop nest.
    """

    name = "functionalise-host"
    #: Arguments are not written any more: ``return-mutated-arguments`` makes results of what a caller wants to see.
    forgets_arguments = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, FuncOp) and func.body.blocks:
                _Functionaliser(func).run()


@dataclass
class _Functionaliser:
    """Walks one function in order, keeping the current version of every storage."""

    func: FuncOp
    versions: dict[SSAValue, SSAValue] = field(default_factory=dict)
    views: dict[tuple[SSAValue, SSAValue], SSAValue] = field(default_factory=dict)

    def run(self) -> None:
        names = _launch_names(self.func)
        for op in list(self.func.body.block.ops):
            if isinstance(op, GridOp):
                self._launch(op, next(names))
            elif isinstance(op, CopyOp):
                self._copy(op)
            elif not isinstance(op, ViewOp):
                self._update_operands(op)
        self._drop_dead_views()

    def _update_operands(self, op: Operation) -> None:
        for number, operand in enumerate(op.operands):
            if isinstance(operand.type, MemRefType):
                op.operands[number] = self._current(operand, op)

    def _current(self, value: SSAValue, before: Operation) -> SSAValue:
        """The current version of a memref, as seen through its views."""
        base = root(value)
        version = self.versions.get(base, base)
        if version is base:
            return value
        current = version
        for view in view_chain(value):
            current = self._view_of(view, current, before)
        return current

    def _view_of(self, view: ViewOp, source: SSAValue, before: Operation) -> SSAValue:
        key = (view.result, source)
        if key not in self.views:
            copy = view.clone()
            copy.operands[0] = source
            copy.result.name_hint = view.result.name_hint
            Rewriter.insert_op(copy, InsertPoint.before(before))
            self.views[key] = copy.result
        return self.views[key]

    def _launch(self, grid: GridOp, name: str) -> None:
        written = accessed(grid, MemoryEffectKind.WRITE)
        used = tuple(dict.fromkeys((*accessed(grid, MemoryEffectKind.READ), *written)))
        written = tuple(value for value in used if value in written)
        _check_aliases(grid, used, written)
        inputs = [self._current(value, grid) for value in used]
        launch = LaunchOp(name, inputs, [used.index(value) for value in written])
        launch.location = grid.location
        Rewriter.insert_op(launch, InsertPoint.before(grid))
        self._move_into(grid, launch, used)
        following = _next(launch)
        for value, result in zip(written, launch.outputs, strict=True):
            result.name_hint = value.name_hint
            self.versions[root(value)] = self._write_back(value, result, launch, following)

    @staticmethod
    def _move_into(grid: GridOp, launch: LaunchOp, used: tuple[SSAValue, ...]) -> None:
        grid.detach()
        launch.body.block.add_op(grid)
        arguments: dict[SSAValue, SSAValue] = dict(zip(used, launch.body.block.args, strict=True))
        for value, argument in arguments.items():
            argument.name_hint = value.name_hint
        for inner in walk(grid):
            for number, operand in enumerate(inner.operands):
                if operand in arguments:
                    inner.operands[number] = arguments[operand]
                elif not grid.is_ancestor(_owner(operand)):
                    arguments[operand] = inner.operands[number] = _constant_in(grid, operand, inner)

    def _write_back(self, view: SSAValue, new: SSAValue, writer: Operation, before: Operation) -> SSAValue:
        """The root's new version, once ``writer`` has written ``new`` through ``view``; made in front of an op."""
        for op in reversed(view_chain(view)):
            inverse = self._inverse(op, new, writer, before)
            inverse.location = writer.location
            Rewriter.insert_op(inverse, InsertPoint.before(before))
            new = inverse.results[0]
        new.name_hint = root(view).name_hint
        return new

    def _inverse(self, view: ViewOp, new: SSAValue, writer: Operation, before: Operation) -> Operation:
        """The op that carries a view's new elements back to its source."""
        if isinstance(view, ReshapeOp):
            return ReshapeOp(new, view.source_type)
        if isinstance(view, PermuteOp):
            order = sorted(range(len(view.order)), key=view.order.__getitem__)
            return PermuteOp(new, order, view.source_type)
        if isinstance(view, SliceOp):
            base = self._current(view.source, before)
            return InsertOp(new, base, *([bound[n] for bound in view.bounds] for n in range(3)))
        assert isinstance(view, ExpandOp)
        raise LoweringError(
            "cannot write through an expanded view: its elements share storage", location_of(writer), id="aliasing"
        )

    def _copy(self, copy: CopyOp) -> None:
        source = self._current(copy.source, copy)
        target = copy.target.type
        assert isinstance(target, MemRefType) and isinstance(source.type, MemRefType)
        if source.type.element_type != target.element_type:
            source = _convert(source, target, copy)
        assert isinstance(source.type, MemRefType)
        if source.type.memory_space != target.memory_space:
            raise LoweringError(
                f"a copy between memories, {source.type} to {target}, is more than another version of its value",
                location_of(copy),
                notes=["programs of several ranks keep such copies: this pass is for kernels"],
            )
        self.versions[root(copy.target)] = self._write_back(copy.target, source, copy, copy)
        Rewriter.erase_op(copy)

    def _drop_dead_views(self) -> None:
        for op in reversed(list(self.func.body.block.ops)):
            if isinstance(op, ViewOp) and op.result.first_use is None:
                Rewriter.erase_op(op)


def _owner(value: SSAValue) -> Operation:
    """The operation that gives a value, or that has it as an argument."""
    owner = value.owner
    op = owner if isinstance(owner, Operation) else owner.parent_op()
    assert op is not None
    return op


def _constant_in(grid: GridOp, value: SSAValue, user: Operation) -> SSAValue:
    """A constant of the host, or an extent, made again before a loop nest; what else is no array is refused."""
    op = _owner(value)
    if (extent := extent_of(value)) is not None:
        made = ExtentOp(extent)
        made.location, made.result.name_hint = op.location, value.name_hint
        Rewriter.insert_op(made, InsertPoint.before(grid))
        return made.result
    if op.operands or op.regions or not is_side_effect_free(op) or isinstance(value.owner, Block):
        name = f"%{value.name_hint}" if value.name_hint else "a value"
        raise LoweringError(
            f"the loop nest uses {name}, which is computed before it, and is no array",
            location_of(user),
            notes=["a launch sees arrays and constants: store it in an array, and load it inside"],
        )
    copy = op.clone()
    Rewriter.insert_op(copy, InsertPoint.before(grid))
    return copy.results[op.results.index(value)]  # pyright: ignore[reportArgumentType]


def _next(op: Operation) -> Operation:
    """The operation behind one that does not end its block."""
    following = op.next_op
    assert following is not None
    return following


def _launch_names(func: FuncOp) -> Iterator[str]:
    grids = sum(isinstance(op, GridOp) for op in func.body.block.ops)
    name = func.sym_name.data
    return iter([name] if grids == 1 else [f"{name}_{number}" for number in range(grids)])


def _check_aliases(grid: GridOp, used: tuple[SSAValue, ...], written: tuple[SSAValue, ...]) -> None:
    roots = {root(value) for value in written}
    for value in used:
        others = [other for other in used if other is not value and may_overlap(value, other)]
        if root(value) in roots and others:
            name = root(value).name_hint or "an array"
            raise LoweringError(
                f"one loop nest reads and writes '{name}' through different views",
                location_of(grid),
                notes=["use one view of it in the loop nest, or copy it first"],
                id="aliasing",
            )


def _convert(source: SSAValue, target: MemRefType, before: Operation) -> SSAValue:
    """The elements of ``source`` in the element type of ``target``."""
    element = target.element_type
    assert isinstance(element, FixedBitwidthType)
    type = MemRefType(element, source.type.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
    call = CallOp("prims.convert_element_type.default", [source], [UnitAttr(), StringAttr(str(element))], [type])
    call.location = before.location
    Rewriter.insert_op(call, InsertPoint.before(before))
    return call.outputs[0]
