"""Tiles of numbers that can be computed lane by lane, as scalars."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.lane_scalars import gives_row_numbers, is_in_scalar_memory, reads_of
from kopt.analysis.windows import windows
from kopt.dialects.tile import GetOp
from kopt.walk import walk
from test.analysis.one_launch import OneLaunch, one_launch

IDS, WIDE = "!tile.tile<b0=8 x i32>", "!tile.tile<b0=8 x 4 x i32>"
PART, ROWS = "!tile.tile<4 x i32>", "!tile.tile<b0=8 x 256 x f32>"


def kernel(lines: str, ids: str = "64xi32", writes: str = "y") -> OneLaunch:
    """A kernel that has numbers ``%n`` of ``%ids`` and ``%m`` of ``%more``; ``I`` is the type of these."""
    element = ids.split("x")[-1]
    body = f"""%n = tile.load %ids[%i] : memref<{ids}> -> !tile.tile<b0=8 x {element}>
    %m = tile.load %more[%i] : memref<64xi32> -> I
    {lines}"""
    arrays = {"ids": ids, "more": "64xi32", "x": "500x256xf32", "y": "500x256xf32", "f": "64xf32"}
    return one_launch(body.replace("I\n", f"{IDS}\n"), writes=writes, **arrays)


def reads(lines: str, name: str) -> set[str] | None:
    """The names of what a tile is made of."""
    found = reads_of(kernel(lines).values[name], lambda _: True)
    return None if found is None else {str(read.result.name_hint) for read in found}


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("%t = tile.add %n, %m : I\n", {"n", "m"}),
        ("%t = tile.add %n, %n : I\n", {"n"}),
        ("%c = tile.full 3 : I\n%t = tile.minimum %n, %c : I\n", {"n"}),
        ("%c = tile.index %i : !tile.range<b0=8>\n%t = tile.sub %c, %n : I\n", {"n"}),
        ("%t = tile.full -3 : I\n", set()),
        ("%t = tile.index %i : !tile.range<b0=8>\n", set()),
        ("%t = tile.arange 7, -2 : !tile.tile<8 x i32>\n", set()),
        ("%b = tile.begin %i : !tile.range<b0=8>\n%t = tile.splat %b : index to I\n", set()),
        ("%c = tile.lt %n, %m : I\n%z = tile.full 0 : I\n%t = tile.select %c, %n, %z : I\n", {"n", "m"}),
        (f"%t = tile.cast %n : {IDS} to !tile.tile<b0=8 x i64>\n", {"n"}),
        (f"%t = tile.broadcast %n dims [0] : {IDS} to {WIDE}\n", {"n"}),
        (f"%t = tile.reshape %n : {IDS} to !tile.tile<b0=8 x 1 x i32>\n", {"n"}),
        (
            f"%b = tile.begin %i : !tile.range<b0=8>\n%t = tile.dynamic_slice %n from %b dim 0 : {IDS} to {PART}\n",
            {"n"},
        ),
        ("%t = tile.load %ids[3] : memref<64xi32> -> !tile.tile<i32>\n", {"t"}),
        ("%t = tile.load %ids[:] : memref<64xi32> -> !tile.tile<64 x i32>\n", {"t"}),
        ("%t = tile.load %ids[0:64:9] : memref<64xi32> -> !tile.tile<8 x i32>\n", {"t"}),
    ],
)
def test_what_tiles_of_numbers_are_made_of(lines: str, found: set[str]) -> None:
    assert reads(lines, "t") == found


@pytest.mark.parametrize(
    "lines",
    [
        # Numbers that are not integers, and what is made of such.
        "%t = tile.load %f[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>\n",
        f"%t = tile.cast %n : {IDS} to !tile.tile<b0=8 x f32>\n",
        "%g = tile.load %f[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>\n"
        "%c = tile.lt %g, %g : !tile.tile<b0=8 x f32>\n%t = tile.select %c, %n, %m : I\n",
        # Lanes that others have a part in.
        "%t = tile.reduce add %n [0] : I\n",
        "%t = tile.scan add %n dim 0 : I\n",
        f"%t = tile.reshape %n : {IDS} to !tile.tile<2 x 4 x i32>\n",
        "%s, %o = tile.sort %n dim 0 : I\n%t = tile.add %n, %o : I\n",
        # Lanes by number, or with a mask.
        f"%t = tile.load %ids[%m] : memref<64xi32> -> {IDS}\n",
        f"%all = tile.full true : !tile.tile<b0=8 x i1>\n%t = tile.load %ids[%i] mask %all : memref<64xi32> -> {IDS}\n",
        f"%t = tile.load %ids[%i] pad 1 : memref<64xi32> -> {IDS}\n",
    ],
)
def test_what_is_not_computed_lane_by_lane(lines: str) -> None:
    assert reads(lines, "t") is None


def test_what_a_loop_carries_is_no_lane() -> None:
    loop = f"""%r = tile.for %k: b1=2 in (0, 8) iter(%a = %n) -> ({IDS}) {{
      %s = tile.add %a, %m : I
      tile.yield %s : I
    }}
    """
    assert reads(loop, "a") is None and reads(loop, "s") is None and reads(loop, "r") is None


def test_each_read_has_to_be_one_that_may_be() -> None:
    values = kernel("%t = tile.add %n, %m : I\n%z = tile.full 1 : I\n").values
    for wanted in ("n", "m", "no"):
        asked = []
        found = reads_of(values["t"], lambda read, w=wanted, a=asked: a.append(read) or read.result.name_hint == w)
        assert found is None and asked
    assert reads_of(values["z"], lambda _: False) == []


HASH = "".join(f"%h{k} = tile.shr %n{k}, %m : I\n%n{k + 1} = tile.xor %n{k}, %h{k} : I\n" for k in range(60))


def test_values_that_are_used_twice_are_looked_at_once() -> None:
    """A hash has two ways from each step to the next: there are 2 to the 60 ways to what it is made of."""
    lines = HASH.replace("%n0", "%n")
    assert reads(lines, "n60") == {"n", "m"}
    row = f"%v = tile.load %x[%n60, :] : memref<500x256xf32> -> {ROWS}\n"
    assert gives(lines.replace("%m", "%n") + row)


# Where numbers stand.


def test_scalar_memory_has_some_of_what_a_kernel_reads() -> None:
    spaces = {"n": "smem", "m": "vmem", "h": "hbm"}
    refs = ", ".join(f"%{name}_ref: !tile.ref<64 x i32, {space}>" for name, space in spaces.items())
    windows = ", ".join(f"<[64], (d0) -> (0), {space}>" for space in spaces.values())
    gets = "\n".join(
        f"%{name} = tile.get %{name}_ref[%i] : !tile.ref<64 x i32, {space}> -> {IDS}" for name, space in spaces.items()
    )
    array = "memref<64xi32>"
    text = f"""
func.func @f(%a: {array}, %b: {array}, %c: {array}) {{
  pallas.call @f(%a, %b, %c) windows [{windows}] semantics (parallel) aliases [] : ({array}, {array}, {array}) -> () {{
  ^bb0({refs}):
    tile.grid (%i: b0=8) in (64) {{
      {gets}
    }}
  }}
  func.return
}}"""
    reads = walk(parse(text), GetOp)
    assert [(read.result.name_hint, is_in_scalar_memory(read)) for read in reads] == [
        ("n", True),
        ("m", False),
        ("h", False),
    ]
    assert [reads_of(read.result, is_in_scalar_memory) for read in reads] == [[reads[0]], None, None]


def test_arrays_of_a_launch_stand_nowhere_yet() -> None:
    (read,) = reads_of(kernel("").values["n"], lambda _: True) or []
    assert not is_in_scalar_memory(read)


# Arrays of row numbers.

ROW = f"%v = tile.load %x[%n, :] : memref<500x256xf32> -> {ROWS}\n"


def gives(lines: str, ids: str = "64xi32", writes: str = "y") -> bool:
    found = kernel(lines, ids, writes)
    memory = found.values["ids"]
    return gives_row_numbers(windows(found.grid, [memory])[memory])


@pytest.mark.parametrize(
    "lines",
    [
        ROW,
        ROW + ROW.replace("%v", "%w").replace("%x", "%y"),
        "%c = tile.full 499 : I\n%t = tile.minimum %n, %c : I\n" + ROW.replace("%n", "%t"),
        f"%t = tile.broadcast %n dims [0] : {IDS} to {WIDE}\n"
        "%v = tile.load %x[%t, :] : memref<500x256xf32> -> !tile.tile<b0=8 x 4 x 256 x f32>\n",
        "%one = tile.load %ids[%i] : memref<64xi32> -> I\n" + ROW + ROW.replace("%n", "%one").replace("%v", "%w"),
        # Two reads of one array make one number.
        "%one = tile.load %ids[%i] : memref<64xi32> -> I\n%t = tile.add %n, %one : I\n" + ROW.replace("%n", "%t"),
        # A condition on numbers chooses one.
        "%c = tile.lt %n, %n : I\n%z = tile.full 0 : I\n%t = tile.select %c, %n, %z : I\n" + ROW.replace("%n", "%t"),
    ],
)
def test_arrays_that_tell_nothing_but_rows(lines: str) -> None:
    assert gives(lines)


@pytest.mark.parametrize(
    "lines",
    [
        # Nothing, or something else, is computed of the numbers.
        "",
        "%t = tile.add %n, %n : I\n",
        f"%t = tile.cast %n : {IDS} to !tile.tile<b0=8 x f32>\n",
        ROW + f"%t = tile.cast %n : {IDS} to !tile.tile<b0=8 x f32>\n",
        ROW + "%s = tile.reduce max %n [0] : I\n",
        # So is of what another read gives.
        ROW + "%one = tile.load %ids[%i] : memref<64xi32> -> I\n",
        ROW + f"%one = tile.load %ids[%i] : memref<64xi32> -> {IDS}\n%s = tile.reduce max %one [0] : I\n",
        # Numbers that others have a part in, and numbers of numbers.
        "%t = tile.add %n, %m : I\n" + ROW.replace("%n", "%t"),
        f"%t = tile.load %ids[%n] : memref<64xi32> -> {IDS}\n" + ROW.replace("%n", "%t"),
        # A mask is no number of a row.
        "%c = tile.lt %n, %n : I\n" + ROW.replace("%n, :]", "%i, 0] mask %c").replace(ROWS, "!tile.tile<b0=8 x f32>"),
    ],
)
def test_arrays_that_tell_something_else(lines: str) -> None:
    assert not gives(lines)


@pytest.mark.parametrize(
    ("ids", "fits"),
    [
        ("64xi32", True),
        ("64xui32", True),
        ("64xi64", True),  # the kernel has 32 bits of them
        ("64xi8", False),
        ("64xi16", False),
        ("131072xi32", True),  # 512 KiB
        ("131073xi32", False),
    ],
)
def test_small_arrays_of_words(ids: str, fits: bool) -> None:
    element = ids.split("x")[-1]
    lines = f"%t = tile.cast %n : !tile.tile<b0=8 x {element}> to {IDS}\n{ROW.replace('%n', '%t')}"
    assert gives(lines if element != "i32" else ROW, ids=ids) is fits


def test_what_the_launch_writes_is_no_scalar_memory() -> None:
    lines = ROW + f"%c = tile.full 1 : I\ntile.store %c, %ids[%i] : {IDS}, memref<64xi32>\n"
    assert not gives(lines, writes="ids y")
