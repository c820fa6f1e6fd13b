"""``continue`` turned into branches: the function computes the same."""

import ast

from kopt.frontend.continues import remove_continues


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


def test_same_result_without_continue():
    with open(__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "numbers")
    remove_continues(function)
    assert not any(isinstance(node, ast.Continue) for node in ast.walk(function))
    names: dict = {}
    exec(compile(ast.fix_missing_locations(ast.Module([function], [])), __file__, "exec"), names)
    assert names["numbers"](9, {3}) == numbers(9, {3})
