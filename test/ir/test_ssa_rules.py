"""Rules of operations against NumPy: of all pairs of 8-bit numbers the form is the result, or its range has it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

from kopt import parse
from kopt.dialects.tile import BroadcastOp, ReshapeOp, TransposeOp
from kopt.ir.atoms import Symbol
from kopt.ir.condition import Condition, Named
from kopt.ir.evaluation import Evaluation
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr, symbol
from kopt.ir.rewriting import Rewriting
from kopt.ir.ssa_rules import RULES, places
from kopt.ir.value_range import ValueRange
from test.named import named

ANY, NATURAL, POSITIVE = range(-128, 128), range(128), range(1, 128)
#: Numbers of one operand: an argument that may be any of them; a constant.
Operand = range | int


def truncdiv(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def rem(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a - truncdiv(a, b) * b


NUMPY: dict[str, Callable] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "floordiv": np.floor_divide,
    "mod": np.mod,
    "truncdiv": truncdiv,
    "rem": rem,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": np.left_shift,
    "shr": np.right_shift,
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}


class Checked:
    """A value of a text whose arguments ``%a`` and ``%b`` are all pairs of some numbers."""

    def __init__(self, text: str, *operands: Operand, result: str = "r"):
        values, assumed = named(parse(text)), {}
        self.arrays: dict[Hashable, Any] = {}
        numbers = [np.arange(one.start, one.stop) if isinstance(one, range) else np.array([one]) for one in operands]
        self.operands, dims = np.ix_(*numbers), {}
        for dim, (name, one, array) in enumerate(zip("ab", operands, numbers, strict=False)):
            if isinstance(one, range):
                assumed[values[name]] = ValueRange(one.start, one.stop - 1)
                self.arrays[values[name]], dims[values[name]] = array, dim
        self.spread = Rewriting(lambda atom: symbol(atom.name, [dims[atom.name]]) if isinstance(atom, Symbol) else None)
        self.value, self.analysis = values[result], IndexAnalysis(assumed)

    @property
    def is_known(self) -> bool:
        """Whether it is more than its own name."""
        form = self.analysis._form(self.value)
        own = form.atom if isinstance(form, IndexExpr) else form
        return not (isinstance(own, Symbol | Named) and own.name is self.value)

    def check(self, wanted: np.ndarray, where: np.ndarray | bool = True) -> None:
        """That the form has these numbers, or its range holds them; ``where`` these are defined."""
        form = self.analysis._form(self.value)
        if self.is_known:
            evaluation, spread = Evaluation(self.arrays, wanted.shape), self.spread
            if isinstance(form, Condition):
                found = evaluation.condition(spread.condition(form))
            else:
                found = evaluation.expr(spread.expr(form))
            assert (np.broadcast_to(found, wanted.shape) == wanted)[np.broadcast_to(where, wanted.shape)].all(), form
        if isinstance(form, IndexExpr):
            assert all(int(number) in form.range for number in np.unique(wanted[np.broadcast_to(where, wanted.shape)]))


def as_i8(value: np.ndarray) -> np.ndarray:
    return value if value.dtype == bool else value.astype(np.int8).astype(np.int64)


def text_of(name: str, a: Operand, b: Operand) -> str:
    """One elementwise operation of the ``tile`` dialect."""
    lines = [f"%{n} = tile.full {one} : !tile.tile<i8>" for n, one in (("a", a), ("b", b)) if isinstance(one, int)]
    arguments = ", ".join(f"%{n}: !tile.tile<i8>" for n, one in (("a", a), ("b", b)) if isinstance(one, range))
    body = "\n".join([*lines, f"%r = tile.{name} %a, %b : !tile.tile<i8>"])
    return f"func.func @f({arguments}) {{\n{body}\nfunc.return\n}}"


@pytest.mark.parametrize(
    ("name", "a", "b", "known"),
    [
        ("add", ANY, ANY, True),
        ("sub", ANY, ANY, True),
        ("mul", ANY, 5, True),
        ("mul", ANY, -3, True),
        ("mul", ANY, ANY, False),
        ("mul", range(12), range(11), False),
        ("mul", NATURAL, NATURAL, False),
        ("mul", POSITIVE, range(100), False),
        ("floordiv", ANY, ANY, True),
        ("floordiv", ANY, 7, True),
        ("mod", ANY, ANY, True),
        ("mod", ANY, 8, True),
        ("truncdiv", NATURAL, POSITIVE, True),
        ("truncdiv", NATURAL, ANY, False),
        ("truncdiv", ANY, POSITIVE, False),
        ("truncdiv", ANY, 4, False),
        ("truncdiv", ANY, -4, False),
        ("rem", NATURAL, POSITIVE, True),
        ("rem", ANY, POSITIVE, False),
        ("rem", ANY, -4, False),
        ("maximum", ANY, ANY, True),
        ("minimum", ANY, 3, True),
        ("and", ANY, 0, True),
        ("and", ANY, 7, True),
        ("and", 31, ANY, True),
        ("and", ANY, -8, True),
        ("and", ANY, -1, True),
        ("and", ANY, -128, True),
        ("and", ANY, 5, False),
        ("and", ANY, -6, False),
        ("and", ANY, ANY, False),
        ("and", NATURAL, ANY, False),
        ("or", range(8), 8, True),
        ("or", range(9), 8, False),
        ("or", range(-8, 8), 8, False),
        ("or", ANY, ANY, False),
        ("xor", range(8), -8, True),
        ("xor", 16, range(16), True),
        ("xor", ANY, ANY, False),
        ("shl", ANY, 0, True),
        ("shl", ANY, 3, True),
        ("shl", ANY, range(8), False),
        ("shl", ANY, 70, False),
        ("shl", ANY, -1, False),
        ("shr", ANY, 3, True),
        ("shr", ANY, range(8), False),
        ("shr", ANY, 70, False),
        ("shr", ANY, -1, False),
        ("eq", ANY, ANY, True),
        ("ne", ANY, 5, True),
        ("lt", ANY, ANY, True),
        ("le", ANY, ANY, True),
        ("gt", 5, ANY, True),
        ("ge", ANY, NATURAL, True),
    ],
)
def test_operations_on_two_numbers(name: str, a: Operand, b: Operand, known: bool) -> None:
    checked = Checked(text_of(name, a, b), a, b)
    first, second = checked.operands
    divides = name in ("floordiv", "mod", "truncdiv", "rem")
    where = (second != 0) & ((first != -128) | (second != -1)) if divides else True
    with np.errstate(all="ignore"):
        wanted = as_i8(NUMPY[name](*np.broadcast_arrays(first, second)))
    assert checked.is_known is known
    checked.check(wanted, where)


@pytest.mark.parametrize(
    ("name", "wanted"), [("neg", np.negative), ("abs", np.abs), ("not", np.invert), ("sign", np.sign)]
)
@pytest.mark.parametrize("a", [ANY, NATURAL, range(-128, 0)])
def test_operations_on_one_number(name: str, wanted: Callable, a: range) -> None:
    """-128 wraps to itself; what no rule knows may be any number of the type."""
    text = f"func.func @f(%a: !tile.tile<i8>) {{\n%r = tile.{name} %a : !tile.tile<i8>\nfunc.return\n}}"
    checked = Checked(text, a)
    assert checked.is_known is (name != "sign")
    checked.check(as_i8(wanted(checked.operands[0])))


def test_sums_of_disjoint_bits_only() -> None:
    """Beside a multiple of 4, whatever it is, two low bits are disjoint, and three are not."""
    text = """func.func @f(%a: !tile.tile<i8>, %b: !tile.tile<i8>) {{
      %four = tile.full 4 : !tile.tile<i8>
      %high = tile.mul %a, %four : !tile.tile<i8>
      %r = tile.{name} %b, %high : !tile.tile<i8>
      func.return
    }}"""
    for name in ("or", "xor"):
        for bits in (2, 3):
            checked = Checked(text.format(name=name), range(-32, 32), range(1 << bits))
            assert checked.is_known is (bits == 2)
            a, b = checked.operands
            checked.check(as_i8(NUMPY[name](b, a * 4)))


TRUTHS = """func.func @f(%a: !tile.tile<i8>, %b: !tile.tile<i8>) {{
  %zero = tile.full 0 : !tile.tile<i8>
  %p = tile.lt %a, %zero : !tile.tile<i8>
  %q = tile.eq %a, %b : !tile.tile<i8>
  %t = tile.full 1 : !tile.tile<i1>
  {line}
  func.return
}}"""


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("%r = tile.not %q : !tile.tile<i1>", lambda a, b: a != b),
        ("%r = tile.and %p, %q : !tile.tile<i1>", lambda a, b: (a < 0) & (a == b)),
        ("%r = tile.or %p, %q : !tile.tile<i1>", lambda a, b: (a < 0) | (a == b)),
        ("%r = tile.and %p, %t : !tile.tile<i1>", lambda a, b: a < 0),
        ("%r = tile.select %p, %a, %b : !tile.tile<i8>", lambda a, b: np.where(a < 0, a, b)),
        ("%r = tile.select %p, %q, %t : !tile.tile<i1>", lambda a, b: np.where(a < 0, a == b, True)),
        ("%r = tile.cast %q : !tile.tile<i1> to !tile.tile<i8>", lambda a, b: (a == b) * 1),
        ("%r = tile.cast %a : !tile.tile<i8> to !tile.tile<i1>", lambda a, b: a != 0),
        ("%r = tile.cast %a : !tile.tile<i8> to !tile.tile<i32>", lambda a, b: a),
        ("%r = tile.cast %a : !tile.tile<i8> to !tile.tile<i4>", lambda a, b: (a + 8) % 16 - 8),
        ("%r = tile.cast %a : !tile.tile<i8> to !tile.tile<ui8>", lambda a, b: a % 256),
        ("%r = tile.extract %a : !tile.tile<i8> to index", lambda a, b: a),
        ("%r = tile.extract %q : !tile.tile<i1> to i1", lambda a, b: a == b),
    ],
)
def test_truths_choices_and_casts(line: str, wanted: Callable) -> None:
    checked = Checked(TRUTHS.format(line=line), ANY, ANY)
    assert checked.is_known
    checked.check(np.broadcast_arrays(wanted(*checked.operands), checked.operands[0] + checked.operands[1])[0])


def test_exclusive_truths_keep_their_name() -> None:
    checked = Checked(TRUTHS.format(line="%r = tile.xor %p, %q : !tile.tile<i1>"), ANY, ANY)
    assert checked.analysis.condition(checked.value) == Named(checked.value)


def unsigned(op: Callable) -> Callable:
    return lambda a, b: op(a % 256, b % 256)


SCALARS: Mapping[str, Callable] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "floordivsi": np.floor_divide,
    "ceildivsi": lambda a, b: -(-a // b),
    "divsi": truncdiv,
    "remsi": rem,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "divui": unsigned(np.floor_divide),
    "ceildivui": unsigned(lambda a, b: -(-a // b)),
    "remui": unsigned(np.mod),
    "minui": unsigned(np.minimum),
    "maxui": unsigned(np.maximum),
    **{f"cmpi {name}": getattr(operator, name) for name in ("eq", "ne")},
    **{f"cmpi s{name}": getattr(operator, name) for name in ("lt", "le", "gt", "ge")},
    **{f"cmpi u{name}": unsigned(getattr(operator, name)) for name in ("lt", "le", "gt", "ge")},
}
#: What needs numbers that are not below 0, to be more than a range.
_OF_NATURALS = ("divsi", "remsi", "divui", "ceildivui", "remui", "minui", "maxui")
_OF_NATURALS += ("cmpi ult", "cmpi ule", "cmpi ugt", "cmpi uge")
_BY_NUMBER = ("muli", "andi", "ori", "xori")


@pytest.mark.parametrize(
    ("name", "operand"),
    [(name, operand) for name in SCALARS for operand in (ANY, NATURAL, POSITIVE)],
)
def test_scalars(name: str, operand: range) -> None:
    op = name + ("," if name.startswith("cmpi") else "")
    checked = Checked(
        f"func.func @f(%a: i8, %b: i8) {{\n%r = arith.{op} %a, %b : i8\nfunc.return\n}}", operand, operand
    )
    a, b = checked.operands
    divides = "div" in name or "rem" in name
    with np.errstate(all="ignore"):
        wanted = as_i8(SCALARS[name](*np.broadcast_arrays(a, b)))
    checked.check(wanted, (b != 0) & ((a != -128) | (b != -1)) if divides else True)
    needs = POSITIVE if name in ("divsi", "remsi") else NATURAL
    assert checked.is_known is (name not in _BY_NUMBER and (name not in _OF_NATURALS or operand.start >= needs.start))


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("%r = arith.extsi %a : i8 to i32", lambda a: a),
        ("%r = arith.extui %a : i8 to i32", lambda a: a % 256),
        ("%r = arith.index_cast %a : i8 to index", lambda a: a),
        ("%r = arith.trunci %a : i8 to i4", lambda a: (a + 8) % 16 - 8),
        ("%r = arith.extsi %p : i1 to i32", lambda a: np.where(a < 5, -1, 0)),
        ("%r = arith.extui %p : i1 to i32", lambda a: np.where(a < 5, 1, 0)),
        ("%r = arith.select %p, %a, %five : i8", lambda a: np.minimum(a, 5)),
        ("%r = arith.addi %five, %five : i8", lambda a: np.full(a.shape, 10)),
        ("%r = arith.shli %a, %five : i8", lambda a: as_i8(a << 5)),
        ("%r = arith.shrsi %a, %five : i8", lambda a: a >> 5),
        ("%r = tile.splat %a : i8 to !tile.tile<i8>", lambda a: a),
    ],
)
def test_scalars_in_other_types(line: str, wanted: Callable) -> None:
    text = f"""func.func @f(%a: i8) {{
      %five = arith.constant 5 : i8
      %p = arith.cmpi slt, %a, %five : i8
      {line}
      func.return
    }}"""
    checked = Checked(text, ANY)
    assert checked.is_known
    checked.check(wanted(checked.operands[0]))


def test_shifts_of_unsigned_bits() -> None:
    """They are those of signed ones where nothing is below 0."""
    text = """func.func @f(%a: i8) {
      %two = arith.constant 2 : i8
      %r = arith.shrui %a, %two : i8
      func.return
    }"""
    natural, any = Checked(text, NATURAL), Checked(text, ANY)
    natural.check(natural.operands[0] >> 2)
    any.check(as_i8((any.operands[0] % 256) >> 2))
    assert natural.is_known and not any.is_known


SHAPES = """func.func @f(%x: !tile.tile<4 x 6 x i32>, %y: !tile.tile<6 x i32>, %m: !tile.tile<4 x 6 x i1>, %n: index) {{
  {line}
  func.return
}}"""
X, Y, M = np.arange(24).reshape(4, 6) * 7 % 5, np.arange(6) * 11 % 7, np.arange(24).reshape(4, 6) % 5 == 2


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("%r = tile.arange -3, 2 : !tile.tile<5 x i32>", np.arange(-3, 7, 2)),
        ("%r = tile.full 9 : !tile.tile<2 x 3 x i32>", np.full((2, 3), 9)),
        ("%r = tile.full 0 : !tile.tile<2 x 3 x i1>", np.zeros((2, 3), bool)),
        ("%r = tile.transpose %x [1, 0] : !tile.tile<4 x 6 x i32>", X.T),
        ("%r = tile.transpose %m [1, 0] : !tile.tile<4 x 6 x i1>", M.T),
        ("%r = tile.broadcast %y dims [1] : !tile.tile<6 x i32> to !tile.tile<3 x 6 x i32>", np.stack([Y] * 3)),
        ("%r = tile.broadcast %y dims [0] : !tile.tile<6 x i32> to !tile.tile<6 x 2 x i32>", np.stack([Y] * 2, 1)),
        ("%r = tile.reshape %y : !tile.tile<6 x i32> to !tile.tile<6 x 1 x i32>", Y[:, None]),
        ("%r = tile.reshape %x : !tile.tile<4 x 6 x i32> to !tile.tile<24 x i32>", X.reshape(24)),
        ("%r = tile.reshape %x : !tile.tile<4 x 6 x i32> to !tile.tile<3 x 8 x i32>", X.reshape(3, 8)),
        ("%r = tile.reshape %y : !tile.tile<6 x i32> to !tile.tile<2 x 1 x 3 x i32>", Y.reshape(2, 1, 3)),
        ("%r = tile.slice %x [1, 0] [2, 3] [2, 2] : !tile.tile<4 x 6 x i32> to !tile.tile<2 x 3 x i32>", X[1::2, ::2]),
        ("%r = tile.slice %x [0, 5] [4, 1] [1, 1] : !tile.tile<4 x 6 x i32> to !tile.tile<4 x 1 x i32>", X[:, 5:]),
        ("%r = tile.dynamic_slice %x from %n dim 1 : !tile.tile<4 x 6 x i32> to !tile.tile<4 x 2 x i32>", X[:, 3:5]),
    ],
)
def test_shapes(line: str, wanted: np.ndarray) -> None:
    """Lanes come from where NumPy takes them; the dynamic offset is 3."""
    values = named(parse(SHAPES.format(line=line)))
    arrays = {values["x"]: X, values["y"]: Y, values["m"]: M, values["n"]: 3}
    evaluation, form = Evaluation(arrays, wanted.shape), IndexAnalysis()._form(values["r"])
    found = evaluation.condition(form) if isinstance(form, Condition) else evaluation.expr(form)
    assert (np.broadcast_to(found, wanted.shape) == wanted).all()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("%r = tile.transpose %z [2, 0, 1] : !tile.tile<4 x 1 x 6 x i32>", {0: 1, 2: 0}),
        ("%r = tile.broadcast %y dims [2] : !tile.tile<6 x i32> to !tile.tile<2 x 3 x 6 x i32>", {0: 2}),
        ("%r = tile.reshape %z : !tile.tile<4 x 1 x 6 x i32> to !tile.tile<4 x 6 x i32>", {0: 0, 2: 1}),
        ("%r = tile.reshape %z : !tile.tile<4 x 1 x 6 x i32> to !tile.tile<1 x 4 x 6 x 1 x i32>", {0: 1, 2: 2}),
        ("%r = tile.reshape %z : !tile.tile<4 x 1 x 6 x i32> to !tile.tile<24 x i32>", None),
        ("%r = tile.reshape %z : !tile.tile<4 x 1 x 6 x i32> to !tile.tile<6 x 4 x i32>", None),
    ],
)
def test_places(line: str, wanted: dict[int, int] | None) -> None:
    """Each dimension of more than one lane by where it goes; None where rows are cut or joined."""
    values: dict[str, SSAValue] = named(
        parse(f"func.func @f(%y: !tile.tile<6 x i32>, %z: !tile.tile<4 x 1 x 6 x i32>) {{\n{line}\nfunc.return\n}}")
    )
    op = values["r"].owner
    assert isinstance(op, BroadcastOp | ReshapeOp | TransposeOp)
    assert places(op) == wanted


def test_every_rule_gives_what_the_analysis_asks_for() -> None:
    """Rules are asked by the class of an op, and say nothing of floats."""
    values = named(parse("func.func @f(%a: !tile.tile<f32>) {\n%r = tile.neg %a : !tile.tile<f32>\nfunc.return\n}"))
    op = values["r"].owner
    assert RULES[type(op)](IndexAnalysis(), op) is None


def test_sizes_of_blocks() -> None:
    """Of a block whose size is open a parameter: a bound by blocks is known for each size."""
    module = parse("""
        func.func @f(%o: memref<256xf32>) {
          tile.grid (%i: b0=64) in (256) {
            %number = tile.id %i : !tile.range<b0=64>
            %size = tile.block_size %i : !tile.range<b0=64>
            %begin = arith.muli %number, %size : index
          }
          func.return
        }""")
    values = named(module)
    assert IndexAnalysis().expr(values["size"]).number == 64
    open = IndexAnalysis(open_tags=["b0"])
    assert open.expr(values["size"]).const == open.size(values["i"])
    assert open.expr(values["begin"]) == open.begin(values["i"])
