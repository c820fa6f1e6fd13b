"""Block sizes for the loops whose size a kernel leaves open: as large as pays, and fitting the chip.

Sizes start generous by what the axis is used for (lanes, sublanes, rows, matrix products) and the costliest is halved
until a cell fits: half of the chip's VMEM on a TPU, a register budget on a GPU. The block of a loop that walks another
block is never the larger of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from kopt.analysis.block_roles import Role, block_roles
from kopt.analysis.footprint import footprint
from kopt.analysis.hoisting import NotHoistable, plan_hoist
from kopt.analysis.ranges import binding, walked_range
from kopt.dialects.tile import CarryingLoop, GridOp, PhiloxOp, SortOp, TileType
from kopt.runtime.targets import Target, TpuChip

Sizes = dict[str, int]
Nested = list[tuple[str, str]]

#: Elements of the largest tile that one Triton program may hold: for products of wide operands, which live in
#: registers, and for anything else. Lanes that products start from, and of their summed side where operands are wide.
_GPU_WIDE_TILE = 4096
_GPU_TILE = 8192
_GPU_DOT = 64
_GPU_WIDE_SUM = 32
#: Where blocks of loops with computed bounds start on a TPU: what lies beyond short items is fetched in vain.
_COMPUTED_ROWS = 64
_COMPUTED_LANES = 1024
#: Where blocks of lanes start on a TPU, beside rows of others and alone: a cell of less costs more than its work.
_TPU_LANES = 1024
_TPU_FLAT = 32768
#: Where other blocks start on a TPU.
_TPU_BLOCK = 512
#: Lanes that a TPU kernel draws random numbers for, or sorts, at once: each takes hundreds of ops, all unrolled.
_TPU_UNROLLED = 8192


def choose_sizes(
    module: ModuleOp,
    groups: Sequence[Sequence[str]],
    given: Sequence[int],
    target: Target,
    resident: bool = False,
    sized: Collection[str] = (),
    moved: ModuleOp | None = None,
) -> list[int]:
    """A size for each open block of an imported module: ``groups`` lists the tags that use it.

    ``given`` are the provisional sizes, kept for blocks that no loop uses; ``resident`` whether all that loops walk
    must be in VMEM, not only a block of it where they can be dimensions of their grids. Blocks of one element that
    were imported with more are of one whatever their size, as schedules of the target make them. Those of which
    only the first element or the number is used stand for one element each; but for the tags in ``sized``, whose
    size the kernel may count further elements with. ``moved`` is the module with computed rows as products and DMAs,
    which tells what those take.
    """
    roles = block_roles(module)
    for group, size in zip(groups, given, strict=True):
        for tag in group:
            roles[tag].single = roles[tag].size == 1 < size or roles[tag].begun and tag not in sized
    used = [group for group in groups if group]
    if isinstance(target.chip, TpuChip):
        sizes = _choose_tpu(module, used, roles, target.chip, _cost(moved or module, target.chip, resident))
    else:
        sizes = _choose_gpu(module, used, roles)
    return _in_order(groups, given, sizes)


def load(module: ModuleOp, target: Target, resident: bool = False) -> float:
    """How much a cell of a module takes of what it should: above 1 its blocks are too large."""
    if isinstance(target.chip, TpuChip):
        return _cost(module, target.chip, resident)({}) / _tpu_budget(target.chip)
    return _largest_tile(_tile_types(module), {}) / _gpu_budget(block_roles(module))


def halved(module: ModuleOp, groups: Sequence[Sequence[str]], sizes: Sequence[int], target: Target) -> list[int]:
    """Half of each of a module's block sizes, where the target has so small a block."""
    roles, chip = block_roles(module), target.chip
    least = _spread(groups, lambda tag: _tpu_least(roles[tag], chip) if isinstance(chip, TpuChip) else 1)
    smaller = {tag: max(least[tag], size // 2) for group, size in zip(groups, sizes, strict=True) for tag in group}
    return _in_order(groups, sizes, smaller)


def legal_sizes(module: ModuleOp, groups: Sequence[Sequence[str]], given: Sequence[int], chip: TpuChip) -> list[int]:
    """The sizes that a config names, rounded up to multiples of what the chip's tiles of memory want."""
    roles = block_roles(module)
    sizes: Sizes = {}
    for group, size in zip(groups, given, strict=True):
        unit = max((_tpu_unit(roles[tag], size, chip) for tag in group), default=1)
        sizes.update(dict.fromkeys(group, -(-size // unit) * unit))
    return _in_order(groups, given, sizes)


def _in_order(groups: Sequence[Sequence[str]], given: Sequence[int], sizes: Sizes) -> list[int]:
    return [sizes[group[0]] if group else size for group, size in zip(groups, given, strict=True)]


def _choose_tpu(
    module: ModuleOp,
    groups: Sequence[Sequence[str]],
    roles: Mapping[str, Role],
    chip: TpuChip,
    cost: Callable[[Sizes], int],
) -> Sizes:
    nested = _nested(module, roles)
    least = _spread(groups, lambda tag: _tpu_least(roles[tag], chip))
    start = _fitted(groups, _spread(groups, lambda tag: _tpu_start(roles[tag], chip)), least, nested)
    long = [op.operands[0].type for op in module.walk() if isinstance(op, PhiloxOp | SortOp)]
    start = _shrink(groups, start, least, nested, lambda sizes: _largest_tile(long, sizes), _TPU_UNROLLED)
    return _shrink(groups, start, least, nested, cost, _tpu_budget(chip))


def _cost(module: ModuleOp, chip: TpuChip, resident: bool) -> Callable[[Sizes], int]:
    """What a cell of a module takes of VMEM, by its block sizes."""
    hoisted = () if resident else _hoistable(module)
    return lambda sizes: footprint(module, chip, sizes, hoisted)


def _tpu_budget(chip: TpuChip) -> int:
    """Bytes of VMEM that a cell may take."""
    return min(chip.vmem_bytes // 2, chip.scoped_vmem_bytes * 3 // 4)


def _gpu_budget(roles: Mapping[str, Role]) -> int:
    """Elements that a tile may have."""
    return _GPU_WIDE_TILE if any(role.wide_dot for role in roles.values()) else _GPU_TILE


def _hoistable(module: ModuleOp) -> list[SSAValue]:
    """The ranges of the loops that may be dimensions of their grids."""
    found = []
    for grid in [op for op in module.walk() if isinstance(op, GridOp)]:
        with suppress(NotHoistable):
            found.append(plan_hoist(grid).loop.range)
    return found


def _choose_gpu(module: ModuleOp, groups: Sequence[Sequence[str]], roles: Mapping[str, Role]) -> Sizes:
    nested = _nested(module, roles)
    least = _spread(groups, lambda tag: 16 if roles[tag].dot else 1)
    start = _fitted(groups, _spread(groups, lambda tag: _gpu_start(roles[tag])), least, nested)
    tiles = _tile_types(module)
    return _shrink(groups, start, least, nested, lambda sizes: _largest_tile(tiles, sizes), _gpu_budget(roles))


def _nested(module: ModuleOp, roles: Mapping[str, Role]) -> Nested:
    """The tag of each loop that walks one block of another, with that one's, where the sizes of both are open."""
    pairs = []
    for op in module.walk():
        outer = walked_range(binding(op.range)) if isinstance(op, CarryingLoop) else None
        if outer is not None:
            tags = [range.type.tag for range in (op.range, outer)]  # pyright: ignore
            pairs += [tuple(tags)] if not any(roles[tag].single for tag in tags) else []
    return pairs


def _fitted(groups: Sequence[Sequence[str]], sizes: Sizes, least: Sizes, nested: Nested) -> Sizes:
    """Sizes with the blocks of walking loops no larger than what they walk."""
    fitted = dict(sizes)
    group_of = {tag: group for group in groups for tag in group}
    for inner, outer in nested:
        if inner in fitted and outer in fitted:
            size = max(least[inner], min(fitted[inner], fitted[outer]))
            fitted.update(dict.fromkeys(group_of[inner], size))
            fitted.update(dict.fromkeys(group_of[outer], max(size, fitted[outer])))
    return fitted


def _fits(sizes: Sizes, nested: Nested) -> bool:
    return all(sizes.get(inner, 0) <= sizes.get(outer, sizes.get(inner, 0)) for inner, outer in nested)


def _spread(groups: Sequence[Sequence[str]], size: Callable[[str], int]) -> Sizes:
    """One size a group: the largest that any of its tags asks for."""
    sizes: Sizes = {}
    for group in groups:
        wanted = max(size(tag) for tag in group)
        sizes.update(dict.fromkeys(group, wanted))
    return sizes


def _shrink(
    groups: Sequence[Sequence[str]],
    start: Sizes,
    least: Sizes,
    nested: Nested,
    cost: Callable[[Sizes], int],
    budget: int,
) -> Sizes:
    """Halves the group that saves most, again and again, until the cost is within the budget."""
    sizes, now = start, cost(start)
    while now > budget:
        smaller = [_times(sizes, group, 0.5) for group in groups if sizes[group[0]] // 2 >= least[group[0]]]
        smaller = [candidate for candidate in smaller if _fits(candidate, nested)]
        if not smaller:
            break
        now, sizes = min(((cost(candidate), candidate) for candidate in smaller), key=lambda pair: pair[0])
    return _regrown(groups, start, sizes, nested, lambda sizes: cost(sizes) <= now)


def _regrown(
    groups: Sequence[Sequence[str]], start: Sizes, sizes: Sizes, nested: Nested, good: Callable[[Sizes], bool]
) -> Sizes:
    """Takes back each halving that turned out to save nothing."""
    for group in groups:
        while sizes[group[0]] < start[group[0]]:
            larger = _times(sizes, group, 2)
            if not _fits(larger, nested) or not good(larger):
                break
            sizes = larger
    return sizes


def _times(sizes: Sizes, group: Sequence[str], factor: float) -> Sizes:
    return {**sizes, **{tag: int(sizes[tag] * factor) for tag in group}}


def _power_of_two(number: int) -> int:
    """The least power of two that is not smaller."""
    return 1 << max(0, number - 1).bit_length()


def _sublanes(role: Role, chip: TpuChip) -> int:
    """Rows of one hardware tile, for the narrowest elements that the axis indexes: 8 for 32 bits, 16, 32."""
    return chip.sublanes * max(1, 32 // min(role.bits, default=32))


def _tpu_start(role: Role, chip: TpuChip) -> int:
    if role.single:
        return 1
    extent = role.extent
    if extent is None:
        generous = _COMPUTED_LANES if role.places == {0} else _COMPUTED_ROWS
        extent = min(generous, role.within or generous)
    most = 1
    if 0 in role.places or role.dot & {"n", "k"}:
        most = _TPU_FLAT if role.flat else _TPU_LANES if role.places == {0} and not role.dot else _TPU_BLOCK
    elif 1 in role.places or role.dot or not role.places or role.extent is None:
        most = _TPU_BLOCK
    return max(_tpu_least(role, chip), min(_power_of_two(extent), most))


def _tpu_unit(role: Role, size: int, chip: TpuChip) -> int:
    """What a size must be a multiple of: a tile of memory, unless one block holds the whole extent."""
    if role.extent is not None and size >= role.extent:
        return 1
    return _tpu_least(role, chip)


def _tpu_least(role: Role, chip: TpuChip) -> int:
    """A tile of memory, or all where that is less; vectors that go with rows of other arrays are cut like those.

    What is lanes alone takes whole tiles, which memory has anyway, and DMAs move nothing less; but not where each lane
    stands for a row of others (``steps``).
    """
    if role.single:
        return 1
    cut = role.vector and role.places > {0} and role.extent is not None
    rows = bool(role.places & {0, 1} or role.dot)
    lanes = (0 in role.places and not cut) or role.dot & {"n", "k"}
    least = chip.lanes if lanes else _sublanes(role, chip) if rows else 1
    if role.extent is None or role.places == {0} and not role.steps:
        return least
    return min(least, _power_of_two(role.extent))


def _gpu_start(role: Role) -> int:
    if role.single:
        return 1
    extent = role.extent if role.extent is not None else 128
    dot = _GPU_WIDE_SUM if role.wide_dot and role.dot == {"k"} else _GPU_DOT
    most = dot if role.dot else 1024 if 0 in role.places else 32
    return max(16 if role.dot else 1, min(_power_of_two(extent), most))


def _tile_types(module: ModuleOp) -> list[TileType]:
    types = {value.type for op in module.walk() for value in op.results}
    return [type for type in types if isinstance(type, TileType)]


def _largest_tile(types: Sequence[Attribute], sizes: Sizes) -> int:
    """Lanes of the largest tile under other sizes, plain dimensions rounded up to powers of two."""
    largest = 1
    for type in types:
        assert isinstance(type, TileType)
        lanes = 1
        for dim in type.dims.data:
            lanes *= _power_of_two(sizes.get(dim.tag.data, dim.size.data))
        largest = max(largest, lanes)
    return largest
