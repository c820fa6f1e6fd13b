"""How far apart the numbers are that loops compute, against what they are."""

from __future__ import annotations

import pytest
from xdsl.dialects import arith, test

import kopt
from kopt.frontend.distances import distance, linear
from test.named import only

TEXT = """
func.func @f(%n: index, %m: index) {{
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  {lines}
  "test.op"(%a, %b) : (index, index) -> ()
  func.return
}}
"""
CASES = [
    ("%a = arith.addi %n, %c3 : index\n%b = arith.addi %n, %c5 : index", 2),
    ("%a = arith.addi %n, %c5 : index\n%b = arith.addi %n, %c3 : index", -2),
    ("%a = arith.subi %n, %c3 : index\n%b = arith.subi %n, %c5 : index", -2),
    ("%a = arith.subi %n, %c3 : index\n%b = arith.addi %c5, %n : index", 8),
    ("%a = arith.subi %c5, %n : index\n%b = arith.subi %c3, %n : index", -2),
    ("%a = arith.muli %n, %c3 : index\n%c = arith.addi %n, %c5 : index\n%b = arith.muli %c3, %c : index", 15),
    ("%a = arith.muli %c0, %n : index\n%b = arith.addi %c3, %c5 : index", 8),
    ("%a = arith.subi %n, %m : index\n%b = arith.addi %a, %c5 : index", 5),
    ("%a = arith.subi %n, %m : index\n%b = arith.subi %m, %n : index", None),
    ("%a = arith.addi %n, %m : index\n%b = arith.subi %n, %m : index", None),
    ("%a = arith.subi %n, %c3 : index\n%b = arith.subi %c3, %n : index", None),
    ("%a = arith.muli %n, %m : index\n%c = arith.muli %n, %m : index\n%b = arith.addi %c, %c3 : index", 3),
    ("%a = arith.muli %n, %m : index\n%b = arith.muli %n, %n : index", None),
    ("%a = arith.muli %c3, %c5 : index\n%b = arith.muli %c5, %c5 : index", 10),
    (
        "%c = arith.addi %n, %c3 : index\n%d = arith.addi %c3, %n : index\n%a = arith.floordivsi %c, %c5 : index\n"
        "%e = arith.floordivsi %d, %c5 : index\n%b = arith.addi %e, %c3 : index",
        3,
    ),
    (
        "%c = arith.addi %n, %c3 : index\n%d = arith.addi %c5, %n : index\n%a = arith.floordivsi %c, %c5 : index\n"
        "%b = arith.floordivsi %d, %c5 : index",
        None,
    ),
    (
        "%c = arith.addi %n, %n : index\n%d = arith.muli %c3, %n : index\n%a = arith.remsi %c, %c5 : index\n"
        "%b = arith.remsi %d, %c5 : index",
        None,
    ),
    ("%a = arith.floordivsi %n, %c5 : index\n%b = arith.remsi %n, %c5 : index", None),
    ("%a = arith.remsi %n, %c5 : index\n%b = arith.remsi %n, %c3 : index", None),
    ("%a = arith.maxsi %n, %c5 : index\n%b = arith.maxsi %n, %c5 : index", None),
]


@pytest.mark.parametrize(("lines", "wanted"), CASES)
def test_how_far_apart(lines: str, wanted: int | None) -> None:
    op = only(kopt.parse(TEXT.format(lines=lines)), test.TestOp)
    assert distance(*op.operands) == wanted


def test_a_linear_form() -> None:
    """5 - 3 (n - 3) is 14 - 3 n."""
    lines = "%d = arith.subi %n, %c3 : index\n%e = arith.muli %d, %c3 : index\n%a = arith.subi %c5, %e : index"
    op = only(kopt.parse(TEXT.format(lines=lines).replace("%b", "%n")), test.TestOp)
    form = linear(op.operands[0])
    assert (form.constant, list(form.terms.values()), form.base) == (14, [-3], op.operands[1])
    assert isinstance(op.operands[0].owner, arith.SubiOp)
