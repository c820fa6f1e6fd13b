"""Blocks of refs: reads, writes and DMAs, and where a range's block begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce

from xdsl.ir import Operation, SSAValue

from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import GetOp, PutOp, RangeType, RefType, ShiftOp, WholeOp, tile_type
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr
from kopt.ir.atoms import Atom, BlockNumber, Symbol
from kopt.ir.index_expr import ZERO, Coefficient, IndexExpr
from kopt.lowering.expr import Expr, add, number, times
from kopt.lowering.pallas.printing import PallasPrinter, Visit
from kopt.lowering.printer import Handler
from kopt.lowering.writer import source_place
from kopt.walk import walk

#: How the names of refs end.
_REF = re.compile(r"_ref(_\d+)?\Z")


def _get(printing: PallasPrinter, op: GetOp) -> None:
    """A read, always a line of its own, where the program reads; it is called like its ref."""
    hint = _REF.sub("", printing.name(op.memory))
    printing.assign(op.result, Expr(_at(op.memory, op.entries, printing)), hint)


def _put(printing: PallasPrinter, op: PutOp) -> None:
    type, value = tile_type(op.value), printing[op.value].text
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
    return f"pl.ds({printing[entry].text}, 1)"


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
    return printing[entry].text


def _block(range: SSAValue, lanes: int, size: int, printing: PallasPrinter) -> str:
    """The lanes of a range in a dimension of ``size``."""
    start = _moving(printing.sums.begin(range), printing)
    if (first := start.number) is not None:
        return ":" if first == 0 and lanes == size else f"{first}:{first + lanes}"
    text = printing.visit(range).begin.text
    divisor = start.divisor
    return f"pl.ds(pl.multiple_of({text}, {divisor}), {lanes})" if divisor > 1 else f"pl.ds({text}, {lanes})"


def _shift(printing: PallasPrinter, op: ShiftOp) -> None:
    """A shifted range: its block's begin is written once, as the sum that is left when terms cancel."""
    inner, sums = printing.visit(op.range), printing.sums
    begin = printing[op.offset] if sums.begin(op.range) == ZERO else _sum(sums.begin(op.result), printing)
    if not begin.is_name:
        begin = printing.give(begin, f"{op.result.name_hint or op.range.name_hint or 'block'}_begin", op)
    printing.visits[op.result] = Visit(inner.id, begin, inner.limit, inner.count)


def _whole(printing: PallasPrinter, op: WholeOp) -> None:
    """A range over a plain extent: one block."""
    printing.visits[op.result] = Visit(number(0), number(0), number(op.extent.data), number(1))


def _moving(form: IndexExpr, printing: PallasPrinter) -> IndexExpr:
    """A sum without the numbers of blocks of which there is one: what is left may be known."""
    terms = {atom: factor for atom, factor in form.terms.items() if _name(atom, printing).literal != 0}
    return IndexExpr(form.const, terms)


def _name(atom: Atom, printing: PallasPrinter) -> Expr:
    """An index, or the number of a range's block."""
    assert isinstance(atom, BlockNumber | Symbol) and isinstance(atom.name, SSAValue)
    return printing.visit(atom.name).id if isinstance(atom, BlockNumber) else printing[atom.name]


def _sum(form: IndexExpr, printing: PallasPrinter) -> Expr:
    """A sum in Python: ``k * 64 + 8``. Blocks of ranges are known by their numbers."""
    form = _moving(form, printing)
    terms = (times(_name(atom, printing), _number(factor)) for atom, factor in form.terms.items())
    return reduce(add, [*terms, _number(form.const)])


def _number(coefficient: Coefficient) -> Expr:
    assert isinstance(coefficient, int), "sizes are known"
    return number(coefficient)


def terms_of_shifts(call: CallOp, printing: PallasPrinter) -> Iterator[SSAValue]:
    """The indices that the begins of shifted ranges are summed up from, wherever those stand."""
    for op in walk(call, ShiftOp):
        for atom in () if printing.sums.begin(op.range) == ZERO else printing.sums.begin(op.result).terms:
            if isinstance(atom, Symbol) and isinstance(atom.name, SSAValue):
                yield atom.name


def _dma_start(printing: PallasPrinter, op: DmaStartOp) -> None:
    if _is_awaited(op):
        source, target, _ = _places(op, printing)
        printing.writer.line(f"pltpu.sync_copy({source}, {target})", source_place(op))
    else:
        printing.writer.call("pltpu.make_async_copy", _places(op, printing), ".start()", source_place(op))


def _dma_wait(printing: PallasPrinter, op: DmaWaitOp) -> None:
    start = op.prev_op
    if not isinstance(start, DmaStartOp) or not _is_awaited(start):
        printing.writer.call("pltpu.make_async_copy", _places(op, printing), ".wait()", source_place(op))


def _is_awaited(start: DmaStartOp) -> bool:
    """Whether what comes next is the wait for this copy."""
    wait = start.next_op
    return isinstance(wait, DmaWaitOp) and _moved(wait) == _moved(start)


def _moved(op: DmaStartOp | DmaWaitOp) -> list[tuple[SSAValue, list[Entry]]]:
    """From where, to where, and the semaphore."""
    refs = (op.source, op.source_entries), (op.target, op.target_entries), (op.semaphore, op.semaphore_entries)
    return [(ref, [*entries]) for ref, entries in refs]


def _places(op: DmaStartOp | DmaWaitOp, printing: PallasPrinter) -> list[str]:
    return [place(ref, entries, printing) for ref, entries in _moved(op)]


#: The printer of each op on refs and ranges.
HANDLERS: dict[type[Operation], Handler] = {
    GetOp: _get,
    PutOp: _put,
    ShiftOp: _shift,
    WholeOp: _whole,
    DmaStartOp: _dma_start,
    DmaWaitOp: _dma_wait,
}
