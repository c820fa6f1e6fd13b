"""The functions of ``kopt.language`` in random kernels: calls on values, statements that the generators write.

What is on neither list has a reason: a new function of the language is drawn, or says why not.
"""

from __future__ import annotations

from kopt.language.unsupported import PALLAS_ONLY, TRITON_ONLY, UNSUPPORTED

#: Calls that give values, by name, with the gaps of `test.property.statements`.
CALLS: dict[str, tuple[str, ...]] = {
    "arange": ("hl.arange({k})", "hl.arange(1, {k} + 3, 2)"),
    "associative_scan": (
        "hl.associative_scan(lambda a, b: a + b, {x}, {p})",
        "hl.associative_scan(lambda a, b: torch.maximum(a, b), {x}, {p})",
    ),
    "cdiv": ("({x} + hl.cdiv(7, {k}))",),
    "cumprod": ("hl.cumprod({x}, {d})",),
    "cumsum": ("hl.cumsum({x}, {d})",),
    "dot": ("hl.dot({x}, {y}.mT)", "hl.dot({x}.mT, {y})"),
    "full": ("hl.full({sizes}, {c}, dtype={dtype})", "hl.full({sizes}, {c}, dtype=torch.float32)"),
    "join": ("hl.join({x}, {y})",),
    "multiple_of": ("({x} + hl.multiple_of({k}, 1))",),
    "next_power_of_2": ("({x} * hl.next_power_of_2({k}))",),
    "reduce": (
        "hl.reduce(lambda a, b: torch.minimum(a, b), {x}, {p})",
        "hl.reduce(lambda a, b: a + b, {x}, {p}, keep_dims=True)",
    ),
    "split": ("hl.split(hl.join({x}, {y}))",),
    "subscript": ("hl.subscript({x}, [None, ...])",),
    "tile_begin": ("({x} + hl.tile_begin({tile}))",),
    "tile_block_size": ("({x} * hl.tile_block_size({tile}))",),
    "tile_end": ("torch.clamp({x}, max=hl.tile_end({tile}))",),
    "tile_id": ("({x} + hl.tile_id({tile}))",),
    "tile_index": ("hl.tile_index({tile})", "(hl.tile_index({tile}) % 3)"),
    "zeros": ("hl.zeros({sizes}, dtype={dtype})",),
}
#: Statements, and the module of ``test/property`` that writes them.
STATEMENTS: dict[str, str] = {
    "atomic_add": "memory",
    "atomic_and": "memory",
    "atomic_max": "memory",
    "atomic_min": "memory",
    "atomic_or": "memory",
    "atomic_xor": "memory",
    "grid": "programs",
    "jagged_tile": "jagged",
    "load": "memory",
    "static_range": "programs",
    "store": "memory",
    "tile": "programs",
}
_TYPE, _RANDOM, _PACKED = "a type in signatures", "draws random numbers", "numbers packed in bytes of certain arrays"
#: Which are not drawn, and why.
WITHOUT: dict[str, str] = {
    **UNSUPPORTED,
    **dict.fromkeys(TRITON_ONLY, "code of Triton's, which no other target runs"),
    **dict.fromkeys(PALLAS_ONLY, "between ranks: test/collectives"),
    **dict.fromkeys(("AsyncCopyDescriptor", "ProcessGroupName", "StackTensor", "Tile", "constexpr"), _TYPE),
    **dict.fromkeys(("rand", "rand4x", "randint"), _RANDOM),
    **dict.fromkeys(("float4_e2m1fn_x2_to_float32", "load_bfloat16_x16_to_float16"), _PACKED),
    "load_float4_e2m1fn_x16_to_float16": _PACKED,
    **dict.fromkeys(("register_block_size", "register_tunable", "specialize"), "a word to the configuration"),
    "atomic_cas": "what is there afterwards depends on the order of cells",
    "atomic_xchg": "what is there afterwards depends on the order of cells",
    "barrier": "between launches of one kernel, not values",
    "device_print": "prints",
    "dot_scaled": "scales of groups: test/kernels",
    "stacktensor_like": "tensors by their addresses",
    "tile_count": "of loops whose end is a number only",
}
