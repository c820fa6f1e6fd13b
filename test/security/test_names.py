"""Names from IR in emitted modules: identifiers of their own, whatever they are, by every printer."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

import numpy as np
import pytest
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

import kopt
from kopt.config import make_config
from kopt.errors import Location
from kopt.lowering import emit
from kopt.lowering.names import Names, is_identifier, public_name, quoted
from kopt.passes.pipelines import pipeline
from kopt.runtime.emitted import load_module
from kopt.targets.target import parse_target
from test.security.modules import IMPORTED, OPEN, PROGRAM, SOFTMAX, check_emitted

HOSTILE = [
    "f():\n    pass\n__import__('os').system('touch pwned')\ndef g",
    'a"""\nimport os\nos.remove("x")\n"""',
    "a'; exec(compile) #",
    "x # comment\r\nimport sys\x0cimport os\x85import re\u2028import ast",
    "{__import__('os')}",
    "\\", "\\N{BULLET}", "\0", "\t", " ", "", "%s", "{0}", "\ud7ff", "é", "ｊｎｐ", "ﬁ", "²", "x" * 5000,
    "__builtins__", "__import__", "__name__", "_", "__", "_pick", "_sort", "_combine", "print", "eval", "exec",
    "None", "True", "match", "type", "lambda", "def", "float", "range", "tuple", "jit",
    *sorted(IMPORTED), "Captured", "lax", "mesh", "in_specs", "f_kernel", "run_f_0", "x", "arg",
]  # fmt: skip
VALUES = ("x", "out", "work", "i", "v", "m", "w", "d")
#: Name hints that text can spell: also all that the modules use themselves.
HINTS = ["jnp", "pl", "tl", "torch", "jax", "triton", "f_kernel", "f_0_kernel", "lambda", "range", "tuple", "print",
         "_pick", "__import__", "f", "dist", "a.b", "a-b", "a$b", "_", "x", "group", "BLOCK_0", "carry"]  # fmt: skip


def spelt(text: str) -> str:
    """A text as a string literal of MLIR."""
    plain = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(plain.get(c, c) for c in text) + '"'


def filled(template: str, random: random.Random) -> tuple[ModuleOp, str]:
    """A module with hostile names everywhere, and what its function is called."""
    hints = random.sample(HINTS, len(VALUES))
    values = {value: f"%{hint}" for value, hint in zip(VALUES, hints, strict=True)}
    module = kopt.parse(template.format(function="f", **values))
    for op in module.walk():
        file, line = random.choice([*HOSTILE, "/dev/zero.py", "\0.py"]), random.choice([-1, 0, 7, 10**30])
        op.location = FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(1))
        if "group" in op.properties:
            op.properties["group"] = StringAttr(random.choice(HOSTILE))
        if isinstance(op, FuncOp):
            op.sym_name = StringAttr(random.choice(HOSTILE))
    return module, next(op.sym_name.data for op in module.ops if isinstance(op, FuncOp))


def emitted(template: str, seed: int) -> Iterator[tuple[str, str]]:
    for name, family in [("pallas:v6e", "pallas"), ("triton:sm90", "triton")] if template is SOFTMAX else []:
        module, symbol = filled(template, random.Random(seed))
        kopt.run_pipeline(module, pipeline(parse_target(name), make_config(None)))
        yield emit(module, symbol, family), symbol
    for family in ("torch", "jax") if template is PROGRAM else []:
        module, symbol = filled(template, random.Random(seed))
        yield emit(module, symbol, family), symbol


@pytest.mark.parametrize("template", [SOFTMAX, PROGRAM], ids=["softmax", "program"])
@pytest.mark.parametrize("seed", range(30))
def test_emitted_modules_have_names_of_their_own(template: str, seed: int) -> None:
    for source, symbol in emitted(template, seed):
        tree = check_emitted(source)
        assert public_name(symbol) in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


#: Hostile names that the text of IR can spell, and some that emitted modules use.
EXTENTS = [*HOSTILE[:3], "a", "a-b", "x.size(0)", "torch", "jnp", "n", "x", "lambda", "__import__", "", "f_0_kernel"]


@pytest.mark.parametrize("family, name", [("pallas", "pallas:v6e"), ("triton", "triton:sm90")])
@pytest.mark.parametrize("text", EXTENTS)
def test_extents_have_names_of_their_own(text: str, family: str, name: str) -> None:
    """The other extent has a name of which the same identifier would be made."""
    module = kopt.parse(OPEN.format(first=spelt(text), second=spelt(f"{text}-")))
    kopt.run_pipeline(module, pipeline(parse_target(name), make_config(None)))
    tree = check_emitted(emit(module, "f", family))
    public = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "f")
    shapes = [line for line in public.body if isinstance(line, ast.Assign) and ".shape[" in ast.unparse(line.value)]
    assert len({ast.unparse(line.targets[0]) for line in shapes}) == 2


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_becomes_an_identifier(text: str) -> None:
    names = Names(IMPORTED)
    found = [names.public(text), names.fresh(text), names.fresh(text)]
    assert all(is_identifier(name) and name.isascii() for name in found)
    assert len(set(found)) == 3 and not set(found) & (IMPORTED | {"__import__", "_pick", "_sort"})
    assert ast.literal_eval(quoted(text)) == text and "\n" not in quoted(text)


def test_nothing_is_called_what_is_reserved() -> None:
    names = Names()
    names.reserve("scaled")
    assert names.is_used("scaled") and names.fresh("scaled") == "scaled_2"


@pytest.mark.parametrize("name", ["softmax", "_private", "sin", "max_pool", "f_2"])
def test_plain_names_stay(name: str) -> None:
    assert public_name(name) == name


@pytest.mark.parametrize("name", ["jnp", "pl", "tl", "torch", "jax", "lambda", "range", "a b\n"])
@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret", "reference"])
def test_kernels_of_any_name_run(name: str, target: str) -> None:
    holes = {value: f"%{value}" for value in VALUES} | {"function": spelt(name)}
    low = kopt.lower_module(kopt.parse(SOFTMAX.format(**holes)), target=target)
    x = np.linspace(-2, 2, 6400, dtype=np.float32).reshape(100, 64)
    wanted = np.exp(x) - np.exp(x).max(1, keepdims=True)
    assert np.allclose(np.asarray(low.compile()(x)), wanted, atol=1e-5)
    if target != "reference":
        assert callable(getattr(load_module(low.source, low.function), low.function))


@pytest.mark.parametrize("hint", ["_2", "_", "__", "_2_3", "_10_20_30", "2", "a_2_3", "_a_2", "$_1", "._1", "-_1"])
@pytest.mark.parametrize("target", ["pallas:v6e", "triton:sm90", "reference"])
def test_values_of_any_name_lower(hint: str, target: str) -> None:
    """xDSL takes numbers from the end of a hint whenever a value is copied."""
    holes = {value: f"%{value}" for value in VALUES} | {"x": f"%{hint}", "m": f"%{hint}_7" if hint != "2" else "%7"}
    module = kopt.parse(SOFTMAX.format(**holes, function='"f"'))
    for copy in (module.clone(), module.clone().clone().clone()):
        assert kopt.lower_module(copy, target=target).ir


def test_no_device_is_read_for_a_comment() -> None:
    """A location may name any path: `/dev/zero` has lines without end, and a pipe none."""
    module = kopt.parse(PROGRAM.format(function="f", **{value: f"%{value}" for value in VALUES}))
    for op in module.walk():
        op.location = FileLineColLoc(StringAttr("/dev/zero"), IntAttr(1), IntAttr(1))
    assert "# zero:1\n" in emit(module, "f", "torch")
    assert "error: stop" in str(kopt.KoptError("stop", Location("/dev/zero", 1)))
