"""``continue`` and ``break`` turned into branches: the function computes the same."""

import ast
from contextlib import nullcontext

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.frontend.jumps import remove_jumps


def numbers(limit, skip):
    out = []
    for n in range(limit):
        if n % 2:
            out.append(-n)
            if n in skip:
                continue
            out.append(n * 10)
        elif n == 4:
            continue
        out.append(n)
        if n == 6:
            pass
        else:
            continue
        out.append("six")
    return out


def searches(limit, skip):
    out = []
    for n in range(limit):
        for m in range(n):
            if m in skip:
                out.append(m)
                if n > 4:
                    break
                continue
            out.append(m * 10)
        else:
            out.append("all")
        count = 0
        while count < n:
            count += 1
            if count in skip:
                break
            out.append(-count)
        else:
            out.append("none")
        while True:
            count += 1
            if count > 5:
                if n == 7:
                    continue
                break
        if n == 6:
            break
    return out


@pytest.mark.parametrize("kernel", [numbers, searches])
def test_same_result_without_jumps(kernel):
    with open(__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == kernel.__name__)
    remove_jumps(function)
    assert not any(isinstance(node, ast.Continue) for node in ast.walk(function))
    names: dict = {}
    exec(compile(ast.fix_missing_locations(ast.Module([function], [])), __file__, "exec"), names)
    assert names[kernel.__name__](9, {3}) == kernel(9, {3})


def halvings(x):
    """How often numbers are halved; ``continue`` goes to the head of a loop of the device."""
    out = torch.zeros(x.size(0), dtype=torch.int32)
    for i in hl.grid(x.size(0)):
        v, count = x[i], 0
        while v > 1:
            v, count = v / 2, count + 1
            with nullcontext():
                continue
        out[i] = count
    return out


def left_early(x):
    out = torch.zeros(x.size(0))
    for i in hl.grid(x.size(0)):
        v = x[i]
        while v > 1:
            v = v / 2
            with nullcontext():
                break
        out[i] = v
    return out


def test_jumps_in_while_loops_of_the_device():
    x = torch.tensor([0.5, 3.0, 64.0, 1.0])
    assert kopt.kernel(halvings).on("reference")(x).tolist() == [0, 2, 6, 0]
    with pytest.raises(kopt.UnsupportedError, match="'break' in a device loop is not supported"):
        kopt.kernel(left_early).on("reference")(x)
