"""Element types by their names."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import bf16, f32, i32

from kopt.building.types import ElementLike, element_type
from kopt.errors import ArgumentError


@pytest.mark.parametrize(("name", "wanted"), [("bf16", bf16), ("i32", i32), (f32, f32)], ids=str)
def test_what_names_an_element_type(name: ElementLike, wanted: object) -> None:
    assert element_type(name) == wanted


@pytest.mark.parametrize(("name", "said"), [("bf61", "'bf61' is no dtype.*bf16"), ("", "'' is no dtype")])
def test_what_names_none(name: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        element_type(name)
