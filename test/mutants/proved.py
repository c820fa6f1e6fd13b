"""Mutants that no test can kill, each with the reason why nothing changes."""

from __future__ import annotations

from typing import NamedTuple

from operators import Mutant


class Proof(NamedTuple):
    """A line of a file, what it becomes, and why that is the same."""

    file: str
    line: str
    changed: str
    why: str


PROVED: tuple[Proof, ...] = (
    Proof(
        "kopt/ir/trip_counts.py",
        "return None if None in trips else prod(count for count in trips if count is not None)",
        "return None if None in trips else prod(count for count in trips if True)",
        "none is None where they are multiplied",
    ),
    Proof(
        "kopt/interpreter/reductions.py",
        "wide = np.promote_types(dtype, np.float32)",
        "wide = np.promote_types(np.float32, dtype)",
        "types are promoted in any order",
    ),
    Proof(
        "kopt/passes/pick_registers.py",
        "first = inner.add(arith.MuliOp(register, inner.index(LANES)))",
        "first = inner.add(arith.MuliOp(inner.index(LANES), register))",
        "the operands of a product commute",
    ),
    Proof(
        "kopt/passes/aligning/stores.py",
        "return whole_tiles and unit > 1",
        "return whole_tiles and unit > 2",
        "alignment.multiple gives 1, or multiples of 8",
    ),
    Proof(
        "kopt/ir/to_ssa.py",
        "return self._add(arith.SubiOp(whole, self._add(arith.MuliOp(self._add(arith.FloorDivSIOp(whole, by)), by))))",
        "return self._add(arith.SubiOp(whole, self._add(arith.MuliOp(by, self._add(arith.FloorDivSIOp(whole, by))))))",
        "the operands of a product commute",
    ),
    Proof(
        "kopt/ir/value_range.py",
        "return a * (1 if b > 0 else -1) if abs(a) == _INF else a // b",
        "return a * (2 if b > 0 else -1) if abs(a) == _INF else a // b",
        "twice infinity is infinity",
    ),
    Proof(
        "kopt/analysis/aliases.py",
        "if inner.regions or is_pure(type(inner)):",
        "if ((inner.regions)):",
        "a pure operation has no effects to go through",
    ),
    Proof(
        "kopt/analysis/effects.py",
        "return is_pure(type(op)) or next(_effects(op), _NOTHING) is _NOTHING",
        "return ((next(_effects(op), _NOTHING) is _NOTHING))",
        "a pure operation has no effects: to ask first is quicker",
    ),
    Proof(
        "kopt/analysis/effects.py",
        "return is_pure(type(op)) or all(",
        "return ((all(",
        "a pure operation has no effects: to ask first is quicker",
    ),
    Proof(
        "kopt/analysis/hoisting.py",
        "if outer is None or outer not in grid.ranges or analysis.begin(outer) != analysis.expr(bound.lower):",
        "if ((outer not in grid.ranges) or (analysis.begin(outer) != analysis.expr(bound.lower))):",
        "None is no range of a grid",
    ),
    Proof(
        "kopt/analysis/coverage.py",
        "return Count(total.fewest, 2 * total.most if again else total.most, places)",
        "return Count(total.fewest, 3 * total.most if again else total.most, places)",
        "all that matters is whether it is 1",
    ),
    Proof(
        "kopt/ir/to_tiles.py",
        'return part if factor == 1 else self._compute("mul", part, Part(factor))',
        'return part if factor == 1 else self._compute("mul", Part(factor), part)',
        "the operands of a product commute",
    ),
    Proof(
        "kopt/ir/to_tiles.py",
        'return self._compute("and", inner, Part((1 << atom.bits) - 1))',
        'return self._compute("and", Part((1 << atom.bits) - 1), inner)',
        "the operands commute",
    ),
    Proof(
        "kopt/passes/pipelining/writebacks.py",
        "shared = reduce(lambda a, b: self.build.add(arith.OrIOp(a, b)), tests)",
        "shared = reduce(lambda a, b: self.build.add(arith.OrIOp(b, a)), tests)",
        "the operands commute",
    ),
    Proof(
        "kopt/passes/walking/accumulators.py",
        'better = self._of(parts, _E["or"](better, first))',
        'better = self._of(parts, _E["or"](first, better))',
        "the operands commute",
    ),
    Proof(
        "kopt/analysis/lost_updates.py",
        "return self.order[put] < self.order[get]",
        "return self.order[put] <= self.order[get]",
        "no two operations have one number",
    ),
    Proof(
        "kopt/analysis/lost_updates.py",
        "return self.order[write] < self.order[reader]",
        "return self.order[write] <= self.order[reader]",
        "what is in the body of a loop has an ancestor in the block of the write",
    ),
    Proof(
        "kopt/analysis/remote/events.py",
        "return all(a < d and c < b for (a, b), (c, d) in zip(self.box, other.box, strict=True))",
        "return all(a < d and c < b for (a, b), (c, d) in zip(other.box, self.box, strict=True))",
        "boxes overlap each other",
    ),
    Proof(
        "kopt/ir/from_access.py",
        "scope = ranges_in_scope(op) if any(tag and not is_range(entry) for tag, entry in pairs) else {}",
        "scope = ranges_in_scope(op) if any(((tag)) for tag, entry in pairs) else {}",
        "entries that are ranges look nothing up",
    ),
    Proof(
        "kopt/analysis/remote/unroll.py",
        "found = list(itertools.islice(events, limit + 1))",
        "found = list(itertools.islice(events, limit + 2))",
        "one more than the limit is too many, and so are two",
    ),
    Proof(
        "kopt/analysis/launch_models/dim_classes.py",
        "dims.alike(op.result, op.accumulator)",
        "dims.alike(op.accumulator, op.result)",
        "the classes are the same, and which dimension stands for one is asked once all are known",
    ),
    Proof(
        "kopt/analysis/streaming.py",
        "left = [owner] if isinstance(owner, Operation) and owner.parent is body else []",
        "left = [owner] if ((owner.parent is body)) else []",
        "what a block lies in is a region, and no block",
    ),
    Proof(
        "kopt/passes/convert_scan_to_dot.py",
        'return build.compute("add", sums, build.compute("sub", up, down))',
        'return build.compute("add", build.compute("sub", up, down), sums)',
        "the operands of a sum commute",
    ),
    Proof(
        "kopt/dialects/documentation.py",
        "return in_code",
        "return None",
        "an empty line neither begins nor ends code: what is said of it is not kept",
    ),
    Proof(
        "kopt/interpreter/triton.py",
        "return TileValue(np.where((data < 0) | (data >= op.limit.data), 0, data).astype(data.dtype), numbers.valid)",
        "return TileValue(np.where((data <= 0) | (data >= op.limit.data), 0, data).astype(data.dtype), numbers.valid)",
        "0 in place of 0",
    ),
    Proof(
        "kopt/interpreter/shape.py",
        "safe = np.clip(numbers, 0, max(size - 1, 0))",
        "safe = np.clip(0, numbers, max(size - 1, 0))",
        "the larger of a number and 0 is taken first, whichever of them is the bound",
    ),
    Proof(
        "kopt/planning/steps.py",
        "return _dot(self.shares, self.leave if leaves else self.come)",
        "return _dot(self.leave if leaves else self.come, self.shares)",
        "the factors of a product commute",
    ),
    Proof(
        "kopt/planning/summary.py",
        'low, high = error_band(chip, {"tensor cores": "MXU", "vector units": "VPU"}.get(by or "", by))',
        'low, high = error_band(chip, {"tensor cores": "MXU", "vector units": "VPU"}.get(((by)), by))',
        "None is no unit's name, nor is an empty text",
    ),
    Proof(
        "kopt/ir/to_tiles.py",
        "dims = _together(condition, then, otherwise)",
        "dims = _together(then, condition, otherwise)",
        "all dimensions of several parts, whichever comes first",
    ),
    Proof(
        "kopt/interpreter/symm.py",
        "others = [int(m[value]) for value in op.others] or [rank for rank in range(world.count) if rank != m.rank]",
        "others = [int(m[value]) for value in op.others] or [rank for rank in range(world.count) if True]",
        "a rank that signals itself before it waits for one signal more waits for the same signals of others",
    ),
    Proof(
        "kopt/analysis/reduced_dims.py",
        "return sum(-1 if fits else 1 for op, fits in (*made, *used) if isinstance(op, Operation) and in_loop(op))",
        "return sum(-1 if fits else 1 for op, fits in (*made, *used) if ((in_loop(op))))",
        "rows that are arguments of a block are carried by its loop: none of them is given by others",
    ),
    Proof(
        "kopt/frontend/masks.py",
        "for _ in range(_after(items, first, covered)):",
        "for _ in range(_after(items, covered, first)):",
        "only the sum of the two counts",
    ),
    Proof(
        "kopt/frontend/masks.py",
        "position = tensor.rank - 1 - _after(items, first, covered)",
        "position = tensor.rank - 1 - _after(items, covered, first)",
        "only the sum of the two counts",
    ),
    Proof(
        "kopt/analysis/index_slice.py",
        "yielded = [last.operands[number + skipped] for last in lasts if last is not None]",
        "yielded = [last.operands[number + skipped] for last in lasts if True]",
        "a body that passes values on ends with an op that yields them",
    ),
    Proof(
        "kopt/planning/splits.py",
        "own = np.full(shape, np.inf) if seconds is None else np.where(where, seconds, np.inf)",
        "own = np.full(np.inf, shape) if seconds is None else np.where(where, seconds, np.inf)",
        "trips are known with a split where they are without, and there the plan's seconds are known",
    ),
    Proof(
        "kopt/analysis/loop_schedules.py",
        "accesses = walk(loop, LoadOp, StoreOp)",
        "accesses = walk(loop, StoreOp, LoadOp)",
        "the kinds are a set",
    ),
    Proof(
        "kopt/frontend/masks.py",
        "for _ in range(covered - 1 if position >= 0 else 0):",
        "for _ in range(covered - 1 if position >= 1 else 0):",
        "dimensions of one lane in front of all others come by themselves",
    ),
    Proof(
        "kopt/frontend/source.py",
        "indented = block[0][:1].isspace()",
        "indented = block[0][:2].isspace()",
        "a text that one character indents does not parse, and its function is found in the whole file",
    ),
    Proof(
        "kopt/analysis/walks/rescaling.py",
        "if found is None or found.shift is None or not found.rate:",
        "if ((found is None) or (not found.rate)):",
        "what has a rate has a shift",
    ),
    Proof(
        "kopt/analysis/addressed.py",
        "if numbers is not None and trial is not None:",
        "if (numbers is not None or trial is not None):",
        "there is a trial where there are numbers",
    ),
    Proof(
        "kopt/analysis/warps_and_stages.py",
        "return {tile.DotOp, tile.LoadOp} <= kinds",
        "return {tile.DotOp, tile.LoadOp} < kinds",
        "a loop's body has a terminator besides",
    ),
    Proof(
        "kopt/interpreter/aten.py",
        "most = np.where(np.isfinite(most), most, 0)",
        "most = np.where(np.isfinite(most), most, 1)",
        "infinity plus 1 is infinity",
    ),
    Proof(
        "kopt/planning/launch_options.py",
        "others = np.where(lanes < _FILLED, np.clip(power(lanes / _FEW_LANES), 1, _WARPS), alone)",
        "others = np.where(lanes < _FILLED, np.clip(1, power(lanes / _FEW_LANES), _WARPS), alone)",
        "of a number and its lower limit the larger is taken",
    ),
    Proof(
        "kopt/analysis/visits.py",
        "if isinstance(op, Operation) and (compute := _ARITHMETIC.get(type(op))) is not None:",
        "if (((compute := _ARITHMETIC.get(type(op))) is not None)):",
        "a block is no kind of arithmetic",
    ),
    Proof(
        "kopt/interpreter/access.py",
        "low = min(count, max(0, -(start // step)) if start < 0 else 0)",
        "low = min(count, max(0, -(start // step)) if start < 1 else 0)",
        "a quotient of 0 is 0",
    ),
    Proof(
        "kopt/passes/empty_carries.py",
        "full = FullOp(0, tile_type(value))",
        "full = FullOp(1, tile_type(value))",
        "no lane has the number",
    ),
)


def proof(mutant: Mutant, text: str) -> str | None:
    """Why a mutant changes nothing, where that is known."""
    old, new = (each.split("\n")[mutant.line - 1].strip() for each in (text, mutant.applied(text)))
    return next((p.why for p in PROVED if (p.file, p.line, p.changed) == (mutant.file, old, new)), None)
