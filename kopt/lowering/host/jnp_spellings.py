"""How torch operators are spelt in jnp: by ATen name, with the overload where overloads differ.

``{0}`` is the first positional argument, ``{dtype}`` and ``{shape}`` are the result's; ``{2:.0}`` prints nothing: what
that argument says shows in the result's type. An operator has several texts where some say more: the first is taken
whose arguments are all there and which leaves out none but ``None`` and ``[]``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: The most positional arguments that a text may name.
MOST = 8

#: Unary operators whose name is jnp's.
_SAME = (
    "exp exp2 expm1 log log2 log10 log1p sqrt abs sin cos tan tanh sinh cosh floor ceil trunc square isnan isinf "
    "isfinite logical_not"
).split()
_COMPARISONS = (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))
_HIGHEST = 'precision="highest"'


def _typed(*texts: str) -> tuple[str, ...]:
    """Expressions whose result has to be converted."""
    return tuple(f"({text}).astype({{dtype}})" for text in texts)


def _over(call: str, dims: str = "tuple({1})", then: str = "") -> tuple[str, str]:
    """A reduction of everything, and over dimensions; whether they stay shows in the result."""
    then += ".reshape({shape}){2:.0}{3:.0}"
    return f"{call}({{0}}){then}", f"{call}({{0}}, axis={dims}){then}"


def _summed(call: str, dims: str = "tuple({1})") -> tuple[str, str]:
    """The same, in the result's dtype."""
    then = "dtype={dtype}).reshape({shape}){2:.0}{3:.0}"
    return f"{call}({{0}}, {then}", f"{call}({{0}}, axis={dims}, {then}"


SPELLINGS: dict[str, tuple[str, ...]] = {
    "kopt.saturate_to_i32": ("jnp.clip({0}, -(2**31), 2**31 - 1).astype(jnp.int32){1:.0}",),
    **dict.fromkeys(("prims.convert_element_type", "_to_copy"), ("{0}.astype({dtype}){1:.0}",)),
    **dict.fromkeys(("clone", "alias", "detach"), ("{0}",)),
    **dict.fromkeys(("view", "reshape", "unsqueeze", "squeeze"), ("{0}.reshape({shape}){1:.0}",)),
    "permute": ("jnp.transpose({0}, {1})",),
    "t": ("{0}.T",),
    "expand": ("jnp.broadcast_to({0}, {shape}){1:.0}",),
    "full": ("jnp.full({shape}, {1}, {dtype}){0:.0}{2:.0}",),
    "full_like": ("jnp.full({shape}, {1}, {dtype}){0:.0}{2:.0}",),
    **dict.fromkeys(("zeros", "zeros_like"), ("jnp.zeros({shape}, {dtype}){0:.0}{1:.0}",)),
    **dict.fromkeys(("ones", "ones_like"), ("jnp.ones({shape}, {dtype}){0:.0}{1:.0}",)),
    "arange": ("jnp.arange({0}, dtype={dtype}){1:.0}",),
    "arange.start": ("jnp.arange({0}, {1}, dtype={dtype}){2:.0}",),
    "arange.start_step": ("jnp.arange({0}, {1}, {2}, dtype={dtype}){3:.0}",),
    "add": _typed("{0} + {1}", "{0} + {2} * {1}"),
    "sub": _typed("{0} - {1}", "{0} - {2} * {1}"),
    "rsub": _typed("{1} - {0}", "{1} - {2} * {0}"),
    "mul": _typed("{0} * {1}"),
    "div": _typed("{0} / {1}"),
    "remainder": _typed("{0} % {1}"),
    "neg": ("-{0}",),
    "clamp": ("jnp.clip({0}, {1})", "jnp.clip({0}, {1}, {2})"),
    **dict.fromkeys(("maximum", "clamp_min"), ("jnp.maximum({0}, {1})",)),
    **dict.fromkeys(("minimum", "clamp_max"), ("jnp.minimum({0}, {1})",)),
    "round": ("jnp.round({0})", "jnp.round({0}, {1})"),
    **{name: (f"jnp.arc{name[1:]}({{0}})",) for name in ("asin", "acos", "atan")},
    "erf": ("jax.lax.erf({0}.astype({dtype}))",),
    "rsqrt": ("jax.lax.rsqrt({0}.astype({dtype}))",),
    "reciprocal": _typed("1 / {0}"),
    "sigmoid": ("jax.nn.sigmoid({0}.astype({dtype}))",),
    "silu": ("jax.nn.silu({0})",),
    "relu": ("jnp.maximum({0}, 0)",),
    "_softmax": ("jax.nn.softmax({0}, axis={1}).astype({dtype}){2:.0}",),
    "_log_softmax": ("jax.nn.log_softmax({0}, axis={1}).astype({dtype}){2:.0}",),
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "matmul"), (f"jnp.matmul({{0}}, {{1}}, {_HIGHEST}).astype({{dtype}})",)),
    "addmm": _typed(
        f"{{0}} + jnp.matmul({{1}}, {{2}}, {_HIGHEST})",
        f"{{3}} * {{0}} + jnp.matmul({{1}}, {{2}}, {_HIGHEST})",
        f"{{3}} * {{0}} + {{4}} * jnp.matmul({{1}}, {{2}}, {_HIGHEST})",
    ),
    "tril": ("jnp.tril({0})", "jnp.tril({0}, {1})"),
    "triu": ("jnp.triu({0})", "jnp.triu({0}, {1})"),
    **{name: (f"{{0}} {sign} {{1}}",) for name, sign in _COMPARISONS},
    **{f"logical_{name}": (f"jnp.logical_{name}({{0}}, {{1}})",) for name in ("and", "or", "xor")},
    **{f"bitwise_{name}": (f"{{0}} {sign} {{1}}",) for name, sign in (("and", "&"), ("or", "|"), ("xor", "^"))},
    "bitwise_not": ("~{0}",),
    **dict.fromkeys(("bitwise_left_shift", "__lshift__"), ("{0} << {1}",)),
    **dict.fromkeys(("bitwise_right_shift", "__rshift__"), ("{0} >> {1}",)),
    "where": ("jnp.where({0}, {1}, {2})",),
    "cumsum": ("jnp.cumsum({0}, axis={1}, dtype={dtype}){2:.0}",),
    "cumprod": ("jnp.cumprod({0}, axis={1}, dtype={dtype}){2:.0}",),
    "sum": ("jnp.sum({0}, dtype={dtype}){1:.0}",),
    "sum.dim_IntList": _summed("jnp.sum"),
    "mean": ("jnp.mean({0}).astype({dtype}){1:.0}",),
    "mean.dim": _over("jnp.mean", then=".astype({dtype})"),
    "prod": ("jnp.prod({0}, dtype={dtype}){1:.0}",),
    "prod.dim_int": _summed("jnp.prod", "{1}")[1:],
    "linalg_vector_norm": (
        "jnp.linalg.vector_norm({0})",
        "jnp.linalg.vector_norm({0}, ord={1})",
        "jnp.linalg.vector_norm({0}, ord={1}, axis=tuple({2})).reshape({shape}){3:.0}",
        "jnp.linalg.vector_norm({0}, ord={1}).reshape({shape}){2:.0}{3:.0}",
    ),
    "amax": _over("jnp.max"),
    "amin": _over("jnp.min"),
    "max": ("jnp.max({0})",),
    "min": ("jnp.min({0})",),
    "max.other": ("jnp.maximum({0}, {1})",),
    "min.other": ("jnp.minimum({0}, {1})",),
    **{name: _over(f"jnp.{name}", "{1}") for name in ("any", "all")},
    **{name: _over(f"jnp.{name}", "{1}", ".astype({dtype})") for name in ("argmax", "argmin")},
    "any.dims": _over("jnp.any"),
    "all.dims": _over("jnp.all"),
    **{
        f"{name}.correction": tuple(
            f"jnp.{name}({{0}}, axis={dims}, ddof={ddof}).astype({{dtype}}).reshape({{shape}}){{3:.0}}"
            for dims, ddof in (
                ("tuple({1})", 1),
                ("tuple({1})", "{2}"),
                ("None", "{2}{1:.0}"),
                ("None", "1{1:.0}{2:.0}"),
            )
        )
        for name in ("var", "std")
    },
    "linspace": ("jnp.linspace({0}, {1}, {2}, dtype={dtype}){3:.0}",),
    "softplus": ("jnp.logaddexp({0}, 0)",),
    "leaky_relu": ("jnp.where({0} > 0, {0}, 0.01 * {0})", "jnp.where({0} > 0, {0}, {1} * {0})"),
    "lerp": _typed("{0} + {2} * ({1} - {0})"),
    "frac": ("{0} - jnp.trunc({0})",),
    "logsumexp": _over("jax.nn.logsumexp", then=".astype({dtype})")[1:],
    "count_nonzero": _typed("jnp.count_nonzero({0})", "jnp.count_nonzero({0}, axis={1})"),
    "count_nonzero.dim_IntList": ("jnp.count_nonzero({0}, axis=tuple({1})).astype({dtype})",),
    "masked_fill.Scalar": ("jnp.where({1}, jnp.full((), {2}, {dtype}), {0})",),
    "gelu": ("jax.nn.gelu({0}, approximate=False)", "jax.nn.gelu({0}, approximate={1} == 'tanh')"),
    **{name: (f"jnp.arc{name[1:]}({{0}})",) for name in ("asinh", "acosh", "atanh")},
    "eye": ("jnp.eye(*{shape}, dtype={dtype}){0:.0}",),
    "eye.m": ("jnp.eye(*{shape}, dtype={dtype}){0:.0}{1:.0}",),
    **dict.fromkeys(
        ("diagonal", "diagonal_copy"),
        tuple(f"jnp.diagonal({{0}}, {more})" for more in ("0, 0, 1", "{1}, 0, 1", "{1}, {2}, {3}")),
    ),
    "rot90": ("jnp.rot90({0})", "jnp.rot90({0}, {1})", "jnp.rot90({0}, {1}, tuple({2}))"),
    "unfold": (
        "jnp.moveaxis(jnp.take({0}, jnp.arange(0, {0}.shape[{1}] - {2} + 1, {3})[:, None] + jnp.arange({2}), "
        "axis={1}), {1} % {0}.ndim + 1, -1)",
    ),
    "embedding": ("jnp.take({0}, {1}, axis=0)",),
    "index_select": ("jnp.take({0}, {2}, axis={1})",),
    "stack": ("jnp.stack({0})", "jnp.stack({0}, axis={1})"),
    "flip": ("jnp.flip({0}, axis=tuple({1}))",),
    "roll": ("jnp.roll({0}, tuple({1}))", "jnp.roll({0}, tuple({1}), tuple({2}))"),
    "repeat": ("jnp.tile({0}, {1})",),
    "view.dtype": ("{0}.view({dtype}){1:.0}",),
    **{name: (f"jnp.{name}({{0}})",) for name in _SAME},
}


def _orders(call: str, then: str = "") -> tuple[str, ...]:
    """A sort, as torch's default and by dimension and order."""
    forms = (("-1", "False"), ("{1}", "False"), ("{1}", "{2}"))
    return tuple(f"jnp.{call}({{0}}, axis={dim}, stable=True, descending={order}){then}" for dim, order in forms)


def _greatest(call: str, then: str = "") -> tuple[str, ...]:
    """The first elements of a sort; torch does not say which of equal ones."""
    forms = (("-1", "True"), ("{2}", "True"), ("{2}", "{3}"), ("{2}", "{3}", "{4:.0}"))
    texts = [f"jnp.{call}({{0}}, axis={dim}, stable=True, descending={by})" for dim, by, *_ in forms]
    return tuple(
        f"jax.lax.slice_in_dim({text}, 0, {{1}}, axis={form[0]}){then}{''.join(form[2:])}"
        for form, text in zip(forms, texts, strict=True)
    )


_PLACES = ".astype({dtype})"
#: Operators of two results: the texts of each.
PAIRS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "sort": (_orders("sort"), _orders("argsort", _PLACES)),
    "topk": (_greatest("sort"), _greatest("argsort", _PLACES)),
    **{
        f"{name}.dim": (_over(f"jnp.{name}", "{1}")[1:], _over(f"jnp.arg{name}", "{1}", _PLACES)[1:])
        for name in ("max", "min")
    },
}


def spellings(name: str, arguments: Sequence[str], results: int) -> list[str] | None:
    """The texts of an operator's results for its arguments: by its name with its overload, else without."""
    short = name.removeprefix("aten.")
    plain = short.rpartition(".")[0]
    one = SPELLINGS.get(short) or SPELLINGS.get(plain, ())
    texts = (one,) if results == 1 else PAIRS.get(short) or PAIRS.get(plain, ())
    if not results or len(texts) != results:
        return None
    found = [next((text for text in each if _says(text, arguments)), None) for each in texts]
    return None if None in found else [text for text in found if text is not None]


def _says(text: str, arguments: Sequence[str]) -> bool:
    """Whether a text says all that arguments do, and has no dimensions that are left open."""
    listed = {int(number) for number in re.findall(r"tuple\({(\d)}\)", text)}
    needed = {int(number) for number in re.findall(r"{(\d)}", text)}
    named = {int(number) for number in re.findall(r"{(\d)[}:]", text)}
    given = {number for number, argument in enumerate(arguments) if argument not in ("None", "[]")}
    return needed <= set(range(len(arguments))) and listed <= given <= named
