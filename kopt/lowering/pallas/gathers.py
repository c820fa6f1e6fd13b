"""Gathers by DMA: what the lowering of launches and this module agree on.

A ``tile.load`` (or ``tile.store``) that still has a tile among its indices after ``lower-gathers`` is moved by one DMA
a gathered row. Its memref stays in HBM (``BlockSpec(memory_space=pltpu.HBM)``, whole, never blocked) and the access
becomes ``tile.get`` (``tile.put``) on a ``!tile.ref<…, hbm>`` with the same index list. `print_gather` gives the
expression of such a ``tile.get``, as any printer of values; the buffers and semaphores that it needs are allocated
inside the expression (``pl.run_scoped``), so the launch needs no scratch for it.
"""
