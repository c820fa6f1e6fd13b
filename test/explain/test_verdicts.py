"""Verdicts on passes, as translation validation gives them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kopt.errors import ConfigError, LoweringError
from kopt.explain import Asked, Compile, explanation
from kopt.explain.verdicts import verdicts_of


def _lowered(verify) -> SimpleNamespace:
    stages = [(name, "") for name in ("import", "a", "cse", "b", "cse")]
    return SimpleNamespace(stages=lambda: stages, verify=verify)


def test_each_pass_has_its_own():
    verdicts = [
        SimpleNamespace(state="same", meaning="exact", reason=""),
        SimpleNamespace(state="not run", meaning="reassociates", reason="it has two ranks"),
    ]
    found = verdicts_of(_lowered(lambda: SimpleNamespace(verdicts=verdicts)))
    assert found == [
        {"status": "same", "text": "same (exact)"},
        {"status": "not run", "text": "not run (reassociates): it has two ranks"},
    ]


@pytest.mark.parametrize("name, places", [("b", [2]), ("cse", [1, 3])])
def test_a_wrong_pass_is_named(name: str, places: list[int]):
    def verify():
        error = LoweringError("it changed x[3]", notes=["on ordinary floats"])
        error.pass_name = name  # pyright: ignore[reportAttributeAccessIssue]
        raise error

    found = verdicts_of(_lowered(verify))
    assert [number for number, one in enumerate(found) if one is not None] == places
    (text, *_) = [one["text"] for one in found if one is not None]
    assert text.endswith("it changed x[3]\nnote: on ordinary floats") and ("one of" in text) == (name == "cse")


def test_without_validation_there_are_none():
    with pytest.raises(ConfigError, match="no validation"):
        verdicts_of(SimpleNamespace())


def test_verdicts_stand_at_their_passes(lowered):
    low = lowered("softmax")
    given = [{"status": "same", "text": name} for name, _ in low.stages()[1:]]
    data = explanation(Compile.of(low), Asked(values=False, verdicts=given))
    assert [stage["verdict"]["text"] for stage in data["stages"][1:]] == [stage["name"] for stage in data["stages"][1:]]
    assert data["stages"][0]["verdict"] is None
