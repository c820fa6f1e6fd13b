"""Each kind of the catalogue is said of a mistake of its kind, at its place; every id of the code is one of them."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import kopt
from kopt import errors
from kopt.catalogue import CATALOGUE
from kopt.context import make_context
from kopt.diagnostics import collect
from kopt.dialects import DIALECTS
from kopt.error_places import placed
from kopt.interpreter import run as interpret
from kopt.pass_manager import run
from kopt.passes import PASSES
from kopt.passes.verifying.removed_by import REMOVED_BY
from kopt.registry import load
from kopt.runtime import ranks
from kopt.runtime.reasons import refusal
from kopt.tools.main import COMMANDS, main
from kopt.validation import Options, Validator
from test.diagnostics import mistakes
from test.validation.wrong_passes import Scaled

ROOT = Path(kopt.__file__).parent
TESTS = Path(__file__).resolve().parent.parent
LIT = TESTS / "lit"
ROW_SUM = (TESTS / "validation" / "row_sum.mlir").read_text()
X = torch.zeros(64, 64)


def refused(act: Callable[[], Any]) -> kopt.KoptError:
    with pytest.raises(kopt.KoptError) as caught:
        act()
    return caught.value


def is_wrong_line(error: Any) -> bool:
    place = error.location
    return linecache.getline(place.file, place.line).rstrip().endswith("# wrong")


def lowered(fn: Any, target: str = "reference", *args: Any, **config: Any) -> Any:
    return kopt.kernel(fn).lower(*(args or (X,)), target=target, config=config or None)


@pytest.mark.parametrize("id", mistakes.KERNELS)
def test_mistakes_in_kernels(id: str) -> None:
    error = refused(lambda: lowered(mistakes.KERNELS[id]))
    assert error.id == id and is_wrong_line(error), str(error)
    assert f"[{id}]\n" in str(error)


def run_passes(text: str, passes: str) -> Any:
    kopt.run_pipeline(kopt.parse(text), f"builtin.module({passes})")


def from_lit(name: str, id: str) -> Callable[[], Any]:
    """What the pieces of a lit test of errors and warnings are refused with, or warned of: the first of a kind."""

    def act() -> None:
        text = (LIT / name).read_text()
        found = re.search(r"(?:-p |--pass-pipeline=)('[^']*'|\S+)", text)
        pipeline = found[1].strip("'").removeprefix("builtin.module(").removesuffix(")") if found else ""
        for piece in text.split("// -----"):
            with collect() as said:
                try:
                    run_passes(piece, pipeline)
                except kopt.KoptError as error:
                    if error.id == id:
                        raise
            if one := next((one for one in said if one.id == id), None):
                raise kopt.KoptError(one.message, one.location, id=one.id)

    return act


def shared() -> Any:
    base = torch.zeros(65, 64)
    return lowered(mistakes.adds_rows, "reference", base[:64], base[1:])


def needs_grad() -> Any:
    return kopt.kernel(mistakes.fine).lower(X, target="reference").compile()(X.clone().requires_grad_())


def without_triton() -> None:
    with placed(mistakes.fine):
        raise ModuleNotFoundError(name="triton")


def gone() -> None:
    with ranks.watched("train"):
        raise RuntimeError("Connection closed by peer")


def changes_meaning() -> None:
    watched = [Validator(Options(0, 1))]
    run(kopt.parse(ROW_SUM), make_context(), [Scaled()], instrumentation=watched)


def divides() -> Any:
    text = "func.func @f() -> index {\n  %a = arith.constant 0 : index\n  %b = arith.divsi %a, %a : index\n"
    return interpret(kopt.parse(text + "  func.return %b : index\n}"), "f", [])


def refused_by_compiler() -> None:
    low = lowered(mistakes.fine, "triton:interpret")
    raise refusal(ValueError("no"), "no", low.source, "fine", "triton:sm90")


def on(fn: Any, *args: Any) -> Callable[[], Any]:
    return lambda: kopt.kernel(fn).on("reference")(*args)


def command(*argv: str) -> Callable[[], Any]:
    return lambda: load(COMMANDS[argv[0]])(argv[1:])


#: What provokes each kind that is no mistake in a kernel's Python, and whether it is at a place.
OTHERS: dict[str, tuple[Callable[[], Any], bool]] = {
    "argument": (lambda: lowered(mistakes.fine, "reference", X, X), True),
    "spec": (lambda: lowered(mistakes.fine, "reference", "f23[64,64]"), True),
    "shared-memory": (shared, True),
    "gradient": (needs_grad, True),
    "config": (from_lit("passes/split-k-errors.mlir", "config"), True),
    "unknown-target": (lambda: lowered(mistakes.fine, "palas:v6e"), True),
    "target-not-here": (lambda: lowered(mistakes.fine, "eager"), True),
    "missing-package": (without_triton, True),
    "unknown-key": (lambda: lowered(mistakes.fine, block_size=[8]), True),
    "config-value": (lambda: lowered(mistakes.fine, loop_type="pipelin"), True),
    "block-sizes": (lambda: lowered(mistakes.fine, block_sizes=[8, 8]), True),
    "unknown-function": (lambda: kopt.lower_module(kopt.parse(ROW_SUM), entry="g", target="reference"), True),
    "unknown-pass": (lambda: run_passes(ROW_SUM, "canonicalise"), True),
    "command-line": (command("report", "--targt", "x"), True),
    "file": (command("report", "nowhere.py:f", "f32[4]"), False),
    "no-source": (lambda: lowered(eval("lambda x: x")), True),
    "syntax": (lambda: kopt.parse("func.func @f( {"), True),
    "invalid-ir": (from_lit("dialects/tile-shape-errors.mlir", "invalid-ir"), True),
    "pass-order": (from_lit("passes/verify-host.mlir", "pass-order"), True),
    "no-form": (from_lit("passes/verify-host.mlir", "no-form"), True),
    "not-lowered": (from_lit("passes/drop-empty.mlir", "not-lowered"), True),
    "plan": (from_lit("passes/verify-plan-gpu.mlir", "plan"), True),
    "vmem": (from_lit("passes/plan-vmem-errors.mlir", "vmem"), True),
    "element-type": (from_lit("passes/narrow-atomics.mlir", "element-type"), True),
    "update": (from_lit("passes/widen-atomics-errors.mlir", "update"), True),
    "lost-updates": (from_lit("passes/verify-accumulators.mlir", "lost-updates"), True),
    "aliasing": (from_lit("passes/plan-values-errors.mlir", "aliasing"), True),
    "gpu-block": (from_lit("passes/split-odd-blocks.mlir", "gpu-block"), True),
    "collective": (from_lit("passes/verify-symm.mlir", "collective"), True),
    "order-not-checked": (from_lit("passes/verify-barriers.mlir", "order-not-checked"), True),
    "compiler": (refused_by_compiler, False),
    "pass-meaning": (changes_meaning, True),
    "out-of-bounds": (on(mistakes.outside, X), True),
    "race": (on(mistakes.racing, X), True),
    "rank": (gone, False),
    "error": (divides, True),
}
#: Remarks, by the kernel that they are said of.
REMARKS = {"no-device-loop": mistakes.without_loops, "print-at-import": mistakes.prints}


@pytest.mark.parametrize("id", OTHERS)
def test_other_mistakes(id: str) -> None:
    act, has_place = OTHERS[id]
    error = refused(act)
    assert error.id == id and f"[{id}]" in str(error).splitlines()[0], str(error)
    assert (error.location is not None) == has_place


@pytest.mark.parametrize("id", REMARKS)
def test_remarks(id: str) -> None:
    found = [one for one in lowered(REMARKS[id]).remarks if one.id == id]
    assert len(found) == 1 and found[0].severity == "remark" and is_wrong_line(found[0])
    assert not [one for one in lowered(mistakes.fine).remarks if one.id in REMARKS]


def test_print_prints_at_import_and_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Bodies of loops that are recorded again print nothing again; device values are shown by their types."""
    lowered(mistakes.prints, block_sizes=[16, 32])
    assert capsys.readouterr().out == "rows 64\nblock a device tensor [b0=16 x b1=32] of torch.float32\n"


def test_every_kind_is_provoked() -> None:
    assert {*mistakes.KERNELS, *OTHERS, *REMARKS} == {*CATALOGUE}


def ids_of_code() -> Iterator[str]:
    """What calls give as ``id``, and what classes of errors have."""
    for path in ROOT.rglob("*.py"):
        if "explain" not in path.parts:  # pages of HTML have ids too
            yield from re.findall(r'\bid="([a-z-]+)"', path.read_text())
    yield from (cls.id for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, errors.KoptError))


def test_ids_are_of_the_catalogue() -> None:
    assert not {*ids_of_code()} - {*CATALOGUE}
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", id) for id in CATALOGUE)


NEARLY = {
    "hl": (mistakes.hl_name, {}, "did you mean 'tile'?"),
    "torch": (mistakes.KERNELS["unknown-name"], {}, "did you mean 'exp'?"),
    "a method": (mistakes.method_name, {}, "did you mean 'sigmoid'?"),
    "of NumPy": (mistakes.numpy_method, {}, "torch calls it 'to'"),
    "a tile": (mistakes.tile_name, {}, "did you mean 'begin'?"),
    "a variable": (mistakes.variable, {}, "did you mean 'block'?"),
    "a key": (mistakes.fine, {"block_size": [8]}, "did you mean 'block_sizes'?"),
    "a value": (mistakes.fine, {"loop_type": "gird"}, "did you mean 'grid'?"),
}


@pytest.mark.parametrize("what", NEARLY)
def test_names_that_were_meant(what: str) -> None:
    kernel, config, meant = NEARLY[what]
    assert meant in refused(lambda: lowered(kernel, **config)).message


@pytest.mark.parametrize(
    ("target", "meant"),
    [("palas:v6e", "pallas:v6e"), ("pallas:v7e", "pallas:v6e"), ("pallas:strict@v6", "pallas:strict@v6e")],
)
def test_targets_that_were_meant(target: str, meant: str) -> None:
    assert f"did you mean '{meant}'?" in refused(lambda: lowered(mistakes.fine, target)).message


@pytest.mark.parametrize("kernel", mistakes.FOREIGN)
def test_functions_of_other_libraries(kernel: Any) -> None:
    """What torch calls them is said."""
    error = refused(lambda: lowered(kernel))
    assert error.id == "foreign-function" and error.notes == (f"use {kernel.__doc__}",) and is_wrong_line(error)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnostics", "unknown-name"]) == 0
    assert capsys.readouterr().out.startswith("unknown-name: A module")
    assert main(["diagnostics"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(CATALOGUE)
    assert main(["diagnostics", "unknwn-name"]) == 1 and "did you mean 'unknown-name'?" in capsys.readouterr().err
    assert main(["reprt", "x.py:f"]) == 1 and "did you mean 'report'?" in capsys.readouterr().err
    assert main(["report", "--targt", "x"]) == 1 and "did you mean '--target'?" in capsys.readouterr().err


def test_passes_that_are_missing_are_known() -> None:
    for family, table in REMOVED_BY.items():
        assert {*table.values()} <= {*PASSES}, family
        assert {name.partition(".")[0] for name in table} <= {*DIALECTS}
        known = {op.name for name in DIALECTS for op in load(DIALECTS[name]).operations}
        assert all(name in known or name in DIALECTS for name in table)
