"""What tells one open tile of a kernel from another: the instruction that asks for it."""

from __future__ import annotations

import dis

from kopt.eager.state import begin_of


def test_a_place_within_an_instruction_is_the_instructions() -> None:
    code = test_a_place_within_an_instruction_is_the_instructions.__code__
    begins = [one.offset for one in dis.get_instructions(code)]
    assert {begin_of(code, place) for place in range(0, len(code.co_code), 2)} == {*begins}
    assert all(begin_of(code, place) == place for place in begins)
