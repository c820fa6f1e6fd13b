"""Launches written by hand, as models and as plans: matrix products, grouped products, attention."""

from kopt.ir.access_relation import AccessRelation
from kopt.ir.condition import TRUE
from kopt.ir.index_expr import IndexExpr, block_number, lane, number, symbol
from kopt.ir.launch_model import Axis, Factor, LaunchModel, ModelAccess, Operand, Work
from kopt.ir.polynomial import parameter
from kopt.ir.value_range import ValueRange
from kopt.plans.plan import Buffer, LoopSchedule, Plan

NATURAL = ValueRange(0)


def axis(tag, size, extent, form="grid", path=(), upper=None):
    """An axis of blocks of ``size`` from 0 on."""
    may = frozenset({"grid", "loop"})
    return Axis(tag, size, number(0), number(extent) if upper is None else upper, form, may, path)


def begin(tag, size) -> IndexExpr:
    """Where the block of an axis begins."""
    return block_number(tag, size, NATURAL) * size


def access(id, mode, operand, entries, path):
    """An access of blocks: an entry is ``(begin, lanes)``, or an expression for one element."""
    lanes, indices = [], []
    for entry in entries:
        if isinstance(entry, IndexExpr):
            indices.append(entry)
            continue
        indices.append(entry[0] + lane(len(lanes), entry[1]))
        lanes.append(entry[1])
    relation = AccessRelation(operand.shape, tuple(lanes), tuple(indices), TRUE, operand.bits)
    moves = frozenset(str(atom.name) for index in indices for atom in index.atoms() if hasattr(atom, "reach"))
    return ModelAccess(id, operand.name, mode, relation, ("",) * len(lanes), path, moves)


def operand(name, shape, written=False, bits=16, dtype="bf16"):
    return Operand(name, tuple(shape), dtype, bits, not written, written)


def operands(path, left, right, m, k, n):
    """The operands of a product that two loads bring."""
    return (Factor(path, "lhs", (m, k), 16, left), Factor(path, "rhs", (k, n), 16, right))


def matmul(m, k, n):
    """``o[i, j] = Σ x[i, k] y[k, j]`` in blocks of b0, b1, b2."""
    b0, b1, b2 = map(parameter, ("b0", "b1", "b2"))
    i, j, kk = (begin(tag, size) for tag, size in (("i", b0), ("j", b1), ("k", b2)))
    x, y, o = operand("x", (m, k)), operand("y", (k, n)), operand("o", (m, n), True)
    path = ("i", "j", "k")
    return LaunchModel(
        "matmul",
        (axis("i", b0, m), axis("j", b1, n), axis("k", b2, k, "loop", ("i", "j"))),
        (x, y, o),
        (
            access("x", "load", x, [(i, b0), (kk, b2)], path),
            access("y", "load", y, [(kk, b2), (j, b1)], path),
            access("o", "store", o, [(i, b0), (j, b1)], path[:2]),
        ),
        (Work("product", (("m", b0), ("k", b2), ("n", b1)), "bf16", path),),
        factors=operands(path, "x", "y", b0, b2, b1),
    )


def matmul_plan(kind="grid", order=("i", "j", "k")):
    """Its loop as a dimension of the grid, or in the kernel: resident, prefetch, emit_pipeline."""
    parallel = frozenset("ij")
    via = {name: name for name in "xyo"}
    if kind == "grid":
        x, y = Buffer("x", "x", "window", ("i", "k"), 2), Buffer("y", "y", "window", ("k", "j"), 2)
        o = Buffer("o", "o", "window", ("i", "j"), 2, options=(("accumulate", ("k",)),))
        return Plan(order, parallel, (x, y, o), via, {"k": LoopSchedule("grid")})
    if kind == "resident":
        x, y = Buffer("x", "x", "resident", ("i",), 2), Buffer("y", "y", "resident", ("j",), 2)
    else:
        x, y = (Buffer(name, name, kind, ("k",), 2) for name in "xy")
    order = tuple(tag for tag in order if tag != "k")
    return Plan(order, parallel, (x, y, Buffer("o", "o", "window", ("i", "j"), 2)), via, {"k": LoopSchedule(kind)})


def grouped(m, k, n, groups):
    """Rows of each group times its own matrix; the tiles of rows that groups touch are the jagged axis ``m``."""
    b0, b1, b2 = map(parameter, ("b0", "b1", "b2"))
    j, kk = begin("j", b1), begin("k", b2)
    rows = symbol("first", range=NATURAL) + begin("m", b0)
    x, w, o = operand("x", (m, k)), operand("w", (groups, k, n)), operand("o", (m, n), True)
    path = ("j", "g", "m", "k")
    return LaunchModel(
        "grouped",
        (
            axis("j", b1, n),
            axis("g", 1, groups),
            axis("m", b0, 0, "loop", ("g",), symbol("longest", range=NATURAL)),
            axis("k", b2, k, "loop", ("g", "m")),
        ),
        (x, w, o),
        (
            access("x", "load", x, [(rows, b0), (kk, b2)], path),
            access("w", "load", w, [block_number("g", 1, NATURAL), (kk, b2), (j, b1)], path),
            access("o", "store", o, [(rows, b0), (j, b1)], path[:3]),
        ),
        (Work("product", (("m", b0), ("k", b2), ("n", b1)), "bf16", path),),
        factors=operands(path, "x", "w", b0, b2, b1),
    )


def grouped_plan(parallel=(), zeroed=False):
    """All of its axes in the grid; prefetched numbers tell where the rows of a group begin."""
    x = Buffer("x", "x", "window", ("g", "m", "k"), 2, address="first")
    w = Buffer("w", "w", "window", ("g", "k", "j"), 2)
    o = Buffer("o", "o", "window", ("g", "m", "j"), 2, address="first")
    views = {"o": ("fill",)} if zeroed else {}
    return Plan(("j", "g", "m", "k"), frozenset(parallel), (x, w, o), {name: name for name in "xwo"}, views=views)


def attention(heads, queries, keys, depth, causal, values=None):
    """Softmax of ``q kᵀ`` times ``v``: blocks of b0 queries; keys come b1 at a time, and are worked on b2 at a time."""
    values = values or depth
    b0, b1, b2 = map(parameter, ("b0", "b1", "b2"))
    h, i, j = block_number("h", 1, NATURAL), begin("i", b0), begin("j", b1)
    upper = i + b0 if causal else number(keys)
    q, o = operand("q", (heads, queries, depth)), operand("o", (heads, queries, values), True)
    k, v = operand("k", (heads, keys, depth)), operand("v", (heads, keys, values))
    path, inner = ("h", "i", "j"), ("h", "i", "j", "c")
    scores = (("m", b0), ("n", b2))

    def work(unit, count):
        return Work(unit, scores, "f32", inner, count)

    return LaunchModel(
        "attention",
        (
            axis("h", 1, heads),
            axis("i", b0, queries),
            axis("j", b1, keys, "loop", ("h", "i"), upper),
            axis("c", b2, b1, "loop", ("h", "i", "j")),
        ),
        (q, k, v, o),
        (
            access("q", "load", q, [h, (i, b0), (number(0), depth)], path[:2]),
            access("k", "load", k, [h, (j, b1), (number(0), depth)], path),
            access("v", "load", v, [h, (j, b1), (number(0), values)], path),
            access("o", "store", o, [h, (i, b0), (number(0), values)], path[:2]),
        ),
        (
            Work("product", (("m", b0), ("k", depth), ("n", b2)), "bf16", inner),
            Work("product", (("m", b0), ("k", b2), ("n", values)), "bf16", inner),
            work("elementwise", 2),
            work("transcendental", 1),
            work("reduction", 2),
            Work("crossing", (("m", b0), ("", 1)), "f32", inner, 2),
        ),
    )


def attention_plan(permuted=()):
    """Its loop over keys as a dimension of the grid."""
    axes = {"q": ("h", "i"), "k": ("h", "j"), "v": ("h", "j"), "o": ("h", "i")}
    buffers = tuple(Buffer(name, name, "window", axes[name], 2) for name in axes)
    views = dict.fromkeys(permuted, ("permute",))
    return Plan(("h", "i", "j"), frozenset("hi"), buffers, {name: name for name in axes}, views=views)


def elementwise(extent, donated):
    """``o[i] = exp(x[i])`` in blocks of b0; where the result's array is ``donated`` its blocks come in too."""
    b0 = parameter("b0")
    x, o = (operand(name, (extent,), name == "o", 32, "f32") for name in "xo")
    entries = [(begin("i", b0), b0)]
    accesses = [access("x", "load", x, entries, ("i",)), access("o", "store", o, entries, ("i",))]
    accesses += [access("o#1", "load", o, entries, ("i",))] if donated else []
    work = Work("transcendental", (("b0", b0),), "f32", ("i",))
    model = LaunchModel("exp", (axis("i", b0, extent),), (x, o), tuple(accesses), (work,))
    buffers = tuple(Buffer(name, name, "window", ("i",), 2) for name in "xo")
    return model, Plan(("i",), frozenset("i"), buffers, {one.id: one.operand for one in accesses})
