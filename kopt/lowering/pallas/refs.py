"""Blocks of refs: reads, writes and DMAs, and where a range's block begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from kopt.dialects.pallas import DmaOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import GetOp, PutOp, RangeType, RefType, ShiftOp, WholeOp, tile_type
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr
from kopt.ir.atoms import Atom, BlockNumber, Symbol
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.lowering.pallas.printing import PallasPrinter, Visit


def _get(op: Operation, printing: PallasPrinter) -> None:
    assert isinstance(op, GetOp)
    printing.bind(op.result, _at(op.memory, op.entries, printing), op)


def _put(op: Operation, printing: PallasPrinter) -> None:
    assert isinstance(op, PutOp)
    type, value = tile_type(op.value), printing.name(op.value)
    assert isinstance(op.memory.type, RefType)
    if type.rank == 0 and op.memory.type.space.data == "vmem":  # which takes no scalars
        shape = (1,) * op.memory.type.rank
        value = f"jnp.full({shape}, {value}, {printing.dtype(type.element_type)})"
        entries = [_one(entry, printing) for entry in op.entries]
        printing.line(f"{printing.name(op.memory)}[{', '.join(entries)}] = {value}", op)
    else:
        printing.line(f"{_at(op.memory, op.entries, printing)} = {value}", op)


def _one(entry: Entry, printing: PallasPrinter) -> str:
    """A single index as a slice of one element."""
    if isinstance(entry, int):
        return f"{entry}:{entry + 1}"
    assert isinstance(entry, SSAValue)
    return f"pl.ds({printing.name(entry)}, 1)"


def _at(ref: SSAValue, entries: Sequence[Entry], printing: PallasPrinter) -> str:
    """``x_ref[…]`` for a whole ref, else ``x_ref[:, pl.ds(k_begin, 64)]``."""
    return f"{printing.name(ref)}[{_indices(ref, entries, printing)}]"


def place(ref: SSAValue, entries: Sequence[Entry], printing: PallasPrinter) -> str:
    """``x_ref.at[…]``: where a copy reads or writes."""
    return f"{printing.name(ref)}.at[{_indices(ref, entries, printing)}]"


def _indices(ref: SSAValue, entries: Sequence[Entry], printing: PallasPrinter) -> str:
    assert isinstance(ref.type, RefType)
    texts = [_index(entry, size, printing) for entry, size in zip(entries, ref.type.shape, strict=True)]
    return "..." if all(text == ":" for text in texts) else ", ".join(texts)


def _index(entry: Entry, size: int, printing: PallasPrinter) -> str:
    if isinstance(entry, AllAttr):
        return ":"
    if isinstance(entry, SliceAttr):
        return str(entry)
    if isinstance(entry, int):
        return str(entry)
    if isinstance(entry.type, RangeType):
        return _block(entry, entry.type.size, size, printing)
    return printing.name(entry)


def _block(range: SSAValue, lanes: int, size: int, printing: PallasPrinter) -> str:
    """The lanes of a range in a dimension of ``size``."""
    start = _moving(printing.sums.begin(range), printing)
    if (first := start.number) is not None:
        return ":" if first == 0 and lanes == size else f"{first}:{first + lanes}"
    text = printing.visit(range).begin
    divisor = start.divisor
    return f"pl.ds(pl.multiple_of({text}, {divisor}), {lanes})" if divisor > 1 else f"pl.ds({text}, {lanes})"


def _shift(op: Operation, printing: PallasPrinter) -> None:
    """A shifted range: its block's begin is written once, as the sum that is left when terms cancel."""
    assert isinstance(op, ShiftOp)
    inner, sums = printing.visit(op.range), printing.sums
    text = printing.name(op.offset) if sums.begin(op.range) == ZERO else spell(sums.begin(op.result), printing)
    if not text.isidentifier() and not text.isdigit():
        text = printing.assign(text, f"{op.result.name_hint or op.range.name_hint or 'block'}_begin", op)
    printing.visits[op.result] = Visit(inner.id, text, inner.limit, inner.count)


def _whole(op: Operation, printing: PallasPrinter) -> None:
    """A range over a plain extent: one block."""
    assert isinstance(op, WholeOp)
    printing.visits[op.result] = Visit("0", "0", str(op.extent.data), "1")


def _moving(form: IndexExpr, printing: PallasPrinter) -> IndexExpr:
    """A sum without the numbers of blocks of which there is one: what is left may be known."""
    return IndexExpr(form.const, {atom: factor for atom, factor in form.terms.items() if _name(atom, printing) != "0"})


def _name(atom: Atom, printing: PallasPrinter) -> str:
    """An index, or the number of a range's block."""
    assert isinstance(atom, BlockNumber | Symbol) and isinstance(atom.name, SSAValue)
    return printing.visit(atom.name).id if isinstance(atom, BlockNumber) else printing.name(atom.name)


def spell(form: IndexExpr, printing: PallasPrinter) -> str:
    """A sum in Python: ``k * 64 + 8``. Blocks of ranges are known by their numbers."""
    parts, form = [], _moving(form, printing)
    for atom, coefficient in form.terms.items():
        name = _name(atom, printing)
        parts.append(name if coefficient == 1 else f"{name} * {coefficient}")
    if form.const or not parts:
        parts.append(str(form.const))
    return " + ".join(parts)


def _dma(op: Operation, printing: PallasPrinter) -> None:
    assert isinstance(op, DmaOp)
    places = (
        (op.source, op.source_entries),
        (op.target, op.target_entries),
        (op.semaphore, op.semaphore_entries),
    )
    texts = [place(ref, entries, printing) for ref, entries in places]
    action = "start" if isinstance(op, DmaStartOp) else "wait"
    printing.line("pltpu.make_async_copy(", op)
    printing.writer.lines(f"    {text}," for text in texts)
    printing.line(f").{action}()")


#: The writer of each op on refs and ranges.
REFS: dict[type[Operation], Callable[[Operation, PallasPrinter], None]] = {
    GetOp: _get,
    PutOp: _put,
    ShiftOp: _shift,
    WholeOp: _whole,
    DmaStartOp: _dma,
    DmaWaitOp: _dma,
}
