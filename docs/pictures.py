"""The pictures of the documentation. Those of plans are drawn from the plans that kopt makes for `examples/ir`."""

from __future__ import annotations

from pathlib import Path

from svg import BLUE, GREEN, GREY, ORANGE, RED, WHITE, Canvas

import kopt
from kopt.dialects.tile import GridOp, RangeType
from kopt.walk import walk

ROOT = Path(__file__).resolve().parents[1]


def pictures() -> dict[str, str]:
    """The SVG text of each picture, by the name of its file."""
    return {
        "tpu.svg": tpu(),
        "gpu.svg": gpu(),
        "plan-matmul.svg": plan_picture("matmul"),
        "plan-softmax.svg": plan_picture("softmax"),
        "timeline.svg": timeline(),
        "softmax.svg": softmax(),
        "matmul.svg": matmul(),
        "attention.svg": attention(),
        "jagged.svg": jagged(),
        "pass.svg": own_pass(),
        "sharded.svg": sharded(),
    }


def _levels(title: str, levels: list[tuple[str, str, str]], ways: list[str]) -> Canvas:
    """Memories from the largest to the smallest, and what moves data from one to the next."""
    canvas = Canvas(760, 150 + 14 * (len(levels) > 3), title)
    width = 700 / len(levels)
    for number, (name, size, fill) in enumerate(levels):
        x = 20 + number * width
        canvas.box(x, 40, width - 50, 70, fill, name, dark=True)
        canvas.text(x + (width - 50) / 2, 128, size, middle=True)
        if number < len(ways):
            canvas.arrow(x + width - 48, 75, x + width - 4, 75)
            canvas.text(x + width - 26, 28, ways[number], middle=True)
    return canvas


def tpu() -> str:
    levels = [
        ("HBM", "gigabytes, all cores", BLUE),
        ("VMEM", "megabytes, one core", GREEN),
        ("registers", "8 × 128 lanes each", ORANGE),
        ("MXU, VPU", "products, lanes", RED),
    ]
    return _levels("Memories of a TPU", levels, ["DMA", "load", "issue"]).svg()


def gpu() -> str:
    levels = [
        ("HBM", "gigabytes, all SMs", BLUE),
        ("L2 cache", "megabytes, all SMs", GREEN),
        ("shared memory", "kilobytes, one SM", ORANGE),
        ("registers", "of each thread", RED),
    ]
    return _levels("Memories of a GPU", levels, ["hardware", "copy", "load"]).svg()


def _grid(name: str) -> GridOp:
    """The planned grid of an example of IR on a TPU."""
    path = ROOT / "examples" / "ir" / f"{name}.mlir"
    lowered = kopt.lower_module(kopt.parse(path.read_text(), path.name), target="pallas:tpu7x")
    (grid,) = walk(kopt.parse(dict(lowered.stages())["plan-accesses"]), GridOp)
    return grid


def plan_picture(name: str) -> str:
    """Each buffer of a plan: which blocks of its array one cell has on the chip, and as how many copies."""
    grid = _grid(name)
    assert grid.plan is not None
    names = {tag: value.name_hint or tag for tag, value in zip(grid.tags, grid.ranges, strict=True)}
    sizes = [value.type.dim.size.data for value in grid.ranges if isinstance(value.type, RangeType)]
    counts = [-(-(high - low) // size) for (low, high), size in zip(grid.bounds, sizes, strict=True)]
    blocks = dict(zip(names, counts, strict=True))
    canvas = Canvas(760, 270, f"The plan of {name}.mlir on a TPU7x")
    loops = " × ".join(f"{blocks[axis]} blocks of {names[axis]}" for axis in names)
    canvas.text(
        20, 24, f"{name}: a grid of {loops}; in colour is what cell ({', '.join('1' * len(names))}) has", bold=True
    )
    for number, buffer in enumerate(grid.plan.data.buffers):
        x, fill = 20 + number * 240, (BLUE, GREEN, ORANGE)[number % 3]
        moves = ", ".join(names[axis] for axis in buffer.axes)
        canvas.text(x, 56, f"@{buffer.name}: {buffer.kind}({moves}) x{buffer.depth}", colour=fill)
        _array(canvas, x, 68, buffer.axes, list(blocks), blocks, fill)
        for copy in range(buffer.depth):
            canvas.box(x + copy * 62, 216, 54, 26, WHITE if copy else fill, "next" if copy else "in use", dark=not copy)
        canvas.text(x, 262, "copies on the chip")
    return canvas.svg()


def _array(
    canvas: Canvas, x: int, y: int, moves: tuple[str, ...], axes: list[str], blocks: dict[str, int], fill: str
) -> None:
    """The blocks of an array of two dimensions; the axes that it moves with are its rows', then its columns'."""
    along = {axis: min(blocks[axis], 6) for axis in moves}
    is_column = len(moves) == 1 and len(axes) > 1 and moves[0] == axes[-1]
    rows = along[moves[0]] if moves and not is_column else 1
    columns = along[moves[-1]] if len(moves) > 1 or is_column else 1
    w, h = 200 / columns, 130 / rows
    for row in range(rows):
        for column in range(columns):
            here = row == min(1, rows - 1) and column == min(1, columns - 1)
            canvas.box(x + column * w, y + row * h, w, h, fill if here else GREY)


def timeline() -> str:
    canvas = Canvas(760, 200, "Two buffers: copies and computation at the same time")
    lanes = [("fetch", BLUE, 0), ("compute", ORANGE, 1), ("send back", GREEN, 2)]
    for row, (name, fill, delay) in enumerate(lanes):
        canvas.text(16, 56 + 44 * row, name)
        for step in range(5):
            canvas.box(100 + (step + delay) * 90, 36 + 44 * row, 86, 32, fill, f"block {step}", dark=True)
    canvas.text(100, 190, "time →   the chip waits only for the first fetch and the last block that is sent back")
    return canvas.svg()


def softmax() -> str:
    canvas = Canvas(760, 210, "Softmax by rows")
    for x, name in ((20, "x"), (520, "out")):
        canvas.text(x, 24, name, bold=True)
        for row in range(5):
            fill = GREY if row != 1 else BLUE if name == "x" else GREEN
            canvas.box(x, 34 + row * 32, 220, 32, fill, "rows" if row == 1 else "", dark=True)
    canvas.box(300, 60, 160, 40, ORANGE, "max, exp, sum, divide", dark=True)
    canvas.arrow(242, 80, 298, 80)
    canvas.arrow(462, 80, 518, 80)
    canvas.text(380, 130, "one cell of the launch", middle=True)
    return canvas.svg()


def matmul() -> str:
    canvas = Canvas(760, 240, "A product in blocks")
    for x, title, here in ((20, "x[m, k]", (1, None)), (270, "y[k, n]", (None, 2)), (520, "out[m, n]", (1, 2))):
        canvas.text(x, 24, title, bold=True)
        for row in range(4):
            for column in range(4):
                inside = here[0] in (None, row) and here[1] in (None, column)
                fill = (GREEN if title[0] == "o" else BLUE) if inside else GREY
                canvas.box(x + column * 50, 34 + row * 40, 50, 40, fill)
    canvas.text(236, 118, "×", bold=True)
    canvas.text(486, 118, "=", bold=True)
    canvas.text(20, 222, "The loop over k adds one product of blocks a visit; the epilogue runs once, on the sum.")
    return canvas.svg()


def attention() -> str:
    canvas = Canvas(760, 270, "Blocks of causal attention")
    canvas.text(20, 24, "scores: a row of blocks for each block of queries", bold=True)
    kinds = {1: (GREEN, "full"), 0: (ORANGE, "mask"), -1: (WHITE, "skip")}
    for row in range(5):
        for column in range(5):
            fill, word = kinds[(row > column) - (row < column)]
            canvas.box(20 + column * 64, 36 + row * 42, 64, 42, fill, word, dark=fill != WHITE)
    for number, (fill, text) in enumerate(
        ((GREEN, "all keys are seen: no mask"), (ORANGE, "the diagonal: masked"), (WHITE, "later keys: never visited"))
    ):
        canvas.box(380, 60 + number * 44, 30, 26, fill)
        canvas.text(420, 78 + number * 44, text)
    return canvas.svg()


def jagged() -> str:
    canvas = Canvas(760, 190, "Items in flat storage")
    canvas.text(20, 24, "values: the rows of all items, one item after another", bold=True)
    x = 20
    for number, length in enumerate((3, 7, 0, 5)):
        fill = (BLUE, GREEN, RED, ORANGE)[number]
        for _ in range(length):
            canvas.box(x, 40, 44, 40, fill)
            x += 44
        if length:
            canvas.text(x - length * 22, 104, f"item {number}", middle=True)
    canvas.text(20, 140, "offsets = [0, 3, 10, 10, 15]: item i has the rows offsets[i] to offsets[i + 1]")
    canvas.text(20, 166, "item 2 has no rows; no row is padded")
    return canvas.svg()


def own_pass() -> str:
    canvas = Canvas(760, 120, "A pass in the pipeline")
    steps = ["activation.relu6", "lower-activation", "tile.maximum, tile.minimum", "kopt's passes"]
    x = 16
    for number, (step, width) in enumerate(zip(steps, (140, 140, 200, 120), strict=True)):
        canvas.box(x, 40, width, 40, (BLUE, ORANGE, GREEN, GREY)[number], step, dark=number < 3)
        if number < 3:
            canvas.arrow(x + width + 4, 60, x + width + 34, 60)
        x += width + 38
    canvas.text(16, 24, "The IR before, the pass, the IR after, and what follows", bold=True)
    return canvas.svg()


def sharded() -> str:
    canvas = Canvas(760, 240, "A layer whose weights are shared out to ranks")
    for rank in range(4):
        y = 30 + rank * 44
        canvas.text(16, y + 22, f"rank {rank}")
        for number, (text, fill, width) in enumerate(
            (("x", GREY, 80), ("up, a part", BLUE, 110), ("gelu", ORANGE, 80), ("down, a part", BLUE, 110))
        ):
            x = (80, 180, 310, 410)[number]
            canvas.box(x, y, width, 32, fill, text, dark=fill != GREY)
        canvas.arrow(524, y + 16, 566, y + 16)
    canvas.box(570, 30, 150, 164, GREEN, "all_reduce: the sum", dark=True)
    canvas.text(
        80, 226, "Each rank multiplies with its own columns and rows; the sum over ranks is the layer's result."
    )
    return canvas.svg()
