"""Rows of a table, picked by number: copied row by row, those of the next block while this one leaves."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _body(ids_ref, table_ref, out_ref, rows_ref, arrived_ref, *, unroll):
    block, columns = out_ref.shape
    step, steps = pl.program_id(0), pl.num_programs(0)
    slot = step & 1

    def fetch(step, slot):
        def row(r, _):
            # A number outside of the table would stop the chip: as in XLA's own code, the nearest row comes.
            number = jnp.minimum(jnp.maximum(ids_ref[step * block + r], 0), table_ref.shape[0] - 1)
            at = pl.ds(number, 1)
            pltpu.make_async_copy(table_ref.at[at, :], rows_ref.at[slot, r], arrived_ref.at[slot]).start()

        jax.lax.fori_loop(0, block, row, None, unroll=unroll)

    pl.when(step == 0)(lambda: fetch(step, slot))
    pl.when(step + 1 < steps)(lambda: fetch(step + 1, 1 - slot))
    # One wait for all of the block's rows: what has to arrive are their bytes.
    pltpu.make_async_copy(rows_ref.at[slot], rows_ref.at[slot], arrived_ref.at[slot]).wait()
    out_ref[...] = rows_ref[slot, :, 0, :]


def embedding(ids: jax.Array, table: jax.Array, block: int = 512, unroll: int = 32) -> jax.Array:
    """``table[ids]``; ``block`` divides the number of ids, of any content."""
    count, columns = ids.shape[0], table.shape[1]
    return pl.pallas_call(
        partial(_body, unroll=unroll),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(count // block,),
            in_specs=[pl.BlockSpec(memory_space=pltpu.HBM)],
            out_specs=pl.BlockSpec((block, columns), lambda i, ids: (i, 0)),
            scratch_shapes=[pltpu.VMEM((2, block, 1, columns), table.dtype), pltpu.SemaphoreType.DMA((2,))],
        ),
        out_shape=jax.ShapeDtypeStruct((count, columns), table.dtype),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("arbitrary",), vmem_limit_bytes=64 * 2**20, disable_bounds_checks=True
        ),
        name="embedding_by_hand",
    )(ids, table)
