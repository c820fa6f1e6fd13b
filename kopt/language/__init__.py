"""The kernel language: the names of ``helion.language``, for kernels that ``@kopt.kernel`` imports.

    import kopt.language as hl

    for tile in hl.tile(x.size(0)):
        out[tile, :] = torch.softmax(x[tile, :], dim=-1)

These functions have a meaning inside kernels only; called elsewhere they say so.
"""

from __future__ import annotations

from kopt.language.annotations import AsyncCopyDescriptor, ProcessGroupName, StackTensor, Tile, constexpr
from kopt.language.devices import (
    barrier,
    breakpoint,
    device_print,
    inline_asm_elementwise,
    inline_triton,
    make_async_remote_copy,
    pdl_launch_dependents,
    pdl_wait,
    remote_barrier,
    triton_kernel,
)
from kopt.language.loops import (
    grid,
    jagged_tile,
    register_block_size,
    register_tunable,
    specialize,
    static_range,
    tile,
    tile_begin,
    tile_block_size,
    tile_count,
    tile_end,
    tile_id,
    tile_index,
)
from kopt.language.random_numbers import rand, rand4x, randint
from kopt.language.sizes import cdiv, next_power_of_2
from kopt.language.tensors import (
    arange,
    associative_scan,
    cumprod,
    cumsum,
    dot,
    dot_scaled,
    float4_e2m1fn_x2_to_float32,
    full,
    join,
    load,
    load_bfloat16_x16_to_float16,
    load_float4_e2m1fn_x16_to_float16,
    reduce,
    split,
    stacktensor_like,
    store,
    subscript,
    zeros,
)
from kopt.language.updates import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xchg,
    atomic_xor,
)

__all__ = [
    "AsyncCopyDescriptor",
    "ProcessGroupName",
    "StackTensor",
    "Tile",
    "arange",
    "associative_scan",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
    "barrier",
    "breakpoint",
    "cdiv",
    "constexpr",
    "cumprod",
    "cumsum",
    "device_print",
    "dot",
    "dot_scaled",
    "float4_e2m1fn_x2_to_float32",
    "full",
    "grid",
    "inline_asm_elementwise",
    "inline_triton",
    "jagged_tile",
    "join",
    "load",
    "load_bfloat16_x16_to_float16",
    "load_float4_e2m1fn_x16_to_float16",
    "make_async_remote_copy",
    "next_power_of_2",
    "pdl_launch_dependents",
    "pdl_wait",
    "rand",
    "rand4x",
    "randint",
    "reduce",
    "register_block_size",
    "register_tunable",
    "remote_barrier",
    "specialize",
    "split",
    "stacktensor_like",
    "static_range",
    "store",
    "subscript",
    "tile",
    "tile_begin",
    "tile_block_size",
    "tile_count",
    "tile_end",
    "tile_id",
    "tile_index",
    "triton_kernel",
    "zeros",
]
