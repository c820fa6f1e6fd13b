"""The static benchmark of GPU code: what it reads from SASS and from Triton's IR, and how it compares."""

from __future__ import annotations

import gpu_static
import hand.triton as hand
import pytest
import torch
from support import gcn, issue, sass
from support.launches import array_bytes, moved_bytes
from support.markdown import section
from support.occupancy import occupancy
from support.shapes import WIDE, base_name, calling, wider
from support.side_by_side import ratios, shown, together
from support.traffic import bytes_asked_for
from support.trips import lines_with_trips

from examples.registry import BY_NAME
from kopt.targets.chips import GPU_CHIPS


def code(*lines: str) -> list[sass.Instruction]:
    """Instructions as cuobjdump lists them, 16 bytes each: the first is at 0, the eleventh at 0xa0."""
    listing = [
        f"        /*{16 * number:04x}*/                   {line} ;      /* 0x0 */"
        for number, line in enumerate(lines)
    ]  # fmt: skip
    return sass.instructions("\n".join(["\tcode for sm_90", *listing]))


def test_straight_code_has_no_loop() -> None:
    """A forward branch is none, nor is the branch to itself behind the end."""
    straight = code("MOV R1, R2", "@P0 BRA 0x30", "IADD3 R1, R1, R1, RZ", "EXIT", "BRA 0x40", "NOP")
    assert len(straight) == 5 and sass.innermost_loops(straight) == [] and sass.hot_loop(straight) is None


def test_loop_to_itself_counts() -> None:
    """A block that branches to its own top."""
    loop = sass.hot_loop(code("MOV R1, RZ", "IADD3 R1, R1, 0x1, RZ", "@!P0 BRA 0x10", "EXIT", "BRA 0x40"))
    assert loop is not None and [each.address for each in loop] == [0x10, 0x20]


def test_only_the_innermost_loop_counts() -> None:
    nested = code(
        "MOV R1, RZ",
        "MOV R2, RZ",  # the outer loop from here
        "FADD R3, R3, R3",  # the inner one from here
        "@P0 BRA 0x20",
        "FADD R4, R4, R4",
        "@P1 BRA 0x10",
        "EXIT",
    )
    assert [[each.address for each in loop] for loop in sass.innermost_loops(nested)] == [[0x20, 0x30]]
    assert sass.has_nested_loops(nested)


def test_hot_loop_multiplies_matrices() -> None:
    """A shorter loop with a matrix instruction comes before a longer one without."""
    two = code(
        "FADD R1, R1, R1",
        "FADD R2, R2, R2",
        "FADD R3, R3, R3",
        "@P0 BRA 0x0",
        "HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24",
        "@UP1 BRA 0x40",
        "EXIT",
    )
    hot = sass.hot_loop(two)
    assert hot is not None and [each.address for each in hot] == [0x40, 0x50]
    assert sass.matrix_instructions(hot) == 1
    longest = sass.hot_loop([each for each in two if each.kind != "HGMMA"])
    assert longest is not None and len(longest) == 4


def test_code_out_of_line_belongs_to_its_loop() -> None:
    """The slow wait for a barrier lies behind the end, goes round by itself, and returns into the loop."""
    waiting = code(
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R2",
        "@!P0 BRA 0x50",
        "HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24",
        "@P1 BRA 0x0",
        "EXIT",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R2",
        "@!P0 BRA 0x50",
        "BRA 0x20",
    )
    hot = sass.hot_loop(waiting)
    assert hot is not None and [each.address for each in hot] == [0x0, 0x10, 0x20, 0x30, 0x50, 0x60, 0x70]


def test_branches_with_conditions_go_on() -> None:
    """A condition may be an operand, and a branch for diverged lanes is no end."""
    assert not code("BRA P0, 0x10")[0].ends and not code("BRA.DIV UR4, 0x10")[0].ends
    assert code("BRA 0x10")[0].ends and not code("@P0 EXIT")[0].ends
    assert code("@!UPT BRA.U 0x30")[0].target == 0x30


@pytest.mark.parametrize(
    ("instruction", "kind"),
    [
        ("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24", "wgmma"),
        ("QGMMA.64x64x32.F32.E4M3.E4M3 R24, R4, gdesc[UR8], R24", "wgmma"),
        ("HMMA.16816.F32.BF16 R4, R8, R12, R4", "mma.sync"),
        ("IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, R4", "mma.sync"),
        ("UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR14], idesc[UR15], UP0", "tcgen05"),
        ("FFMA R4, R8, R12, R4", "none"),
    ],
)
def test_matrix_kind(instruction: str, kind: str) -> None:
    assert sass.matrix_kind(code("MOV R1, R2", instruction)) == kind


def test_matrix_kind_and_tma_of_ptx() -> None:
    assert sass.ptx_matrix_kind("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {}") == "wgmma"
    assert sass.ptx_matrix_kind("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {}") == "mma.sync"
    assert sass.ptx_matrix_kind("fma.rn.f32 %f1, %f2, %f3, %f4;") == "none"
    assert sass.ptx_has_tma("cp.async.bulk.tensor.2d.shared") and not sass.ptx_has_tma("cp.async.cg.shared")


def test_widths_of_accesses() -> None:
    """Names of cache policies contain numbers too; shared and local memory do not count."""
    accesses = code(
        "LDG.E.128 R4, desc[UR4][R2.64]",
        "LDGSTS.E.BYPASS.LTC128B.128 [R7], desc[UR4][R2.64]",
        "LDGSTS.E.LTC128B [R7], desc[UR4][R2.64]",
        "@P0 LDG.E.U16.CONSTANT R4, desc[UR4][R2.64]",
        "LDS.128 R4, [R2]",
        "LDL.64 R4, [R1]",
        "STG.E.64 desc[UR4][R2.64], R4",
        "STG.E desc[UR4][R2.64], R4",
    )
    assert list(sass.loads(accesses).items()) == [("128", 2), ("32", 1), ("16", 1)]
    assert sass.stores(accesses) == {"64": 1, "32": 1} and not sass.has_tma(accesses)


@pytest.mark.parametrize(
    ("loop", "wanted"),
    [
        (["HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24", "LDGSTS.E.128 [R7], desc[UR4][R2.64]"], 4),
        (["HMMA.16816.F32.BF16 R4, R8, R12, R4"], 2048 / 16384),
        (["HMMA.1688.F32.TF32 R4, R8, R12, R4", "IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, R4"], 5120 / 16384),
        (["LDG.E.128 R4, desc[UR4][R2.64]", "LDG.E.64 R4, desc[UR4][R2.64]", "FADD R1, R1, R1"], 1.5),
        (["UTMALDG.2D [UR8], [UR4]"], None),
        (["UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR14], idesc[UR15], UP0"], None),
    ],
)
def test_work_of_a_trip(loop: list[str], wanted: float | None) -> None:
    assert sass.work(code(*loop)) == wanted


def test_tma() -> None:
    bulk = code("UTMALDG.2D [UR8], [UR4], desc[UR6]", "UTMALDG.2D [UR8], [UR4]", "UTMASTG.2D [UR8], [UR4]")
    assert sass.has_tma(bulk) and sass.loads(bulk) == {"tma": 2} and sass.stores(bulk) == {"tma": 1}


@pytest.mark.parametrize(
    ("chip", "registers", "shared", "warps", "wanted"),
    [
        ("sm90", 32, 0, 4, 1.0),
        ("sm90", 216, 0, 4, 0.125),  # registers
        ("sm90", 64, 65536, 4, 3 * 4 / 64),  # shared memory, with what is kept for each program
        ("sm90", 16, 0, 1, 0.5),  # the number of programs
        ("sm75", 32, 0, 8, 1.0),  # 32 warps
        ("sm86", 40, 0, 16, 1.0),  # 48 warps, in which 3 programs fit
        ("sm90", 255, 0, 16, None),  # no program fits
        ("sm90", 32, 300 << 10, 4, None),
        ("sm90", None, 0, 4, None),
        ("gfx942", 32, 0, 4, None),
    ],
)
def test_occupancy(chip: str, registers: int | None, shared: int, warps: int, wanted: float | None) -> None:
    assert occupancy(GPU_CHIPS[chip], registers, shared, warps) == wanted


def ir(body: str) -> str:
    return f"""
    %c0_i32 = arith.constant 0 : i32 loc(#loc)
    %c64_i32 = arith.constant 64 : i32 loc(#loc)
    %c100_i32 = arith.constant 100 : i32 loc(#loc)
    {body}
"""


def test_bytes_asked_for() -> None:
    """A loop of 2 trips: reductions inside do not end it, what follows it is done once."""
    text = ir("""
    %1 = scf.for %i = %c0_i32 to %c100_i32 step %c64_i32 iter_args(%a = %b) -> (f32)  : i32 {
      %2 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      }) : (tensor<64xf32>) -> f32 loc(#loc)
      %3 = tt.load %p : tensor<64x32x!tt.ptr<bf16>> loc(#loc)
      %4 = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<16x8xf32> -> tensor<16x8xf32> loc(#loc)
    } loc(#loc)
    tt.store %q, %v {cache = 1 : i32} : tensor<64x!tt.ptr<f32>> loc(#loc)
    %5 = tt.load %s : !tt.ptr<f32> loc(#loc)
""")
    assert bytes_asked_for(lines_with_trips(text, (3,)), 3) == 3 * (2 * (64 * 32 * 2 + 16 * 8 * 4) + 64 * 4 + 4)


@pytest.mark.parametrize(
    "body",
    [
        "%3 = tt.load %p, %mask : tensor<64x!tt.ptr<bf16>> loc(#loc)",
        "tt.store %p, %v, %mask : tensor<64x!tt.ptr<bf16>> loc(#loc)",
        "scf.for %i = %c0_i32 to %computed step %c64_i32  : i32 {",
        "scf.if %condition {",
        "%3 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf32>",
    ],
)
def test_bytes_that_cannot_be_told(body: str) -> None:
    assert bytes_asked_for(lines_with_trips(ir(body), (1,)), 1) is None


def test_trips_of_computed_bounds() -> None:
    """The loop goes as far as its program's number says: 0 to 3 blocks of 64, 1.5 on average."""
    text = """
    %pid = tt.get_program_id y : i32 loc(#loc)
    %c64_i32 = arith.constant 64 : i32 loc(#loc)
    %0 = arith.muli %pid, %c64_i32 : i32 loc(#loc)
    %1 = arith.addi %0, %first : i32 loc(#loc)
    scf.for %i = %first to %1 step %c64_i32  : i32 {
      %3 = tt.load %p, %mask : tensor<64x!tt.ptr<bf16>> loc(#loc)
    } loc(#loc)
"""
    lines = lines_with_trips(text, (2, 4), {"first": 128})
    assert lines is not None and [line.times for line in lines if "tt.load" in line.text] == [1.5]
    assert lines_with_trips(text, (2, 4)) is None


def test_masks_ask_for_less() -> None:
    """Programs of 64 lanes over 100, by rows of which 3 of 8 are inside, in a loop whose last visit has 36 of 64."""
    text = ir("""
    %pid = tt.get_program_id x : i32 loc(#loc)
    %0 = arith.muli %pid, %c64_i32 : i32 loc(#loc)
    %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> loc(#loc)
    %2 = tt.splat %0 : i32 -> tensor<64xi32> loc(#loc)
    %3 = arith.addi %2, %1 : tensor<64xi32> loc(#loc)
    %end = arith.constant dense<100> : tensor<64xi32> loc(#loc)
    %4 = arith.cmpi slt, %3, %end : tensor<64xi32> loc(#loc)
    tt.store %p, %v, %4 : tensor<64x!tt.ptr<i8>> loc(#loc)
    %rows = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32> loc(#loc)
    %5 = tt.expand_dims %rows {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32> loc(#loc)
    %most = arith.constant dense<3> : tensor<8x1xi32> loc(#loc)
    %6 = arith.cmpi slt, %5, %most : tensor<8x1xi32> loc(#loc)
    %7 = tt.broadcast %6 : tensor<8x1xi1> -> tensor<8x64xi1> loc(#loc)
    scf.for %i = %c0_i32 to %c100_i32 step %c64_i32  : i32 {
      %8 = tt.splat %i : i32 -> tensor<64xi32> loc(#loc)
      %9 = arith.addi %8, %1 : tensor<64xi32> loc(#loc)
      %10 = arith.cmpi slt, %9, %end : tensor<64xi32> loc(#loc)
      %11 = tt.expand_dims %10 {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1> loc(#loc)
      %12 = tt.broadcast %11 : tensor<1x64xi1> -> tensor<8x64xi1> loc(#loc)
      %13 = arith.andi %7, %12 : tensor<8x64xi1> loc(#loc)
      %14 = tt.load %q, %13, %other : tensor<8x64x!tt.ptr<i16>> loc(#loc)
    } loc(#loc)
""")
    assert bytes_asked_for(lines_with_trips(text, (2,)), 2) == 100 + 2 * 3 * 100 * 2


def test_blocks_of_descriptors_end_with_the_array() -> None:
    """Blocks of 64 x 32 over 100 x 40, of which a program has one column: what is outside is not asked for."""
    text = ir("""
    %pid = tt.get_program_id x : i32 loc(#loc)
    %c32_i32 = arith.constant 32 : i32 loc(#loc)
    %0 = arith.muli %pid, %c32_i32 : i32 loc(#loc)
    scf.for %i = %c0_i32 to %c100_i32 step %c64_i32  : i32 {
      %1 = tt.descriptor_load %d[%i, %0] : !tt.tensordesc<64x32xi8> -> tensor<64x32xi8> loc(#loc)
      tt.descriptor_store %e[%i, %0], %1 : !tt.tensordesc<64x32xi8>, tensor<64x32xi8> loc(#loc)
    } loc(#loc)
""")
    extents = {"d.shape.0": 100, "d.shape.1": 40}
    assert bytes_asked_for(lines_with_trips(text, (2,), extents), 2) == 100 * 40 + 2 * 2 * 64 * 32
    elsewhere = text.replace("%d[%i, %0]", "%d[%i, %loaded]")
    assert bytes_asked_for(lines_with_trips(elsewhere, (2,), extents), 2) is None


def test_branches_by_the_program() -> None:
    """The loop of blocks before a program's own is behind a condition: program 0 has none, and another arm."""
    text = ir("""
    %pid = tt.get_program_id x : i32 loc(#loc)
    %0 = arith.muli %pid, %c64_i32 : i32 loc(#loc)
    %1 = arith.cmpi sgt, %0, %c0_i32 : i32 loc(#loc)
    %2 = scf.if %1 -> (tensor<64xf32>) {
      %3 = scf.for %i = %c0_i32 to %0 step %c64_i32 iter_args(%a = %b) -> (tensor<64xf32>)  : i32 {
        %4 = tt.load %p : tensor<64x!tt.ptr<i8>> loc(#loc)
      } loc(#loc)
    } else {
      %5 = tt.load %q : tensor<128x!tt.ptr<i8>> loc(#loc)
    } loc(#loc)
    tt.store %q, %v : tensor<64x!tt.ptr<i8>> loc(#loc)
""")
    assert bytes_asked_for(lines_with_trips(text, (4,)), 4) == (1 + 2 + 3) * 64 + 128 + 4 * 64


def test_views_of_an_array_are_one() -> None:
    array = torch.empty(4, 8)
    assert array_bytes([array, array.view(-1), array[1:], torch.empty(3)]) == 4 * 8 * 4 + 3 * 4


def test_waits_for_products() -> None:
    beside = ["HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24", "WARPGROUP.DEPBAR.LE gsb0, 0x0"]
    assert sass.waits(code(*beside, beside[0], "WARPGROUP.ARRIVE")) == 1 and sass.waits(code(*beside, *beside)) == 2


LOOP = ["MOV R1, RZ", "LDG.E.128 R4, desc[UR4][R2.64]", "FADD R4, R4, R4", "@P0 BRA 0x10", "EXIT"]


def test_instructions_of_a_warp() -> None:
    """The loop of the IR loads 4 x 16 bytes in each thread, that of the SASS one in a trip: it makes four trips."""
    text = ir("""
    scf.for %i = %c0_i32 to %c100_i32 step %c64_i32  : i32 {
      %3 = tt.load %p, %mask : tensor<2048x!tt.ptr<bf16>> loc(#loc)
    } loc(#loc)
""")
    assert issue.instructions_of_a_warp(code(*LOOP), lines_with_trips(text, (8,)), 4) == 2 + 4 * 3
    # One load is before the loop.
    before = [LOOP[1], *LOOP[1:]]
    assert issue.instructions_of_a_warp(code(*before), lines_with_trips(text, (8,)), 4) == 2 + 3 * 3
    assert issue.instructions_of_a_warp(code("FADD R4, R4, R4", "EXIT"), lines_with_trips(text, (8,)), 4) == 2


def test_what_is_spilled_is_moved() -> None:
    """A warp spills 16 bytes a thread before the loop of four trips, and loads 4 in each of them."""
    text = ir("""
    scf.for %i = %c0_i32 to %c100_i32 step %c64_i32  : i32 {
      %3 = tt.load %p, %mask : tensor<2048x!tt.ptr<bf16>> loc(#loc)
    } loc(#loc)
""")
    spills = ["STL.128 [R1], R4", "MOV R1, RZ", LOOP[1], "LDL R8, [R1]", "@P0 BRA 0x20", "EXIT"]
    warp = issue.executed(code(*spills), lines_with_trips(text, (8,)), 4)
    assert warp is not None and warp.local_bytes == 32 * (16 + 4 * 4)
    assert moved_bytes(1000, 32, warp, 8) == 1000 + 8 * 1024
    assert moved_bytes(1000, 0, None, 8) == 1000 and moved_bytes(1000, 32, None, 8) is None


def test_the_busiest_has_the_most_programs() -> None:
    assert issue.of_the_busiest(600, 132, 132) == 600 and issue.of_the_busiest(600, 66, 132) == 1200
    assert issue.of_the_busiest(600, 264, 132) == 600 and issue.of_the_busiest(None, 1, 132) is None


def test_instructions_of_matrices() -> None:
    """A program multiplies 128 x 64 x 64 in two trips: 16 of m64n64k16, two of which four warps get done in one."""
    text = ir("""
    scf.for %i = %c0_i32 to %c100_i32 step %c64_i32  : i32 {
      %3 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x64xbf16> -> tensor<128x64xf32>
    } loc(#loc)
""")
    loop = ["MOV R1, RZ", "HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24", "@P0 BRA 0x10", "EXIT"]
    assert issue.instructions_of_a_warp(code(*loop), lines_with_trips(text, (8,)), 4) == 2 + 8 * 2


@pytest.mark.parametrize(
    ("lines", "body"),
    [
        (LOOP, "scf.if %condition {"),
        (["MOV R1, RZ", *LOOP[1:4], "@P1 BRA 0x0", "EXIT"], ""),  # a loop in a loop
        (["UTMALDG.2D [UR8], [UR4]", "@P0 BRA 0x0", "EXIT"], ""),
        ([*LOOP[:4], "HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24", "@P0 BRA 0x40", "EXIT"], ""),
    ],
)
def test_instructions_that_cannot_be_told(lines: list[str], body: str) -> None:
    assert issue.instructions_of_a_warp(code(*lines), lines_with_trips(ir(body), (8,)), 4) is None


@pytest.mark.parametrize(
    ("programs", "occupancy", "matrices", "wanted"),
    [
        (100, 1.0, False, 1 * 4 * 60 / 4),
        (133, 0.5, False, 2 * 4 * 60 / 4),  # the busiest has two
        (100, 0.25, False, 2 * 4 * 60 / 4),
        (100, 0.25, True, 1 * 4 * 60 / 4),
        (100, None, False, None),
    ],
)
def test_cycles_of_issue(programs: int, occupancy: float | None, matrices: bool, wanted: float | None) -> None:
    assert issue.cycles(60, programs, 4, 132, occupancy, matrices) == wanted
    assert issue.cycles(None, programs, 4, 132, occupancy, matrices) is None


def launch(**facts: object) -> dict[str, object]:
    known = {
        "blocks": [64],
        "programs": 8,
        "idle": 0,
        "warps": 4,
        "stages": 1,
        "registers": 32,
        "spill_bytes": 0,
        "shared_bytes": 0,
        "occupancy": 1.0,
        "sass": 100,
        "issue": 50.0,
        "loop": None,
        "loop_mma": None,
        "loop_per_work": None,
        "waits": None,
        "mma": "none",
        "tma": False,
        "loads": {"128": 2},
        "stores": {"32": 1},
        "moved": None,
        "moved_busiest": None,
        "read_from": "SASS",
    }
    return {**known, **facts}


def test_launches_together() -> None:
    whole = together(
        [
            launch(loop=90, loop_mma=0, registers=64, programs=4, idle=128),
            launch(loop=40, loop_mma=4, loop_per_work=5.0, mma="wgmma", occupancy=0.5, loads={"128": 1, "16": 3}),
        ]
    )
    assert (whole["sass"], whole["registers"], whole["programs"], whole["occupancy"]) == (200, 64, 4, 0.5)
    assert whole["idle"] == 128
    assert (whole["loop"], whole["loop_per_work"], whole["mma"]) == (40, 5.0, "wgmma")
    assert whole["loads"] == {"128": 3, "16": 3}


def test_matrix_kind_of_amd() -> None:
    assert gcn.matrix_kind("\tv_mfma_f32_16x16x16_bf16 a[0:3], v[0:1], v[2:3], a[0:3]") == "mfma"
    assert gcn.matrix_kind("\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]") == "wmma"
    assert gcn.matrix_kind("\tv_fma_f32 v0, v1, v2, v3") == "none"


def test_section_of_a_page() -> None:
    """A table of what can be compared, and below it what stands out, also of what stands alone."""
    pairs = [
        {"example": "a", "version": name, **launch(sass=sass)} for name, sass in (("kopt", 1200), ("helion", 1000))
    ]
    over = [{"example": "a", "sass": 1.2, "registers": 1.0}, {"example": "b"}]
    lines = section("sm90", "bf16", [pairs, [{"example": "b", "version": "kopt"}]], over, {"b": 56}, {})
    assert "| a | kopt | 8 | 50 | 1,200 | – | 32 | 0 | 1.00 | – | – |" in lines and not any(
        "| b |" in line for line in lines
    )
    assert "- Of 2 kernels spill: `b` 56 bytes." in lines
    assert "- kopt over the best of the others in `sass`: `a` 1.20." in lines


def test_unknown_of_one_launch_is_unknown() -> None:
    whole = together([launch(registers=None), launch()])
    assert whole["registers"] is None and whole["sass"] == 200 and together([]) == {}


def test_ratios_are_over_the_best_of_others() -> None:
    def row(version: str, legal: bool | None = True, **facts: object) -> dict[str, object]:
        return {"example": "e", "version": version, "legal": legal, **facts}

    rows = [
        row("kopt", sass=300, occupancy=0.25, spill_bytes=16, loop_per_work=None),
        row("hand", sass=200, occupancy=0.5, spill_bytes=0, loop_per_work=50.0),
        row("helion", sass=100, occupancy=1.0, spill_bytes=8),
        row("too large", legal=False, sass=10),
        row("refused", legal=None),
    ]
    found = ratios(rows)
    assert (found["sass"], found["occupancy"]) == (3.0, 0.25)
    # Over nothing, or where somebody has no figure, there is no ratio.
    assert found["spill_bytes"] is None and found["loop_per_work"] is None and found["moved"] is None
    assert ratios(rows[:1])["sass"] is None


def test_shown() -> None:
    columns = {"example": "", "version": "", "blocks": "", "sass": ",", "tma": "", "loads": "", "moved": ".2f"}
    row = {
        "example": "e",
        "version": "kopt",
        "blocks": (8, 128),
        "sass": 3000,
        "tma": True,
        "loads": {"128": 2, "16": 1},
    }
    lines = shown([row], {"example": "e", "sass": 1.5}, columns)
    assert list(lines[0].values()) == ["e", "kopt", "8x128", "3,000", "yes", "2x128+1x16", None]
    assert list(lines[1].values()) == ["e", "kopt / best", None, "1.50", None, None, None]


def test_tables_name_what_there_is() -> None:
    """Hand-written kernels are files with a function of their name, for examples of the registry."""
    for example, names in hand.HAND.items():
        assert example in BY_NAME
        assert all(f"\ndef {name}(" in hand.source(name) for name in names)
    assert not set(WIDE) & set(BY_NAME) and all(base_name(name) in BY_NAME for name in WIDE)


def test_calling_with_what_is_no_tensor() -> None:
    torch = pytest.importorskip("torch")
    x = torch.empty(3)
    text, tensors = calling("f", (x, 0.5, None, test_shown, x), "entry")
    space: dict[str, object] = {"f": lambda *args: args}
    exec(text, space)
    assert space["entry"](1, 2) == (1, 0.5, None, None, 2) and len(tensors) == 2  # type: ignore[operator]
    with pytest.raises(TypeError, match="device"):
        calling("f", (torch.device("cpu"),), "entry")


@pytest.mark.slow
def test_products_of_causal_attention_run_beside_the_program() -> None:
    """Those before the diagonal may have no visits: without its condition a trip waits sixteen times."""
    (kopt,) = gpu_static.measure(wider("causal_attention_4096"), "bf16", "sm90", ["kopt"])
    assert (kopt["mma"], kopt["waits"], kopt["spill_bytes"]) == ("wgmma", 1, 0)
