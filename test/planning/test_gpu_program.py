"""What programs of GPUs have: warps, stages, registers, shared memory, against sums done by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt.ir.atoms import Symbol
from kopt.ir.index_expr import IndexExpr
from kopt.ir.launch_model import Factor, LaunchModel, Live, Name, Source, Work
from kopt.ir.launch_sizes import with_sizes
from kopt.ir.polynomial import parameter
from kopt.planning.gpu_program import GpuProgram
from kopt.planning.launch_options import copies, stages, warps
from kopt.planning.trips import max_of
from kopt.targets.budget import Budget
from kopt.targets.chips import GPU_CHIPS

from .launches import attention, elementwise, grouped, matmul, operands

SM90, GFX = GPU_CHIPS["sm90"], GPU_CHIPS["gfx942"]
PRODUCT = matmul(4096, 1024, 8192)
SIZES = {"b0": 128, "b1": 256, "b2": 64}


def program(model: LaunchModel, chip=SM90, options=None, **sizes) -> GpuProgram:
    return GpuProgram(model, sizes, options or {}, chip)


def alive(model: LaunchModel, *values: tuple[tuple[int, ...], int]) -> LaunchModel:
    return replace(model, live=(Live(("i",), values),))


@pytest.mark.parametrize(
    ("lanes", "wanted"),
    [(1, 1), (128, 1), (256, 2), (512, 4), (2048, 4), (4096, 4), (8192, 8), (1 << 14, 16), (1 << 16, 16)],
)
def test_warps_by_the_largest_tile(lanes: int, wanted: int) -> None:
    assert warps(lanes) == wanted


@pytest.mark.parametrize(
    ("rows", "columns", "wanted"),
    [(64, 64, 4), (64, 256, 4), (128, 64, 4), (128, 128, 8), (256, 256, 8), (16, 4096, 4)],
)
def test_warps_by_the_sums_of_products(rows: int, columns: int, wanted: int) -> None:
    """One for 16 rows at most, or what they share is multiplied twice."""
    assert warps(1 << 20, rows * columns, rows) == wanted


def test_a_program_alone_has_twice_as_many_warps() -> None:
    assert warps(8192, each=np.array([1, 2])).tolist() == [16, 8]
    assert warps(8192, 64 * 64, 64, each=1) == 4


@given(st.sampled_from([SM90, GPU_CHIPS["sm75"], GPU_CHIPS["sm120"]]), st.integers(1, 1 << 20))
def test_stages_fit_shared_memory(chip, size: int) -> None:
    budget = Budget(chip)
    found = int(stages(0, size, budget))
    assert 1 <= found <= budget.STAGES and (found == 1 or budget.shares(copies(found, True) * size))


@pytest.mark.parametrize(
    ("size", "programs", "wanted"),
    [
        # 32 KiB a visit: two programs with two visits each in flight, not one with three.
        (32 << 10, 2, 3),
        (32 << 10, 1, 4),
        # 16 KiB: three programs with three visits each.
        (16 << 10, 7, 4),
        # 48 KiB: two visits are four times what hides the latency of memory.
        (48 << 10, 1, 3),
    ],
)
def test_stages_have_the_most_loads_in_flight_on_a_multiprocessor(size: int, programs: int, wanted: int) -> None:
    assert stages(size, 0, Budget(SM90), 0, programs) == wanted


def test_products_that_wait_for_one_another_have_programs_side_by_side() -> None:
    """68 KiB a visit that threads read: two programs with one visit each in flight, not one with three."""
    assert [int(stages(0, 68 << 10, Budget(SM90), 8 << 10, 2, chained)) for chained in (False, True)] == [4, 2]


def test_what_has_no_loop_has_one_stage_whatever_is_asked_for() -> None:
    """A product of whole dimensions: all of it is loaded at once, and nothing is ahead."""
    whole = replace(
        PRODUCT, axes=tuple(replace(axis, form="unrolled") if axis.form == "loop" else axis for axis in PRODUCT.axes)
    )
    assert [program(whole, options={"stages": n}, **SIZES).stages for n in (1, 3)] == [1, 1]
    assert [program(PRODUCT, options={"stages": n}, **SIZES).stages for n in (1, 3)] == [1, 3]


def test_left_operands_that_fill_registers_have_two_stages() -> None:
    """256 rows of 128 numbers take 128 registers of a thread, beside sums of 32 or of 128."""
    chained = replace(PRODUCT, chained=frozenset(work.path for work in PRODUCT.work))
    found = [
        GpuProgram(chained, {"b0": 256, "b1": columns, "b2": 128}, {"warps": 4}, GPU_CHIPS["sm80"], 1).stages
        for columns in (16, 64)
    ]
    assert [int(count) for count in found] == [3, 2]
    sizes = {"b0": 256, "b1": 64, "b2": 128}
    asked = [program(chained, GPU_CHIPS["sm80"], {"warps": 4, "stages": n}, **sizes) for n in (2, 3)]
    assert [bool(one.fits()) for one in asked] == [True, False]


def test_products_that_read_registers_share_one_visit_less() -> None:
    """mma.sync: of sm80, and of fewer than 64 rows on sm90. Rows are of 128 bytes at most where no other unit is."""
    sm80 = GPU_CHIPS["sm80"]
    held = {"stages": 4, "warps": 8}
    found = [
        program(PRODUCT, chip, held, b0=rows, b1=128, b2=64).shared_bytes // ((rows + 128) * 64 * 2)
        for chip, rows in ((SM90, 64), (SM90, 32), (sm80, 64), (GFX, 64))
    ]
    assert found == [4, 3, 3, 3]
    sizes = {"b0": 64, "b1": 64, "b2": np.array([64, 128])}
    assert [program(PRODUCT, chip, **sizes).fits().tolist() for chip in (SM90, sm80)] == [[True, True], [True, False]]


def test_registers_of_operands_of_mma_sync() -> None:
    """A warp's square of 64 by 64 sums takes 16 registers of each operand's 32 bytes a row, twice."""
    sm80 = GPU_CHIPS["sm80"]
    assert program(PRODUCT, sm80, {"warps": 8}, **SIZES).registers == 40 + 128 * 256 / 256 + 64
    assert program(PRODUCT, sm80, {"warps": 8}, **SIZES).fits()
    two = replace(PRODUCT, work=tuple(replace(work, count=2) for work in PRODUCT.work))
    assert not program(two, sm80, {"warps": 8}, b0=128, b1=128, b2=64).fits()


def test_bytes_that_are_packed_row_by_row_have_a_register_each() -> None:
    """Right operands whose columns are neighbours: 64 by 128 of them."""
    narrow = replace(
        PRODUCT,
        work=tuple(replace(work, dtype="i8") for work in PRODUCT.work),
        operands=tuple(replace(one, dtype="i8", bits=8) for one in PRODUCT.operands),
    )
    sizes = {"b0": 128, "b1": 128, "b2": 64}
    wide, packed = (program(one, GPU_CHIPS["sm80"], {"warps": 8}, **sizes).registers for one in (PRODUCT, narrow))
    assert packed - wide == 64 * 128 / 256
    square = {"b0": 64, "b1": 64, "b2": 64}
    fixed = with_sizes(narrow, square)  # rows of left operands are as many as columns of right ones
    of_open, of_fixed = (program(one, GPU_CHIPS["sm80"], {"warps": 4}, **square).registers for one in (narrow, fixed))
    assert of_open == of_fixed == program(PRODUCT, GPU_CHIPS["sm80"], {"warps": 4}, **square).registers + 64 * 64 / 128


def test_amd_has_the_next_visits_operands_in_registers() -> None:
    """64 KiB: one stage of them is shared, whatever two take."""
    assert [int(stages(0, size, Budget(GFX))) for size in (1, 48 << 10, 65 << 10)] == [2, 2, 1]
    found = program(PRODUCT, GFX, b0=128, b1=128, b2=128)
    assert found.stages == 2 and found.shared_bytes == (128 * 128 + 128 * 128) * 2
    assert [program(PRODUCT, GFX, {"stages": n}, b0=128, b1=128, b2=128).ahead for n in (1, 2, 3, 5)] == [0, 1, 1, 1]
    assert [program(PRODUCT, SM90, {"stages": n}, b0=128, b1=128, b2=128).ahead for n in (1, 2, 3, 5)] == [0, 1, 2, 4]
    x, y = PRODUCT.factors
    staying = replace(PRODUCT, factors=(replace(x, load="", stays=True), y))
    assert program(staying, GFX, b0=128, b1=128, b2=128).shared_bytes == 128 * 128 * 2


@pytest.mark.parametrize("count", [1, 2, 4])
def test_every_stage_shares_what_a_visit_loads(count: int) -> None:
    found = program(PRODUCT, options={"stages": count}, **SIZES)
    assert found.shared_bytes == count * (128 * 64 + 64 * 256) * 2


def test_what_no_visit_loads_is_shared_once() -> None:
    """Queries of 128 by 64 stay; keys and values of 32 by 64 each come with every visit; scores are another's sums."""
    model, inner = attention(8, 1024, 1024, 64, False), ("h", "i", "j")
    b0, b1 = ((tag, parameter(tag)) for tag in ("b0", "b1"))
    work = [Work("product", dims, "bf16", inner) for dims in ((b0, ("", 64), b1), (b0, b1, ("", 64)))]
    left, right = (b0[1], 64), (b1[1], 64)
    scores = replace(operands(inner, "", "v", b0[1], b1[1], 64)[0], load="")
    factors = (
        Factor(inner, "lhs", left, 16, stays=True),
        Factor(inner, "rhs", right[::-1], 16, "k"),
        scores,
        Factor(inner, "rhs", right, 16, "v"),
    )
    model = replace(model, work=tuple(work), factors=factors)
    found = program(model, options={"stages": 2}, b0=128, b1=32, b2=32)
    assert found.shared_bytes == 128 * 64 * 2 + 2 * (2 * 32 * 64 * 2)
    assert found.registers == 40 + (128 * 32 + 128 * 64 + 128 * 32 / 2) / found.threads


def test_how_often_a_visits_operands_are_shared() -> None:
    """Left ones of 128 by 64, right ones of 64 by 256: as they are, made of others, at places that a visit loads."""
    left, right = 128 * 64 * 2, 64 * 256 * 2
    x, y = PRODUCT.factors

    def shared(*factors: Factor, model: LaunchModel = PRODUCT) -> int:
        return int(program(replace(model, factors=factors), options={"stages": 4}, **SIZES).shared_bytes)

    assert shared(x, y) == 4 * left + 4 * right
    assert shared(replace(x, waits=True), y) == 3 * left + 4 * right
    assert shared(x, replace(y, load="", of=("y",))) == 4 * left + 3 * right + right
    assert shared(replace(x, load="", of=("x",)), y) == 3 * left + left + 4 * right
    told = replace(PRODUCT, accesses=tuple(replace(one, address=("x",)) for one in PRODUCT.accesses))
    assert shared(x, y, model=told) == 2 * left + 2 * right


def test_bytes_are_shared_when_they_are_packed() -> None:
    """Right operands whose columns follow one another: 128 by 64 of the left ones in each stage, and 64 by 256 once."""
    narrow = replace(
        PRODUCT,
        work=tuple(replace(work, dtype="i8") for work in PRODUCT.work),
        operands=tuple(replace(one, dtype="i8", bits=8) for one in PRODUCT.operands),
        factors=tuple(replace(one, bits=8) for one in PRODUCT.factors),
    )
    assert program(narrow, options={"stages": 4}, **SIZES).shared_bytes == 4 * 128 * 64 + 64 * 256


def test_what_is_multiplied_around_a_loop_is_shared_beside_it() -> None:
    """128 by 64 and 64 by 256 once, and two stages of the same."""
    outer = tuple(replace(one, path=("i", "j"), load="", stays=True) for one in PRODUCT.factors)
    around = replace(
        PRODUCT,
        work=(*PRODUCT.work, replace(PRODUCT.work[0], path=("i", "j"))),
        factors=(*outer, *PRODUCT.factors),
    )
    found = program(around, options={"stages": 2}, **SIZES)
    assert found.shared_bytes == 3 * (128 * 64 + 64 * 256) * 2


@pytest.mark.parametrize("count", [1, 4, 8])
def test_sums_stand_in_registers(count: int) -> None:
    """128 by 256 words among the threads, and 40 for the rest."""
    assert program(PRODUCT, options={"warps": count}, **SIZES).registers == 40 + 128 * 256 / (count * 32)


def test_warps_of_another_size() -> None:
    assert program(PRODUCT, GFX, {"warps": 4}, **SIZES).registers == 40 + 128 * 256 / (4 * 64)


def test_computed_operands_stand_in_registers_too() -> None:
    """A cast of the left operand: halves of words."""
    x, y = PRODUCT.factors
    cast = replace(PRODUCT, factors=(replace(x, load="", of=("x",)), y))
    plain, computed = (program(model, options={"warps": 8}, **SIZES).registers for model in (PRODUCT, cast))
    assert computed - plain == 128 * 64 / 2 / 256


def test_operands_that_are_converted_stand_in_each_warp_that_reads_them() -> None:
    """Bytes of ``y``, 64 by 128: a register each in every row of warps, and half of a step's square beside them."""
    x, y = PRODUCT.factors
    model = replace(
        PRODUCT,
        operands=tuple(replace(one, bits=8, dtype="i8") if one.name == "y" else one for one in PRODUCT.operands),
        factors=(x, replace(y, load="", of=("y",))),
    )
    sizes, sm80 = {"b0": 128, "b1": 128, "b2": 64}, GPU_CHIPS["sm80"]
    found = program(model, sm80, {"warps": 8, "stages": 3}, **sizes)
    square = (128 * 128 / 8) ** 0.5
    assert found.registers == pytest.approx(40 + 128 * 128 / 256 + square / 2 + 2 * 64 * 128 / 256)  # two rows of warps
    assert found.shared_bytes == 2 * (128 * 64 * 2 + 64 * 128)  # nothing is shared once more
    chained = replace(model, chained=frozenset([model.work[0].path]))
    found = program(chained, sm80, {"warps": 8, "stages": 2}, **sizes)
    assert found.registers == pytest.approx(40 + 64 + square / 2 + 8 * 64 * 128 / 256)  # eight rows of warps
    assert program(model, GFX, {"warps": 8}, **sizes).copies(model.factors[1]) == 1


def test_left_operands_whose_rows_are_columns_come_by_registers() -> None:
    """128 by 64 halves a visit: 16 registers of 256 threads for each stage but one, and shared once."""
    x, y = PRODUCT.factors
    model = replace(PRODUCT, factors=(replace(x, turned=True), y))
    sizes, sm80 = {"b0": 128, "b1": 128, "b2": 64}, GPU_CHIPS["sm80"]
    plain, turned = (
        [program(one, sm80, {"warps": 8, "stages": n}, **sizes) for n in (1, 2, 4)] for one in (PRODUCT, model)
    )
    pairs = list(zip(plain, turned, strict=True))
    assert [float(b.registers - a.registers) for a, b in pairs] == [0, 16, 48]
    assert [int(b.shared_bytes) for b in turned] == [128 * 64 * 2 + max(1, n - 1) * 64 * 128 * 2 for n in (1, 2, 4)]
    wide = program(model, SM90, {"warps": 8, "stages": 4}, **sizes)  # whose matrix unit reads them either way
    assert wide.registers == program(PRODUCT, SM90, {"warps": 8, "stages": 4}, **sizes).registers


@pytest.mark.parametrize(("stages", "ahead"), [(1, 0), (2, 1), (3, 1), (4, 1), (5, 2), (7, 3)])
def test_places_that_a_visit_loads_are_ahead_of_blocks(stages: int, ahead: int) -> None:
    """Every second stage brings a place; of two one, which threads wait for."""
    told = replace(PRODUCT, accesses=tuple(replace(one, address=("x",)) for one in PRODUCT.accesses))
    assert program(told, options={"stages": stages}, **SIZES).ahead == ahead
    assert program(PRODUCT, options={"stages": stages}, **SIZES).ahead == stages - 1
    assert int(program(told, b0=64, b1=64, b2=32).stages) % 2 == 1 or program(told, b0=64, b1=64, b2=32).stages == 2


def narrowed(dtype: str = "bf16", bits: int = 16, mask: bool = False, chained: bool = True) -> LaunchModel:
    """A product whose left operand another product's sums become."""
    x, y = PRODUCT.factors
    (work,) = PRODUCT.work
    return replace(
        PRODUCT,
        work=(replace(work, dtype=dtype),),
        factors=(replace(x, load=""), y),
        operands=tuple(replace(one, dtype=dtype, bits=bits) for one in PRODUCT.operands),
        chained=frozenset([work.path] if chained else []),
        live=(Live(work.path, (((128, 64), 1 if mask else 32),)),),
    )


@pytest.mark.parametrize(
    ("model", "chip", "in_place"),
    [
        (narrowed(), "sm90", True),
        (narrowed(chained=False), "sm90", False),
        (narrowed(mask=True), "sm90", False),
        (narrowed("i8", 8), "sm90", False),
        (narrowed(), "sm100", False),
        (narrowed(), "sm80", False),
    ],
)
def test_sums_are_narrowed_in_place(model: LaunchModel, chip: str, in_place: bool) -> None:
    """On sm90, of 16 bits, where nothing masks them: then more registers may be counted on."""

    def registers(one: LaunchModel) -> float:
        return program(one, GPU_CHIPS[chip], {"warps": 8}, **SIZES).registers

    loaded = replace(model, factors=(replace(model.factors[0], load=PRODUCT.factors[0].load), model.factors[1]))
    assert (registers(model) == registers(loaded)) == in_place
    if chip == "sm90":  # 40 registers, sums of 128 by 128 words among 128 threads, and 128 by 256 halves
        assert program(model, SM90, {"warps": 4, "stages": 1}, b0=128, b1=128, b2=256).fits() == in_place


def test_sums_that_add_to_others_are_these() -> None:
    two = replace(PRODUCT, work=tuple(replace(work, count=2) for work in PRODUCT.work))
    more = replace(two, factors=(*PRODUCT.factors, *(replace(one, adds=True) for one in PRODUCT.factors)))
    apart, chained = (program(model, options={"warps": 8}, **SIZES).registers for model in (two, more))
    assert (apart, chained) == (40 + 2 * 128, 40 + 128)


def test_conditions_that_are_combined_have_registers() -> None:
    """Two and what they make, of 64 by 64 lanes; a single one, and its lanes elsewhere, have none."""
    condition = ((64, 64), 1)
    found = []
    for count in (2, 3):
        live = (Live(PRODUCT.work[0].path, (condition,) * count),)
        found.append(program(replace(PRODUCT, live=live), options={"warps": 8}, **SIZES).registers)
    assert found == [40 + 128, 40 + 128 + 64 * 64 / 256]


def test_values_that_are_alive_at_once() -> None:
    """A result takes the registers of the operand that it was computed from, lane by lane."""
    model, _ = elementwise(1 << 20, False)
    assert program(alive(model, ((1024,), 32), ((1024,), 32)), b0=1024).registers == 40 + 1024 / 128
    assert program(alive(model, ((1000,), 16)), b0=1024).registers == 40 + 1024 / 2 / 128
    assert program(model, b0=1024).registers == 40


@pytest.mark.parametrize("count", [1, 2])
def test_sums_of_all_products_of_a_body(count: int) -> None:
    several = replace(PRODUCT, work=tuple(replace(work, count=count) for work in PRODUCT.work))
    found = program(several, options={"warps": 8}, b0=128, b1=128, b2=64)
    assert found.registers == 40 + count * 128 * 128 / 256


def test_what_passes_by_takes_no_registers_beside_sums() -> None:
    """Without products it does: nothing else says how many warps there are."""
    stored, sums = ((128, 128), 16), ((128, 128), 32)
    place = Live(("i",), (sums, sums, sums, stored), (sums, sums))
    held = {"warps": 8}
    with_products = replace(PRODUCT, live=(place,))
    assert program(with_products, options=held, b0=8, b1=8, b2=64).registers == 40 + 1.5 * 128 * 128 / 256
    plain, _ = elementwise(1 << 20, False)
    assert program(replace(plain, live=(place,)), options=held, b0=8).registers == 40 + 2.5 * 128 * 128 / 256


def test_what_no_program_holds_is_walked() -> None:
    model, _ = elementwise(1 << 20, False)
    long, blocks = alive(model, ((1, 131072), 32)), alive(model, ((parameter("b0"), 64), 32))
    assert program(long, b0=1).walks and program(long, b0=1).largest_tile == Budget.TILE_LANES
    assert program(long, b0=1).fits()
    assert not program(blocks, b0=1024).walks and not program(blocks, b0=1024).fits()


def test_what_fits() -> None:
    """Registers, shared memory and lanes; of wide operands, and of blocks at loaded places, fewer."""
    sizes = {"b0": np.array([128, 256, 128]), "b1": np.array([256, 256, 256]), "b2": np.array([64, 64, 512])}
    assert program(PRODUCT, **sizes).fits().tolist() == [True, False, False]
    wide = replace(PRODUCT, work=tuple(replace(work, dtype="f32") for work in PRODUCT.work))
    tiles = replace(wide, live=(Live(("i", "j"), ((tuple(size for _, size in wide.work[0].dims[::2]), 32),)),))
    assert [bool(program(tiles, b0=64, b1=size, b2=32).fits()) for size in (64, 128)] == [True, False]
    loaded = grouped(4096, 256, 512, 8)
    tiles = replace(
        loaded,
        live=(Live(("j", "g", "m"), ((tuple(size for _, size in loaded.work[0].dims[::2]), 32),)),),
        accesses=tuple(replace(one, address=("first",) if one.id == "x" else ()) for one in loaded.accesses),
        sources=(Source(Name("loaded", "first"), frozenset("g")),),
    )
    assert [bool(program(tiles, b0=128, b1=size, b2=64).fits()) for size in (128, 256)] == [True, False]


def test_the_largest_of_some() -> None:
    assert max_of([]) == 0
    assert max_of([np.array([1, 5]), 3]).tolist() == [3, 5]


def test_values_without_products_have_registers_in_turns() -> None:
    """4096 numbers of 32 bits may need 32 registers of each of 128 threads: half of these are had, beside 16 others."""
    model, _ = elementwise(1 << 20, False)
    found = program(alive(model, ((4096,), 32)), options={"warps": 4}, b0=4096)
    assert found.registers == 40 + 32 and found.held_by_registers == 65536 // ((16 + 32 // 2) * 128)


def test_shared_memory_by_operand() -> None:
    """All stages of what visits load for products; what several loads of an operand bring is added."""
    found = program(PRODUCT, options={"stages": 3}, **SIZES)
    assert found.shared_items() == {"x": 3 * 128 * 64 * 2, "y": 3 * 64 * 256 * 2}
    assert sum(found.shared_items().values()) == found.shared_bytes
    x, y = PRODUCT.factors
    x_only = replace(PRODUCT, factors=(x, replace(y, load="", stays=True)))
    assert program(x_only, options={"stages": 1}, **SIZES).shared_items() == {"x": 128 * 64 * 2}
    assert program(replace(PRODUCT, factors=()), **SIZES).shared_items() == {}


def test_blocks_that_a_loaded_number_picks_come_as_others_do() -> None:
    """On sm80 those that begin there have masks: their values stand in registers. On AMD's chips all of these do."""
    x, y = PRODUCT.accesses[:2]
    place = IndexExpr(terms={Symbol(Name("loaded", "first")): 1})
    source = (Source(Name("loaded", "first"), frozenset("i")),)

    def registers(indices: tuple[IndexExpr, ...], shape: tuple[int, ...], chip) -> float:
        own = replace(x, address=("first",), relation=replace(x.relation, indices=indices, shape=shape))
        assert own.is_shifted == (len(indices) == 2)
        model = replace(PRODUCT, accesses=(own, y, *PRODUCT.accesses[2:]), sources=source)
        return float(program(model, chip, {"warps": 8}, **SIZES).registers)

    rows, columns = x.relation.indices
    picked, begun = ((place, rows, columns), (8, *x.relation.shape)), ((rows + place, columns), x.relation.shape)
    sm80 = GPU_CHIPS["sm80"]
    assert registers(*begun, sm80) - registers(*picked, sm80) == 128 * 64 / 2 / 256
    assert registers(*begun, GFX) == registers(*picked, GFX)


def in_a_chain(keys: int) -> LaunchModel:
    """Attention of 64 queries, 128 deep, that loads keys and values."""
    path = PRODUCT.work[0].path
    x, y = (replace(one, path=path) for one in PRODUCT.accesses[:2])
    loads = (replace(y, id=name, relation=replace(y.relation, lanes=(keys, 128))) for name in ("k", "v"))
    dims = ((64, 128, keys), (64, keys, 128))
    return replace(
        PRODUCT,
        accesses=(x, *loads),
        work=tuple(Work("product", tuple(zip("mkn", one, strict=True)), "bf16", path) for one in dims),
        factors=(
            Factor(path, "lhs", (64, 128), 16, stays=True),
            Factor(path, "rhs", (128, keys), 16, load="k"),
            Factor(path, "lhs", (64, keys), 16),
            Factor(path, "rhs", (keys, 128), 16, load="v"),
        ),
        chained=frozenset([path]),
    )


def test_operands_of_one_stage_take_turns_on_amd() -> None:
    """With two both are there at once; sums that become operands come by way of shared memory besides."""
    one, two = (program(in_a_chain(128), GFX, {"stages": count}) for count in (1, 2))
    assert (one.shared_bytes, two.shared_bytes) == (128 * 128 * 2, 2 * 128 * 128 * 2)
    assert one.fits() and not two.fits() and two.shared_bytes == Budget(GFX).staged
    assert program(in_a_chain(128), GFX).stages == 1 and program(in_a_chain(64), GFX).stages == 2


def test_products_that_do_not_wait_convert_all_operands_at_once() -> None:
    """`int4_matmul_halves` in blocks of 32 by 128, 64 deep: 246 registers on sm80 (Triton 3.9)."""
    path = PRODUCT.work[0].path
    x, y = (replace(one, path=path) for one in PRODUCT.accesses[:2])
    packed = replace(y, id="packed", relation=replace(y.relation, lanes=(64, 128)))
    model = replace(
        PRODUCT,
        operands=tuple(replace(one, bits=8, dtype="i8") if one.name == y.operand else one for one in PRODUCT.operands),
        accesses=(x, packed),
        work=(Work("product", (("m", 32), ("k", 64), ("n", 128)), "bf16", path, 2),),
        factors=tuple(
            factor
            for adds in (False, True)
            for factor in (
                Factor(path, "lhs", (32, 64), 16, load=x.id, adds=adds),
                Factor(path, "rhs", (64, 128), 16, of=("packed",), adds=adds),
            )
        ),
    )
    one, waiting = (
        program(replace(model, chained=chained), GPU_CHIPS["sm80"], {"warps": 4, "stages": 2}, b0=32, b1=128, b2=64)
        for chained in (frozenset(), frozenset([path]))
    )
    assert one.registers - waiting.registers == 64 * 128 / 128
    assert one.registers == pytest.approx(246, rel=0.1)
