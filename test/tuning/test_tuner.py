"""Tuning: what is searched, which candidates are looked at, what the table says."""

from __future__ import annotations

from typing import Any

import pytest

from kopt.errors import ConfigError
from kopt.tuning.results import Candidate, ranked
from kopt.tuning.tuner import EFFORTS, Effort
from test.tuning.kernels import StubChip, fresh, product, repeated, softmax

ROWS = "f32[512,1024]"
MATRIX = "bf16[1024,1024]"

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few candidates: each is lowered."""
    monkeypatch.setitem(EFFORTS, "quick", Effort(points=32_768, imports=4, compiled=3, schedules=1))


@pytest.mark.parametrize("target", ["pallas:v6e", "triton:sm90"])
def test_the_best_is_no_worse_than_the_default(target: str) -> None:
    """By the model: the default is a candidate. All were compiled."""
    result = product.tune(MATRIX, MATRIX, target=target)
    assert result.best.legal and result.default is not None
    assert result.best.predicted_ms <= 1.03 * result.default.predicted_ms
    assert result.counts["searched"] > 50 and result.counts["compiled"] == len(result.candidates) == 3
    low = product.lower(MATRIX, MATRIX, target=target, config=result.best.config)
    assert [*low.config.block_sizes] == result.best.config["block_sizes"]


def test_the_same_seed_finds_the_same() -> None:
    """A tuning is a function of its seed."""
    results = [product.tune(MATRIX, MATRIX, target="triton:sm90", seed=3) for _ in range(2)]
    assert [one.json for one in results[0].candidates] == [one.json for one in results[1].candidates]


def test_a_default_that_is_named_is_no_second_candidate() -> None:
    """A GPU's warps and stages by default, written out, are the same module."""
    result = product.tune(MATRIX, MATRIX, target="triton:sm90")
    sources = {
        product.lower(MATRIX, MATRIX, target="triton:sm90", config=one.config).source for one in result.candidates
    }
    assert len(sources) == len(result.candidates)


def test_effort_none_is_the_default() -> None:
    """Nothing is searched or compiled."""
    result = softmax.tune(ROWS, target="pallas:v6e", effort="none")
    (only,) = result.candidates
    assert only.origin == "default" and only.legal is None and result.best is only
    assert only.config["block_sizes"] == [*softmax.lower(ROWS, target="pallas:v6e").config.block_sizes]


def test_tunables_are_searched() -> None:
    """Each value of a kernel's own tunable is an import, and the model ranks them."""
    result = repeated.tune(ROWS, target="pallas:v6e")
    assert result.default.config == {"block_sizes": result.default.config["block_sizes"]}
    found = {one.config.get("steps", 8): one.predicted_ms for one in result.candidates}
    assert result.best.config.get("steps", 8) in (1, 2, 8) and len(found) > 1
    assert found[min(found)] <= found[max(found)]


def test_starts_are_candidates() -> None:
    """Known configurations, a kernel's own too, and the reason where one is refused."""
    own = fresh(softmax)._configured({"block_sizes": [64]})
    result = own.tune(ROWS, target="pallas:v6e", effort="none", start=[{"block_sizes": [32]}, {"block_sizes": [8, 8]}])
    starts = [one for one in result.candidates if one.origin == "start"]
    assert [one.config["block_sizes"] for one in starts] == [[64], [32], [8, 8]]
    assert starts[2].legal is False and "block_sizes has 2 entries for 1" in starts[2].reason


def test_no_legal_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table says why each failed, and there is nothing to keep."""
    monkeypatch.setenv("KOPT_TEST_COMPILER", "refuses")
    result = softmax.tune(ROWS, target="triton:sm90")
    assert result.best is None and result.counts["illegal"] == len(result.candidates) > 3
    assert str(result).count("too many registers") == len(result.candidates)
    assert "no legal configuration: the table says why each failed" in str(result)
    with pytest.raises(ConfigError, match="no configuration of 'softmax' is legal"):
        result.save()


def test_an_interrupt_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while candidates are compiled: the best of those that were looked at."""
    from kopt.tuning import tuner

    def interrupted(jobs: Any, pool: Any, said: Any) -> None:
        said(0, {"legal": True, "reason": None})
        raise KeyboardInterrupt

    monkeypatch.setattr(tuner, "compile_all", interrupted)
    result = softmax.tune(ROWS, target="triton:sm90")
    assert result.interrupted and result.best.legal and "interrupted" in str(result)


def test_a_chip_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the chip is here, wrong results are dropped and the fastest is the best; the model's error is said."""
    monkeypatch.setitem(EFFORTS, "quick", Effort(points=32_768, imports=1, compiled=5, schedules=0))

    def key(config: Any) -> tuple[Any, ...]:
        return tuple(config.block_sizes), config.num_warps

    def ms(config: Any) -> float:
        return 1.0 if key(config) == fastest else 2.0

    first = softmax.tune(ROWS, target="triton:sm90")
    *_, wrong, fastest = [(tuple(one.config["block_sizes"]), one.config.get("num_warps")) for one in first.candidates]
    assert wrong != fastest
    chip = StubChip(ms, lambda config: key(config) == wrong)
    result = softmax.tune(ROWS, target="triton:sm90", measurer=chip)
    assert result.best.measured_ms == 1.0 and (*result.best.config["block_sizes"],) == fastest[0]
    assert result.counts["wrong"] >= 1 and all(key(config) != wrong for config in chip.timed)
    reasons = [one.reason for one in result.candidates if one.config["block_sizes"] == [wrong]]
    assert all("result 0 is wrong" in reason for reason in reasons)
    pairs = [(one.predicted_ms, one.measured_ms) for one in result.candidates if one.measured_ms]
    mean = sum(abs(said / took - 1) for said, took in pairs) / len(pairs)
    assert result.model_error == pytest.approx(mean) and "the model is off by" in str(result)


def test_only_times_tell_what_caches_may_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eviction policies are tried where the chip is here, and not where it is not."""
    monkeypatch.setitem(EFFORTS, "quick", Effort(points=32_768, imports=1, compiled=5, schedules=1))
    policies = [one.config.get("load_eviction_policies") for one in softmax.tune(ROWS, target="triton:sm90").candidates]
    assert set(policies) == {None}
    chip = StubChip(lambda config: 1.0 if config.load_eviction_policies == "first" else 2.0, lambda config: False)
    result = softmax.tune(ROWS, target="triton:sm90", measurer=chip)
    assert result.best.config["load_eviction_policies"] == "first"
    assert {config.load_eviction_policies for config in chip.timed} == {None, "first", "last"}


def test_several_shapes() -> None:
    """One configuration for all, with what the worst loses, and each shape's own best."""
    shapes = [[ROWS], ["f32[4096,1024]"]]
    result = softmax.tune(shapes=shapes, target="pallas:v6e")
    assert list(result.table) == [("x: f32[512,1024]",), ("x: f32[4096,1024]",)]
    assert result.best.legal is not False and result.loss >= 0
    assert "for all shapes: block_sizes=" in str(result) and "<pre>" in result._repr_html_()


def test_ties_are_called_ties() -> None:
    """Within 3 %; of those the default is the best, and what spills comes last."""
    spilling = Candidate({"n": 3}, 0.9, legal=True, facts={"spill_bytes": 8})
    default = Candidate({"n": 2}, 1.02, legal=True, origin="default")
    others = [
        Candidate({"n": 1}, 1.0, legal=True),
        Candidate({"n": 4}, 1.04, legal=True),
        Candidate({"n": 5}, 0.1, legal=False),
    ]
    found = ranked([spilling, *others, default])
    assert [one.config["n"] for one in found] == [2, 1, 4, 3, 5]
    assert [one.config["n"] for one in found if one.tie] == [2, 1]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"effort": "much"}, "'effort' is one of none, quick, full, found 'much'"),
        ({"seed": -1}, "'seed' is a number from 0 on, found -1"),
        ({"target": "reference"}, "target 'reference' has no chip to tune for"),
    ],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    """Are errors at the kernel."""
    with pytest.raises(ConfigError, match=message) as caught:
        softmax.tune(ROWS, **{"target": "pallas:v6e", **options})
    assert caught.value.location is not None
