"""Pins are obeyed: what a configuration decides is what the plan says and what is emitted, or it is refused."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.analysis.plans import plan_of
from kopt.dialects.tile import GridOp
from kopt.errors import ConfigError, KoptError, LoweringError
from kopt.parsing import parse_module
from kopt.plans.plan import Plan

pytest.importorskip("jax")


def matmul(x, y, scale):
    m, n = x.size(0), y.size(1)
    out = torch.empty([m, n], dtype=x.dtype)
    for i, j in hl.tile([m, n]):
        acc = hl.zeros([i, j])
        for k in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[i, k], y[k, j])
        out[i, j] = acc * scale[2]
    return out


def attention(q, k, v):
    out = torch.empty_like(q)
    for i in hl.tile(q.size(0)):
        top = hl.full([i], float("-inf"))
        total = hl.zeros([i])
        acc = hl.zeros([i, q.size(1)])
        for j in hl.tile(k.size(0)):
            scores = torch.matmul(q[i, :], k[j, :].transpose(0, 1))
            new = torch.maximum(top, torch.amax(scores, -1))
            powers = torch.exp(scores - new[:, None])
            kept = torch.exp(top - new)
            total = total * kept + powers.sum(-1)
            acc = torch.addmm(acc * kept[:, None], powers, v[j, :])
            top = new
        out[i, :] = acc / total[:, None]
    return out


def counted(x):
    out = torch.zeros([x.size(0)], dtype=torch.int32)
    for i in hl.tile(x.size(0)):
        hl.atomic_add(out, [i], torch.ones_like(x[i]).to(torch.int32))
    return out


def twice(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, :] + x[0, :]
    return out


SIZES = {"block_sizes": [64, 128, 128]}


def operands() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator) for shape in ((200, 384), (384, 256), (4,))]


def check(config: dict[str, Any], target: str) -> Plan:
    """The product is right with a configuration; its plan."""
    args = operands()
    low = kopt.kernel(matmul).lower(*args, target=target, config={**SIZES, **config})
    torch.testing.assert_close(low.compile()(*args), args[0] @ args[1] * args[2][2], rtol=1e-4, atol=1e-4)
    return plan_after(low)


def plan_after(low) -> Plan:
    """The plan of the only grid."""
    module = parse_module(dict(low.stages())["plan-accesses"])
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    plan = plan_of(grid)
    assert plan is not None
    return plan


def kinds(plan: Plan) -> dict[str, str]:
    return {access: plan.buffer(access).kind for access in plan.via}


TPU = "pallas:interpret"


# Where blocks stay while ``k`` is walked, those of ``y`` are more bytes: each comes once if ``j`` goes outside.
@pytest.mark.parametrize(
    ("config", "x", "y", "loop", "order"),
    [
        ({"loops": {"k": "resident"}}, "resident", "resident", "resident", ["b1", "b0"]),
        ({"loops": {"b2": "resident"}}, "resident", "resident", "resident", ["b1", "b0"]),
        ({"loops": {"k": "prefetch"}}, "prefetch", "prefetch", "prefetch", ["b0", "b1"]),
        ({"loops": {"k": "emit_pipeline"}}, "emit_pipeline", "emit_pipeline", "emit_pipeline", ["b0", "b1"]),
        ({"accesses": {"x": "resident"}}, "resident", "resident", "resident", ["b1", "b0"]),
        ({"accesses": {"x": "prefetch(k)"}}, "prefetch", "prefetch", "prefetch", ["b0", "b1"]),
        ({"accesses": {"x": "resident", "y": "prefetch"}}, "resident", "prefetch", "prefetch", ["b0", "b1"]),
        ({"accesses": {"x": "window(i)"}}, "window", "resident", "resident", ["b1", "b0"]),
        ({"accesses": {"x": "window(i, k) x2"}}, "window", "window", "grid", ["b0", "b1", "b2"]),
        ({"order": ["j", "i"]}, "window", "window", "grid", ["b1", "b0", "b2"]),
        ({"order": ["j"]}, "window", "window", "grid", ["b1", "b0", "b2"]),
        ({"order": ["j", "i", "k"]}, "window", "window", "grid", ["b1", "b0", "b2"]),
        ({"order": ["b1", "i"], "loops": {"k": "resident"}}, "resident", "resident", "resident", ["b1", "b0"]),
        ({"accesses": {"scale": "window"}}, "window", "window", "grid", ["b0", "b1", "b2"]),
    ],
)
def test_tpu(config: dict[str, Any], x: str, y: str, loop: str, order: list[str]) -> None:
    plan = check(config, TPU)
    assert (kinds(plan)["x"], kinds(plan)["y"], plan.loops["b2"].kind, [*plan.order]) == (x, y, loop, order)
    assert kinds(plan)["scale"] == config.get("accesses", {}).get("scale", "smem")


@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
@pytest.mark.parametrize("order", [*permutations("ij")])
def test_every_order(order: tuple[str, ...], target: str) -> None:
    if target.startswith("triton"):
        pytest.importorskip("triton")
    plan = check({"order": list(order)}, target)
    assert [*plan.order][:2] == [{"i": "b0", "j": "b1"}[name] for name in order]


def test_gpu() -> None:
    pytest.importorskip("triton")
    config = {"accesses": {"x": "pointer", "out": "pointer"}, "loops": {"k": "resident"}, "order": ["j", "i"]}
    plan = check(config, "triton:interpret")
    assert plan.order == ("b1", "b0") and plan.loops["b2"].kind == "resident"
    assert {*kinds(plan).values()} == {"pointer", "descriptor"}  # of y, which is not pinned


def test_order_of_odd_blocks_on_a_gpu() -> None:
    """An axis is its blocks' where these are no power of two."""
    pytest.importorskip("triton")
    plan = check({"block_sizes": [40, 128, 128], "order": ["j", "i"]}, "triton:interpret")
    assert plan.order == ("b1", "b0_block")


def test_the_reference_has_no_plan() -> None:
    """A configuration for a chip computes the same there."""
    args = operands()
    config = {**SIZES, "loops": {"k": "prefetch"}, "accesses": {"x": "prefetch"}, "order": ["j", "i"]}
    found = kopt.kernel(matmul).lower(*args, target="reference", config=config).compile()(*args)
    torch.testing.assert_close(found, args[0] @ args[1] * args[2][2], rtol=1e-4, atol=1e-4)


def test_stages_are_repeated_by_text() -> None:
    """The options of the pass, as text, make the plan that the configuration made."""
    config = {**SIZES, "accesses": {"x": "prefetch"}, "order": ["j", "i"]}
    stages = kopt.kernel(matmul).lower(*operands(), target="pallas:v6e", config=config).stages()
    names = [name for name, _ in stages]
    before, after = stages[names.index("plan-accesses") - 1][1], dict(stages)["plan-accesses"]
    module = parse_module(before)
    kopt.run_pipeline(module, 'plan-accesses{accesses="x = prefetch" order=j,i chip=v6e},verify-plan{chip=v6e}')
    assert str(module) == after


def test_tuning() -> None:
    """What a tuner does: every choice is tried; what cannot be is refused with a reason, the rest is right."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn([256, 128], generator=generator) for _ in range(3))
    expected = torch.softmax(q @ k.T, -1) @ v
    plans = set()
    for key, value, loop in product(("resident", "window", "prefetch", "smem"), ("resident", "window"), (None, "grid")):
        config: dict[str, Any] = {"accesses": {"k": key, "v": value}, "block_sizes": [128, 64]}
        try:
            pins = config if loop is None else {**config, "loops": {"j": loop}}
            low = kopt.kernel(attention).lower(q, k, v, target=TPU, config=pins)
        except KoptError as error:
            assert error.location is not None and error.location.file == __file__, error
            continue
        plan = plan_after(low)
        assert (kinds(plan)["k"], kinds(plan)["v"]) == (key, value)
        plans.add((key, value, plan.loops["b1"].kind))
        torch.testing.assert_close(low.compile()(q, k, v), expected, rtol=1e-4, atol=1e-4)
    assert len(plans) >= 5, plans


def test_sizes_are_chosen_beside_pins() -> None:
    low = kopt.kernel(attention).lower(*["f32[4096,128]"] * 3, target="pallas:v6e", config={"loops": {"j": "resident"}})
    plan = plan_after(low)
    assert plan.loops["b1"].kind == "resident" and kinds(plan)["k"] == "resident"


REFUSED = [
    (TPU, {"accesses": {"q": "window"}}, 31, "'accesses': no access is named 'q'; there are x, y, scale, out"),
    (TPU, {"accesses": {"x#1": "window"}}, 31, "no access is named 'x#1'"),
    (TPU, {"loops": {"q": "grid"}}, 31, "'loops': no loop is named 'q'; there are k, b2"),
    (TPU, {"loops": {"i": "grid"}}, 31, "no loop is named 'i'; there are k, b2"),
    (TPU, {"order": ["i", "q"]}, 31, "'order': no axis is named 'q'; there are i, b0, j, b1, k, b2"),
    (TPU, {"order": ["k", "i"]}, 31, r"\(k\) sums over visits: it is inside of all others"),
    (
        TPU,
        {"order": ["i", "k"], "loops": {"k": "resident"}},
        31,
        "the order has 'k', which is no dimension of the grid",
    ),
    (TPU, {"accesses": {"x": "smem"}}, 34, "'x' cannot stand in a buffer of kind 'smem' here: window"),
    (
        TPU,
        {"accesses": {"x": "rows"}},
        34,
        "'x' cannot stand in a buffer of kind 'rows' here: it is at no",
    ),
    (TPU, {"accesses": {"out": "row_loop"}}, 35, "'out' cannot stand in a buffer of kind 'row_loop' here: it is at no"),
    (TPU, {"accesses": {"x": "pointer"}}, 34, "a TPU has no buffers of kind 'pointer'; it has window, resident"),
    (TPU, {"accesses": {"x": "window(i, j)"}}, 34, r"the blocks of 'x' move with \(i\) as 'window' here, not"),
    (TPU, {"accesses": {"x": "window(q)"}}, 31, "no axis is named 'q'; there are i, b0"),
    (TPU, {"accesses": {"x": "window x3"}}, 34, "'x' has x2 as 'window' here: no Pallas code is made of x3 yet"),
    (TPU, {"accesses": {"out": "window accumulate(k)"}}, 35, "no Pallas code is made of '@out = %out .* accumulate"),
    (TPU, {"accesses": {"out": "prefetch"}}, 35, "'out' cannot stand in a buffer of kind 'prefetch' here: window"),
    (TPU, {"loops": {"k": "resident unroll 2"}}, 33, "the loop cannot be unrolled by 2: it has 3 visits"),
    (
        TPU,
        {"accesses": {"x": "prefetch"}, "loops": {"k": "grid"}},
        34,
        "'x' cannot stand in .* 'prefetch' here: window",
    ),
    ("triton:sm90", {"accesses": {"x": "window"}}, 34, "a GPU has no buffers of kind 'window'; it has pointer"),
    ("triton:sm80", {"accesses": {"x": "descriptor"}}, 34, "kind 'descriptor' here: sm80 has no tensor descriptors"),
    ("triton:sm90", {"accesses": {"x": "pointer vec 8"}}, 34, "no Triton code is made of '@x = %x pointer vec 8' yet"),
    (
        "triton:sm90",
        {"accesses": {"x": "atomic"}},
        34,
        "'x' cannot stand in a buffer of kind 'atomic' here: descriptor",
    ),
    ("triton:sm90", {"loops": {"k": "prefetch"}}, 33, "a GPU has no loops of schedule 'prefetch'; it has grid"),
    ("triton:sm90", {"loops": {"k": "grid"}}, 33, "no Triton code is made of a loop of schedule 'grid'"),
    ("triton:sm90", {"order": ["k", "i"]}, 31, "the order has 'k', which is no dimension of the grid"),
]


@pytest.mark.parametrize(("target", "config", "line", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_cannot_be_is_refused(target: str, config: dict[str, Any], line: int, message: str) -> None:
    """At the access, the loop or the grid in the source."""
    with pytest.raises((ConfigError, LoweringError), match=message) as caught:
        kopt.kernel(matmul).lower(*operands(), target=target, config={**SIZES, **config})
    where = caught.value.location
    assert where is not None and where.file == __file__
    first = matmul.__code__.co_firstlineno
    assert where.line - first == line - 28, (where.line, first)


def test_a_loop_that_prefetches_nothing_is_refused() -> None:
    """x is read outside of the loop too, so it is a window."""

    def sums(x):
        out = torch.empty([x.size(0)], dtype=x.dtype)
        for i in hl.tile(x.size(0)):
            acc = x[i, 0]
            for k in hl.tile(x.size(1)):
                acc = acc + x[i, k].sum(-1)
            out[i] = acc
        return out

    config = {"loops": {"k": "prefetch"}, "block_sizes": [8, 128]}
    with pytest.raises(ConfigError, match="the loop has nothing to prefetch"):
        kopt.kernel(sums).lower("f32[64,512]", target=TPU, config=config)


def test_updates_go_by_atomics_on_a_gpu() -> None:
    with pytest.raises(LoweringError, match="'out' cannot stand in a buffer of kind 'pointer' here: atomic"):
        kopt.kernel(counted).lower("f32[64]", target="triton:sm90", config={"accesses": {"out": "pointer"}})


def test_accesses_of_one_array_have_one_kind() -> None:
    """The second access of x is named by its id; one that is not named shares the buffer of the other."""
    config = {"accesses": {"x": "window", "x#1": "resident"}}
    with pytest.raises(LoweringError, match="'x' has buffers of several kinds: one serves all accesses of an array"):
        kopt.kernel(twice).lower("f32[64,128]", target="pallas:v6e", config=config)
    low = kopt.kernel(twice).lower("f32[64,128]", target="pallas:v6e", config={"accesses": {"x#1": "window"}})
    assert kinds(plan_after(low)) == {"x": "window", "x#1": "window", "out": "window"}
