"""Jagged sum as one who knows Pallas writes it: one program, and two ping-pongs.

Rows arrive tile by tile, the next tile (of this item or a later one) while this one is summed; sums leave in groups of
8, while the next group is made.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

TILE = 64
GROUP = 8


def jagged_sum_by_hand_kernel(offsets, x, out, rows, arrived, partial, sums, group, sent):
    items, columns = out.shape
    last = x.shape[0] // 8 - TILE // 8

    def bounds(item):
        """An item's first and last row, the group of 8 rows that it begins in, and its tiles."""
        begin, end = offsets[item], offsets[item + 1]
        first = begin >> 3
        tiles = (end - first * 8 + TILE - 1) >> 6
        return begin, end, first, jnp.where(end > begin, tiles, 0)

    def fetch(first, tile, slot):
        row = pl.multiple_of(jnp.minimum(first + tile * (TILE // 8), last) * 8, 8)
        return pltpu.make_async_copy(x.at[pl.ds(row, TILE)], rows.at[slot], arrived.at[slot])

    def send(number):
        row = pl.multiple_of(number * GROUP, GROUP)
        return pltpu.make_async_copy(group.at[number & 1], out.at[pl.ds(row, GROUP)], sent.at[number & 1])

    def fetch_first(item, slot):
        _, _, first, tiles = bounds(item)
        pl.when(tiles > 0)(lambda: fetch(first, 0, slot).start())

    fetch_first(0, 0)

    def sum_item(item, done):
        begin, end, first, tiles = bounds(item)
        following = jnp.minimum(item + 1, items - 1)
        partial[...] = jnp.zeros_like(partial)
        pl.when((tiles == 0) & (item + 1 < items))(lambda: fetch_first(following, done & 1))

        def sum_tile(tile, _):
            slot = (done + tile) & 1
            pl.when(tile + 1 < tiles)(lambda: fetch(first, tile + 1, 1 - slot).start())
            pl.when((tile + 1 == tiles) & (item + 1 < items))(lambda: fetch_first(following, 1 - slot))
            fetch(first, tile, slot).wait()
            own = first * 8 + tile * TILE
            row = jnp.minimum(own, last * 8) + jax.lax.broadcasted_iota(jnp.int32, (TILE, columns), 0)
            inside = (row >= jnp.maximum(begin, own)) & (row < end)
            block = jnp.where(inside, rows[slot].astype(jnp.float32), 0.0)
            partial[...] += block.reshape(TILE // 8, 8, columns).sum(0)
            return 0

        jax.lax.fori_loop(0, tiles, sum_tile, 0)
        sums[pl.ds(item & 7, 1), :] = partial[...].sum(0, keepdims=True)

        @pl.when((item & 7 == 7) | (item == items - 1))
        def _():
            number = item >> 3
            pl.when(number >= 2)(lambda: send(number - 2).wait())
            group[number & 1] = sums[...].astype(out.dtype)
            send(number).start()

        return done + tiles

    jax.lax.fori_loop(0, items, sum_item, 0)
    groups = items // GROUP
    if groups > 1:
        send(groups - 2).wait()
    send(groups - 1).wait()


def jagged_sum_by_hand(x, offsets):
    """The sum of each item's rows; rows in multiples of 8, at least one tile, items in multiples of 8."""
    columns = x.shape[1]
    return pl.pallas_call(
        jagged_sum_by_hand_kernel,
        in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pltpu.HBM)],
        out_specs=pl.BlockSpec(memory_space=pltpu.HBM),
        out_shape=jax.ShapeDtypeStruct((offsets.shape[0] - 1, columns), x.dtype),
        scratch_shapes=[
            pltpu.VMEM((2, TILE, columns), x.dtype),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.VMEM((8, columns), jnp.float32),
            pltpu.VMEM((GROUP, columns), jnp.float32),
            pltpu.VMEM((2, GROUP, columns), x.dtype),
            pltpu.SemaphoreType.DMA((2,)),
        ],
        name="jagged_sum_by_hand",
    )(offsets, pltpu.with_memory_space_constraint(x, pltpu.HBM))
