"""The operations of torch that kernels are promised, and how many of them work: data for a test and for the docs.

An operation works in a dtype on a target where every call of the table that names it does. Nothing here needs torch.
"""

from __future__ import annotations

from .table import GROUPS, Group, names_of, refusal

#: Each in f32, bf16 and i32, as far as torch has it.
DTYPES = ("f32", "bf16", "i32")
SHARE = 0.95
LISTED: dict[str, str] = {
    "arithmetic": """
    add sub mul div floor_divide neg maximum minimum fmod remainder pow abs sign round floor ceil trunc frac clamp lerp
    addcmul where eq ne lt le gt ge logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor
    bitwise_not bitwise_left_shift bitwise_right_shift
    """,
    "functions": """
    exp exp2 expm1 log log2 log1p sqrt rsqrt reciprocal sin cos tan tanh sigmoid relu silu gelu softplus erf nan_to_num
    isnan isinf
    """,
    "casts": "float half bfloat16 int long short char byte bool double to type",
    "reductions": """
    sum mean prod amax amin max min argmax argmin var var_mean std any all logsumexp softmax log_softmax norm
    """,
    "products": "matmul mm bmm addmm baddbmm einsum",
    "shapes": """
    view reshape transpose permute t squeeze unsqueeze expand broadcast_to expand_as flatten stack cat chunk split
    tensor_split unbind unflatten gather index_select take_along_dim pad flip repeat tile
    """,
    "scans and sorts": "cumsum cumprod sort topk",
    "creation": """
    zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full new_tensor arange tensor
    """,
}
#: What is listed too and has no values to compare, or no call at all.
WITHOUT_CALLS = {
    "empty": "unspecified elements",
    "empty_like": "unspecified elements",
    "new_empty": "unspecified elements",
    "rand": "by a seed of torch's generator",
    "randn": "by a seed of torch's generator",
    "nonzero": "the shape of its result depends on the data",
}


def names() -> list[str]:
    """All that is listed and has calls."""
    return [name for family in LISTED.values() for name in family.split()]


def calls_of(name: str) -> list[tuple[Group, str]]:
    """The calls of the table that name an operation, and their groups."""
    return [(group, call) for group in GROUPS for call in group.calls if name in names_of(call)]


def works(target: str, name: str, dtype: str) -> bool | None:
    """Whether all calls of an operation in a dtype work; None where the table has none."""
    calls = [call for group, call in calls_of(name) if dtype in group.dtypes]
    return all(refusal(target, call, dtype) is None for call in calls) if calls else None


def count(target: str, dtype: str) -> tuple[int, int]:
    """How many operations work, and of how many."""
    found = [answer for name in names() if (answer := works(target, name, dtype)) is not None]
    return sum(found), len(found)
