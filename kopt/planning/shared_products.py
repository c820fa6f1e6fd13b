"""How the warps of a program share products whose operands they read from registers (mma.sync). Pure.

Each warp has a part of the sums, and reads the rows and columns of that part. What several warps read is in the
registers of each; where it is converted on the way, each of them converts it.
"""

from __future__ import annotations

import numpy as np

from kopt.ir.launch_model import Factor, LaunchModel, ModelAccess, Work
from kopt.planning.launch_options import MMA_ROWS
from kopt.planning.trips import Number

#: Columns of a tile of sums that one instruction computes.
_COLUMNS = 8
#: Bits of numbers that no such instruction reads beside those of 16: they are converted.
_NARROW = 8


def spread(rows: Number, columns: Number, warps: Number, together: bool) -> tuple[Number, Number]:
    """The warps along the rows of sums, and along the columns, as Triton's compiler puts them.

    Products of which one takes or adds to what another makes, ``together``, are computed without an exchange between
    warps: all of these stand along the longer side of the last one's sums. Else the parts are as square as tiles are.
    """
    if together:
        tall = np.asarray(rows) >= columns
        return np.where(tall, warps, 1), np.where(tall, 1, warps)
    down, across = np.ones_like(np.asarray(warps)), np.ones_like(np.asarray(warps))
    tiles_down, tiles_across = np.ceil(np.asarray(rows) / MMA_ROWS), np.ceil(np.asarray(columns) / _COLUMNS)
    for _ in range(int(np.max(warps)).bit_length() - 1):
        more, by_rows = down * across < warps, tiles_down >= tiles_across
        down = np.where(more & by_rows, 2 * down, down)
        across = np.where(more & ~by_rows, 2 * across, across)
        tiles_down = np.where(more & by_rows, np.maximum(1, tiles_down / 2), tiles_down)
        tiles_across = np.where(more & ~by_rows, tiles_across / 2, tiles_across)
    return down, across


def are_together(model: LaunchModel, path: tuple[str, ...]) -> bool:
    """Whether products of a body take, or add to, what others of it make."""
    return path in model.chained or any(one.path == path and one.adds for one in model.factors)


def converted(model: LaunchModel, factor: Factor) -> ModelAccess | None:
    """The load of numbers of 8 bits of which an operand has one each, converted lane by lane; None where it is other.

    Its numbers are converted where the product reads them: in the registers of each warp.
    """
    if len(factor.of) != 1 or factor.bits != 2 * _NARROW:
        return None
    load = model.access(factor.of[0])
    lanes, of_factor = (
        sorted(str(size) for size in shape if size != 1) for shape in (load.relation.lanes, factor.shape)
    )
    return load if model.operand(load.operand).bits == _NARROW and lanes == of_factor else None


def operands(model: LaunchModel, product: Work) -> list[Factor]:
    """The operands of a product, and of its like in the same body, as far as they are known."""
    *batch, (_, m), (_, k), (_, n) = product.dims
    sizes = [size for _, size in batch]
    shapes = {"lhs": (*sizes, m, k), "rhs": (*sizes, k, n)}
    return [one for one in model.factors if one.path == product.path and one.shape == shapes[one.side]]
