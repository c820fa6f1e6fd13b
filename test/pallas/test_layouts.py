"""Which blocks are legal, and what is done about the others."""

import pytest

from kopt.analysis.layouts import legal_block
from kopt.dialects.host import LaunchOp
from kopt.passes.binding.operands import plan_operands
from kopt.targets.tiling import window_bytes
from test.pallas.support import module


@pytest.mark.parametrize(
    ("size", "extent", "bits", "position", "rank", "legal"),
    [
        (5, 1000, 32, -2, 2, 8),
        (5, 1000, 8, -2, 2, 32),
        (64, 1000, 32, -1, 2, 128),
        (64, 50, 32, -1, 2, 50),
        (129, 200, 32, -1, 2, 200),
        (3, 1000, 32, -3, 3, 3),
        (64, 1000, 32, -1, 1, 128),
        (64, 1000, 16, -1, 1, 256),
        (300, 5000, 32, -1, 1, 512),
        (1500, 5000, 32, -1, 1, 2048),
        (16, 16, 32, -1, 1, 16),
    ],
)
def test_legal_block(size, extent, bits, position, rank, legal):
    assert legal_block(size, extent, bits, position, rank) == legal


@pytest.mark.parametrize(
    ("blocks", "bits", "size"),
    [
        ((8, 128), 32, 4096),
        ((1, 1), 32, 512),
        ((0, 9, 129), 32, 16 * 256 * 4),
        ((2, 16, 128), 16, 2 * 16 * 128 * 2),
        ((8, 256), 16, 8 * 256 * 2),  # what libtpu 0.0.42 says of these
        ((20, 256), 16, 24 * 256 * 2),
        ((1, 256), 16, 2 * 256 * 2),
        ((1, 256), 8, 4 * 256),
        ((40, 256), 8, 40 * 256),
        ((2, 3, 256), 32, 2 * 4 * 256 * 4),
        ((2, 5, 256), 32, 2 * 8 * 256 * 4),
        ((4, 1, 256), 32, 4 * 256 * 4),
        ((2560,), 16, 5120),
        ((1100,), 32, 1152 * 4),
        ((128,), 32, 512),
    ],
)
def test_window_bytes(blocks, bits, size):
    assert window_bytes(blocks, bits) == size


def layouts(name):
    import kopt

    rewritten = kopt.run_pipeline(module(name), "functionalise-host")
    launches = [op for op in rewritten.walk() if isinstance(op, LaunchOp)]
    return [operand.layout for launch in launches for operand in plan_operands(launch)]


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("row_sums", [(1000, 300), (16, 1, 64)]),
        ("narrow_columns", [(4, 96, 64), (4, 96, 64)]),
        ("rows_by_number", [(20, 1, 300), (20,), (20, 1, 300), (20, 1, 1)]),
        ("exp", [(5000,), (5000,), (40, 300), (300,), (40, 300)]),
    ],
)
def test_physical_shapes(name, shapes):
    assert sorted(layout.shape for layout in layouts(name)) == sorted(shapes)
