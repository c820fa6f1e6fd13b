"""Rows of published device times as launches of kopt's: models, plans, sizes, and what arguments held.

The plan is that of the kernel that was measured, in kopt's words: which axes its grid has, in which order. Grouped
products write a tile's rows where they are; kopt's source gives each step rows of its own, so that is put right here.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kopt.analysis.launch_models import launch_models
from kopt.ir.launch_model import LaunchModel
from kopt.planning.cost import cost
from kopt.planning.items import Cost
from kopt.plans.plan import Buffer, LoopSchedule, Plan
from kopt.targets.chips import CHIPS, Chip, TpuChip
from kopt.targets.costs import gpu_costs
from support import truth_kernels

#: Chips by the device's name.
_CHIPS = {
    "tpu7x": "tpu7x",
    "tpu_v6_lite": "v6e",
    "tpu_v5": "v5p",
    "tpu_v5_lite": "v5e",
    "nvidia_h100_80gb_hbm3": "sm90",
}
Numbers = Mapping[str, Any]
#: Rows with more groups have their rows counted in the place of their groups.
_MOST_GROUPS = 4096


@dataclass(frozen=True)
class Problem:
    """One operator at one shape on one chip: what is asked, whatever the tiles are."""

    chip: str
    operator: str
    arguments: tuple[Any, ...]
    lengths: tuple[int, ...] = ()
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Launch:
    """A problem with tiles: what `cost` is given."""

    model: LaunchModel
    plan: Plan
    sizes: Numbers
    lengths: Numbers = field(default_factory=dict)
    contents: Numbers = field(default_factory=dict)
    #: Programs of a GPU that find nothing to do.
    idle: int = 0

    def cost(self, chip: Chip) -> Cost:
        """What it takes."""
        found = cost(self.model, self.sizes, self.plan, chip, self.lengths, self.contents)
        if not self.idle or isinstance(chip, TpuChip):
            return found
        costs = gpu_costs(chip)
        return replace(found, seconds=found.seconds + self.idle * costs.dispatch_seconds / costs.multiprocessors)


@dataclass(frozen=True)
class Row:
    """A measurement."""

    problem: Problem
    tiles: tuple[tuple[str, Any], ...]
    seconds: float

    @property
    def shape(self) -> tuple[Any, ...]:
        """What rows that are fitted and judged apart do not share."""
        return (self.problem.operator, *map(str, self.problem.arguments))

    def launch(self, **other: Any) -> Launch:
        """Its launch, with ``other`` tiles in the place of those recorded."""
        return launch(self.problem, {**dict(self.tiles), **other})


def rows(path: Path) -> Iterator[Row]:
    """The rows of a file whose device and operator are known here."""
    with path.open() as lines:
        for line in csv.DictReader(lines):
            device = re.sub(r"\W+", "_", line["device"].lower())
            if device in _CHIPS:
                problem = _problem(_CHIPS[device], line["op"], json.loads(line["args_json"]))
                if len(problem.lengths) > _MOST_GROUPS:
                    continue
                tiles = json.loads(line["config_json"])
                yield Row(problem, tuple((name, tile) for name, tile in tiles.items()), float(line["median_ms"]) * 1e-3)


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(extent) for extent in text[text.index("[") + 1 : -1].split(","))


def _problem(chip: str, name: str, given: Mapping[str, Any]) -> Problem:
    operator = next(known for known in _PARSED if known in name)
    return _PARSED[operator](chip, given)


def _grouped(chip: str, given: Mapping[str, Any]) -> Problem:
    sizes = given["group_sizes"]
    if isinstance(sizes, Mapping):
        drawn = np.random.default_rng(0).choice(sizes["num_groups"], sizes["total_size"])
        sizes = np.bincount(drawn, minlength=sizes["num_groups"]).tolist()
    contracted = json.loads(given["dims"])[0]
    kind = {"[[1], [1]]": "grouped", "[[1], [2]]": "grouped_transposed", "[[0], [0]]": "grouped_gradient"}[
        str(contracted)
    ]
    flags = frozenset(name for name in ("zero_initialize", "return_residuals") if given.get(name))
    return Problem(chip, kind, (_shape(given["lhs"]), _shape(given["rhs"])), tuple(sizes), flags)


def _attention(chip: str, given: Mapping[str, Any]) -> Problem:
    (*batch, m, heads, d), (*_, n, key_heads, _), (*_, depth) = (_shape(given[name]) for name in "qkv")
    mask = given.get("mask") or {}
    masked = given.get("bias") is not None
    flags = [("causal", mask.get("is_causal")), ("masked", masked), ("residuals", given.get("return_residuals"))]
    arguments = (prod(batch), heads, key_heads, m, n, d, depth)
    return Problem(chip, "attention", arguments, (), frozenset(name for name, there in flags if there))


def _gated(chip: str, given: Mapping[str, Any]) -> Problem:
    *rows, inner = _shape(given["x"])
    dtype = given["x"].partition("[")[0]
    return Problem(chip, "gated", (prod(rows), inner, _shape(given["weights"])[-1], dtype))


_PARSED: Mapping[str, Callable[[str, Mapping[str, Any]], Problem]] = {
    "ragged_dot": _grouped,
    "flash_attention": _attention,
    "gated_linear_unit": _gated,
}


# Launches.


def launch(problem: Problem, tiles: Mapping[str, Any]) -> Launch:
    """A problem with some tiles."""
    return _LAUNCHES[problem.operator](problem, tiles)


@cache
def _model(operator: str, arguments: tuple[Any, ...], chip: str) -> LaunchModel:
    """A kernel's model, its block sizes open; imported with blocks that no dimension is one of."""
    kernel = getattr(truth_kernels, operator)
    family = "pallas" if isinstance(CHIPS[chip], TpuChip) else "triton"
    loops = {"grouped": 2, "grouped_transposed": 2}.get(operator, 3)
    block = 128 if family == "pallas" else 64 if operator == "grouped_gradient" else 16
    low = kernel.lower(*arguments, target=f"{family}:{chip}", config={"block_sizes": [block] * loops})
    (model,) = launch_models(low.module, ("b0", "b1", "b2", "b3"))
    return model


def _plan(
    model: LaunchModel, order: Sequence[str], chip: str, parallel: Sequence[str] = (), unroll: int = 1, **options: Any
) -> Plan:
    """A plan with a grid over ``order``: blocks move with it, numbers that tell where blocks are come first."""
    if not isinstance(CHIPS[chip], TpuChip):
        buffers = [Buffer(one.name, one.name, "pointer") for one in model.operands]
        via = {access.id: access.operand for access in model.accesses}
        return Plan(tuple(order), frozenset(order), tuple(buffers), via, options=tuple(options.items()))
    numbers = {model.access(id).operand for access in model.accesses for id in access.address}
    buffers = []
    for one in model.operands:
        accesses = model.of(one.name)
        if one.name in numbers:
            buffers.append(Buffer(one.name, one.name, "smem", options=(("whole", ()),)))
        elif accesses:
            moves = frozenset[str]().union(*(access.moves for access in accesses))
            axes = tuple(tag for tag in order if tag in moves)
            address = next((id for access in accesses for id in access.address), None)
            over = tuple(tag for tag in order if tag not in axes) if one.written else ()
            more = (("accumulate", over),) if over else ()
            buffers.append(Buffer(one.name, one.name, "window", axes, 2, address=address, options=more))
    via = {access.id: access.operand for access in model.accesses}
    loops = {
        axis.tag: LoopSchedule("grid" if axis.tag in order else "resident", unroll=unroll)
        for axis in model.axes
        if axis.form == "loop"
    }
    return Plan(tuple(order), frozenset(parallel), tuple(buffers), via, loops)


def _tile_list(lengths: Sequence[int], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The tiles of rows and the groups of all steps: a tile is there once for each group that has rows of it."""
    ends = np.cumsum(lengths)
    starts = ends - lengths
    first, last = starts // rows, -(-ends // rows)
    count = np.where(np.asarray(lengths) > 0, last - first, 0)
    groups = np.repeat(np.arange(len(lengths)), count)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return first[groups] + within, groups


def _grouped_launch(problem: Problem, tiles: Mapping[str, Any]) -> Launch:
    (m, k), weights = problem.arguments
    rows = tiles.get("tile_m") or tiles["block_m"]
    numbers = dict(zip(("tiles", "groups"), _tile_list(problem.lengths, rows), strict=True))
    steps = len(numbers["tiles"])
    dims = ",".join(map(str, weights))
    specs = (f"bf16[{-(-m // rows)},{rows},{k}]", f"bf16[{dims}]", f"i32[{steps}]", f"i32[{steps}]")
    model = _model(problem.operator, specs, problem.chip)
    at = model.access("x").relation.indices[0]
    store = next(access for access in model.accesses if access.mode == "store")
    moved = replace(store.relation, indices=(at, *store.relation.indices[1:]))
    accesses = tuple(
        replace(one, relation=moved, address=("tiles",)) if one is store else one for one in model.accesses
    )
    model = replace(model, accesses=accesses)
    if problem.chip == "sm90":
        # By hand there is a program for each group and each tile of rows; most find that the tile is another group's.
        plan = _plan(model, ("b1", "b0"), problem.chip, warps=tiles["num_warps"], stages=tiles["num_stages"])
        columns = -(-(weights[1] if problem.operator == "grouped_transposed" else weights[2]) // tiles["block_n"])
        idle = (len(problem.lengths) * -(-m // rows) - steps) * columns
        sizes = {"b0": tiles["block_n"], "b1": 1, "b2": tiles["block_k"]}
        return Launch(model, plan, sizes, {}, numbers, idle)
    plan = _plan(model, ("b0", "b1", "b2"), problem.chip)
    return Launch(model, plan, {"b0": tiles["tile_n"], "b1": 1, "b2": tiles["tile_k"]}, {}, numbers)


def _gradient_launch(problem: Problem, tiles: Mapping[str, Any]) -> Launch:
    (m, k), (_, n) = problem.arguments
    specs = (f"bf16[{m},{k}]", f"bf16[{m},{n}]", f"i32[{len(problem.lengths) + 1}]")
    model = _model(problem.operator, specs, problem.chip)
    sizes = {"b0": 1, "b1": tiles["block_m"], "b2": tiles["block_n"], "b3": tiles["block_k"]}
    plan = _plan(model, ("b0", "b1", "b2"), problem.chip, warps=tiles["num_warps"], stages=tiles["num_stages"])
    return Launch(model, plan, sizes, {"b3": problem.lengths})


def _attention_launch(problem: Problem, tiles: Mapping[str, Any]) -> Launch:
    batch, heads, key_heads, m, n, d, depth = problem.arguments
    causal, residuals, masked = (name in problem.flags for name in ("causal", "residuals", "masked"))
    shapes = [(batch * heads, m, d), (batch * heads, n, d), (batch * heads, n, depth)]
    specs = [f"bf16[{','.join(map(str, shape))}]" for shape in shapes]
    extra = (f"bf16[{heads},{m},{n}]", f"bool[{batch},{n}]") if masked else (None, None)
    model = _model("attention", (*specs, causal, residuals, masked, *extra), problem.chip)
    # A block of keys is worked on as a whole by hand, whatever of it is masked.
    whole = model.axis("b2").size
    parts = (replace(one, upper=one.lower + whole) if one.tag == "b3" else one for one in model.axes)
    model = replace(model, axes=tuple(parts))
    if problem.chip == "sm90":
        plan = _plan(model, ("b0", "b1"), problem.chip, warps=tiles["num_warps"], stages=tiles["num_stages"])
        block = tiles["block_k"]
        return Launch(model, plan, {"b0": 1, "b1": tiles["block_q"], "b2": block, "b3": block})
    sizes = {"b0": 1, "b1": tiles["block_q"], "b2": tiles["block_kv"], "b3": tiles["block_kv_compute"]}
    together = tiles["block_kv"] // tiles["block_kv_compute"]
    plan = _plan(model, ("b0", "b1", "b2"), problem.chip, ("b0", "b1"), together)
    views = {**dict.fromkeys(("q", "k", "v", "out"), ("permute",))}
    if residuals:  # of each row of lanes one is kept
        views.update(dict.fromkeys(("sums", "tops"), ("slice",)))
    return Launch(model, replace(plan, views=views), sizes)


def scratch_bytes(problem: Problem, sizes: Numbers) -> Any:
    """What kernels by hand hold in VMEM beside blocks and sums, at the sizes of a launch.

    Of attention these are two numbers of each row, as wide as a register has lanes, and the scores of a part of keys.
    """
    return 4 * sizes["b1"] * (2 * 128 + sizes["b3"]) if problem.operator == "attention" else 0


def _gated_launch(problem: Problem, tiles: Mapping[str, Any]) -> Launch:
    m, inner, columns, dtype = problem.arguments
    model = _model("gated", (f"{dtype}[{m},{inner}]", f"{dtype}[{inner},2,{columns}]"), problem.chip)
    if dtype == "f32":  # as Triton multiplies unless it is told otherwise
        products = (replace(one, dtype="tf32") if one.unit == "product" else one for one in model.work)
        model = replace(model, work=tuple(products))
    plan = _plan(model, ("b0", "b1"), problem.chip, warps=tiles["num_warps"], stages=tiles["num_stages"])
    return Launch(model, plan, {"b0": tiles["block_m"], "b1": tiles["block_n"], "b2": tiles["block_k"]})


_LAUNCHES: Mapping[str, Callable[[Problem, Mapping[str, Any]], Launch]] = {
    "grouped": _grouped_launch,
    "grouped_transposed": _grouped_launch,
    "grouped_gradient": _gradient_launch,
    "attention": _attention_launch,
    "gated": _gated_launch,
}
