"""What IR can call: functional operators of torch on every target, and Python code only where it is allowed."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import kopt
from kopt.dialects.host.operators import KEYWORDS, operators
from kopt.dialects.host.out_forms import OUT_FORMS
from kopt.errors import LoweringError, ParseError, VerifyError
from kopt.interpreter.aten import ATEN
from kopt.lowering import emit
from kopt.lowering.host.jnp_spellings import PAIRS, SPELLINGS

CALL = """
func.func @f(%x: memref<4xf32>) -> memref<4xf32> {{
  %y = host.call "{callee}"(%x) args {args} {keywords} : (memref<4xf32>) -> (memref<4xf32>)
  func.return %y : memref<4xf32>
}}
"""
INLINE = r"""
func.func @f(%x: memref<64xf32>) -> memref<64xf32> {
  %out = host.alloc : memref<64xf32>
  tile.grid (%i: b0=32) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=32 x f32>
    %w = triton.inline "NAME"(%v) functions = {NAME = "(x):\n    return x + 1"}
      : (!tile.tile<b0=32 x f32>) -> (!tile.tile<b0=32 x f32>)
    tile.store %w, %out[%i] : !tile.tile<b0=32 x f32>, memref<64xf32>
  }
  func.return %out : memref<64xf32>
}
"""


def call(callee: str = "aten.exp.default", args: str = "[unit]", keywords: str = "") -> str:
    return CALL.format(callee=callee, args=args, keywords=keywords)


@pytest.mark.parametrize(
    "callee",
    [
        "load_library", "os.system", "aten.from_file.default", "aten.exp_.default", "aten.exp.out", "aten.set_.default",
        "aten.exp", "aten.exp.default.__call__", "aten", "", "_classes.x.y", "aten.__class__.default", "quantized.add",
        "aten.save.default", "inductor.x.default", "aten.exp.default\n", "symm_mem.one_shot_all_reduce.default",
        "prims.device_put.default", "profiler._record_function_enter.default", "aten." + "x" * 100_000,
    ],
)  # fmt: skip
def test_other_callees_are_refused_at_their_place(callee: str) -> None:
    with pytest.raises((VerifyError, ParseError), match=r"^<string>:3:\d+: error: ") as refused:
        kopt.parse(call(callee.replace("\n", "\\n")))
    assert len(str(refused.value)) < 1000 + 2 * len(callee)


@pytest.mark.parametrize(
    "keywords",
    ['{keywords = ["out"]}', '{keywords = ["device"]}', '{keywords = ["a)(b"]}', '{keywords = ["dtype", "dtype"]}',
     "{keywords = [1]}", "{keywords = 3}", '{keywords = ["dtype", "alpha"]}', '{keywords = ["x=open(1), dtype"]}'],
)  # fmt: skip
def test_other_keywords_are_refused(keywords: str) -> None:
    with pytest.raises(VerifyError, match=r"^<string>:3:\d+: error: "):
        kopt.parse(call(keywords=keywords))


@pytest.mark.parametrize(
    "args", ["[unit, f32]", "[unit, @symbol]", "[unit, {a = 1}]", "[[unit, [i32]]]", "[unit, unit]"]
)
def test_arguments_are_literals(args: str) -> None:
    with pytest.raises(VerifyError, match=r"^<string>:3:\d+: error: "):
        kopt.parse(call(args=args))


@pytest.mark.parametrize("text", ['x"); open("pwned', "__import__('os')", "\\n\\nimport os\\n", "{0}{x}"])
@pytest.mark.parametrize("family", ["torch", "jax"])
def test_strings_stay_strings(text: str, family: str) -> None:
    module = kopt.parse(call("aten._to_copy.default", f'[unit, "{text}"]'.replace('"); open("', "'); open('")))
    compile(emit(module, "f", family), "emitted", "exec")
    assert not re.search(r"^\s*(open|import os)\b", emit(module, "f", family), re.M)


def test_the_operators_are_torchs_functional_ones() -> None:
    for name in operators():
        namespace, *rest = name.split(".")
        if namespace == "kopt":
            continue
        schema = getattr(getattr(getattr(torch.ops, namespace), rest[0]), rest[1])._schema
        assert not schema.is_mutable, name
        assert all("file" not in argument.name for argument in schema.arguments), name


def test_what_targets_know_may_be_called() -> None:
    names = {name.removeprefix("aten.").rpartition(".")[0] for name in operators()} | operators()
    overloads = {name.removeprefix("aten.") for name in operators()}
    assert {name.removesuffix(".default") for name in ATEN} <= names | overloads | {"prims.convert_element_type"}
    spelt = {*SPELLINGS, *PAIRS}
    assert all(name in names or name in overloads or name == "prims.convert_element_type" for name in spelt)
    assert set(OUT_FORMS) <= operators()
    assert "out" not in KEYWORDS and "device" not in KEYWORDS


@pytest.mark.parametrize("target", ["triton:interpret", "triton:sm90"])
def test_code_in_text_has_to_be_allowed(target: str) -> None:
    module = kopt.parse(INLINE.replace("NAME", "grow"))
    with pytest.raises(LoweringError, match=r"^<string>:6:\d+: error: IR brings Triton code") as refused:
        kopt.lower_module(module, target=target)
    assert "allow_inline=True" in str(refused.value)
    assert "return x + 1" in kopt.lower_module(module, target=target, allow_inline=True).source


@pytest.mark.parametrize("name", ["grow", "f", "tl", "_sort", "f_0_kernel", "v", "torch", "range"])
def test_allowed_code_keeps_names_apart(name: str) -> None:
    module = kopt.parse(INLINE.replace("NAME", name))
    x = np.arange(64, dtype=np.float32)
    found = kopt.lower_module(module, target="triton:interpret", allow_inline=True).compile()(x)
    assert np.array_equal(np.asarray(found), x + 1)


@pytest.mark.parametrize("name", ['"a b"', '"def"', '"x\\0A"', '"1"', '"f(): pass#"'])
def test_allowed_code_has_names_of_python(name: str) -> None:
    text = INLINE.replace('"NAME"', name).replace("NAME =", f"{name} =")
    with pytest.raises((VerifyError, ParseError), match=r"^<string>:6:\d+: error: "):
        kopt.parse(text)
