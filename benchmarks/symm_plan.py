"""What planning the memory of a host program saves: layers of a matrix product and an all-reduce in symmetric memory.

    python benchmarks/symm_plan.py [--json] [--layers N]

``before`` the collectives allocate their own results; ``after`` they write arrays that they are given, which the plan
of the memory then sees (``symm-to-dps``). All numbers are counted in the emitted program, which is parsed:

| key | counts |
|---|---|
| ``symmetric`` | arrays allocated in symmetric memory |
| ``regular`` | arrays allocated elsewhere, by ``torch.empty`` or by an operator for its result |
| ``reuses`` | arrays in the memory of an earlier one |
| ``names`` | arrays altogether |
| ``out_calls`` | calls that write an array that they are given |
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Sequence

from support import emit

import kopt
from kopt.lowering import emit as emit_program
from kopt.passes.pipelines import HOST_PROGRAM

LAYERS, ROWS, WIDTH = 8, 128, 256
PIPELINES = {"before": [name for name in HOST_PROGRAM if name != "symm-to-dps"], "after": HOST_PROGRAM}
SYMMETRIC_ALLOCATOR = "empty_strided_p2p"
OUT_ARGUMENTS = {"out", "output"}
COLUMNS = {"plan": "", "symmetric": "", "regular": "", "reuses": "", "names": "", "out_calls": ""}


def model(layers: int = LAYERS) -> str:
    """The IR of ``layers`` times a matrix product, then the sum over all ranks."""
    array, weight = f"memref<{ROWS}x{WIDTH}xf32>", f"memref<{WIDTH}x{WIDTH}xf32>"
    weights = "".join(f", %w{n}: {weight}" for n in range(layers))
    lines = [f"func.func @model(%x: {array}{weights}) -> {array} {{"]
    value = "%x"
    for n in range(layers):
        types = f"({array}, {weight}) -> ({array})"
        lines.append(f'  %h{n} = host.call "aten.mm.default"({value}, %w{n}) args [unit, unit] : {types}')
        lines.append(f'  %r{n} = symm.all_reduce add %h{n} group "tp" by one_shot : {array} to {array}')
        value = f"%r{n}"
    return "\n".join([*lines, f"  func.return {value} : {array}", "}", ""])


def program(plan: str, layers: int = LAYERS) -> str:
    """The emitted program of the model, planned ``before`` or ``after``."""
    module = kopt.parse(model(layers))
    kopt.run_pipeline(module, ",".join(PIPELINES[plan]))
    return emit_program(module, "model", "torch")


def count(source: str) -> dict[str, int]:
    """What a program allocates, reuses and passes on, by its syntax."""
    function = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Assign)]
    called = [value.func for value in values if isinstance(value, ast.Call)]
    calls = [callee.attr for callee in called if isinstance(callee, ast.Attribute)]
    keywords = [word.arg for node in ast.walk(function) if isinstance(node, ast.Call) for word in node.keywords]
    symmetric = calls.count(SYMMETRIC_ALLOCATOR)
    reuses = sum(isinstance(value, ast.Name) for value in values)
    return {
        "symmetric": symmetric,
        "regular": len(calls) - symmetric,
        "reuses": reuses,
        "names": len(calls) + reuses,
        "out_calls": sum(word in OUT_ARGUMENTS for word in keywords),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Prints both plans."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--layers", type=int, default=LAYERS)
    options = parser.parse_args(argv)
    plans = {plan: count(program(plan, options.layers)) for plan in PIPELINES}
    rows = [{"plan": plan, **counts} for plan, counts in plans.items()]
    emit(plans if options.json else {"rows": rows}, options.json, COLUMNS)


if __name__ == "__main__":
    main()
