"""Host programs as IR text, each with the reference of its name in ``references.py``."""

from __future__ import annotations

ARRAY = "memref<16x16xf32>"
ROWS = "memref<8x16xf32, strided<[16, 1], offset: 128>>"
COLUMNS = "memref<16x4xf32, strided<[16, 1], offset: 4>>"
TURNED = "memref<16x16xf32, strided<[1, 16]>>"


def _call(name: str, *inputs: str) -> str:
    types, places = (", ".join([text] * len(inputs)) for text in (ARRAY, "unit"))
    return f'host.call "aten.{name}"({", ".join(inputs)}) args [{places}] : ({types}) -> ({ARRAY})'


def _sum(value: str, group: str = "tp", by: str = "one_shot", type: str = ARRAY, to: str = ARRAY) -> str:
    return f'symm.all_reduce add {value} group "{group}" by {by} : {type} to {to}'


def _function(name: str, arguments: int, lines: list[str], results: dict[str, str]) -> str:
    given = ", ".join(f"%a{n}: {ARRAY}" for n in range(arguments))
    types = ", ".join(results.values())
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @{name}({given}) -> ({types}) {{\n{body}\n  func.return {', '.join(results)} : {types}\n}}\n"


def model(layers: int = 8) -> str:
    """Layers of a matrix product and a sum over ranks."""
    lines, value = [], "%a0"
    for n in range(layers):
        lines += [f"%h{n} = {_call('mm.default', value, f'%a{n + 1}')}", f"%r{n} = {_sum(f'%h{n}')}"]
        value = f"%r{n}"
    return _function("model", layers + 1, lines, {value: ARRAY})


def programs(ranks: int) -> str:
    """A module of all programs, for as many ranks."""
    exp, add = f"%e = {_call('exp.default', '%a0')}", "%s = " + _call("add.Tensor", "%p", "%q")
    all = f"memref<{16 * ranks}x16xf32>"
    functions = [
        model(),
        _function("argument", 1, [f"%p = {_sum('%a0')}", f"%q = {_call('add.Tensor', '%p', '%a0')}",
                                  f"%s = {_sum('%q')}"], {"%s": ARRAY}),
        _function("opaque", 1, [f"%p = {_call('tril.default', '%a0')}", f"%s = {_sum('%p')}"], {"%s": ARRAY}),
        _function("chain", 2, [f"%m = {_call('mm.default', '%a0', '%a1')}", f"%n = {_call('relu.default', '%m')}",
                               f"%h = {_call('add.Tensor', '%n', '%a1')}", f"%s = {_sum('%h')}"], {"%s": ARRAY}),
        _function("two_groups", 1, [exp, f"%p = {_sum('%e')}", f"%q = {_sum('%e', 'dp')}", add], {"%s": ARRAY}),
        _function("returned", 1, [exp, f"%t = host.permute %e [1, 0] : {ARRAY} to {TURNED}", f"%s = {_sum('%e')}"],
                  {"%t": TURNED, "%s": ARRAY}),
        _function("views", 1, [exp,
                               f"%b = host.slice %e [8, 0] [8, 16] [1, 1] : {ARRAY} to {ROWS}",
                               f"%c = host.slice %e [0, 4] [16, 4] [1, 1] : {ARRAY} to {COLUMNS}",
                               f"%d = host.permute %e [1, 0] : {ARRAY} to {TURNED}",
                               f"%p = {_sum('%b', type=ROWS, to='memref<8x16xf32>')}",
                               f"%q = {_sum('%c', type=COLUMNS, to='memref<16x4xf32>')}",
                               f"%s = {_sum('%d', type=TURNED)}"],
                  {"%p": "memref<8x16xf32>", "%q": "memref<16x4xf32>", "%s": ARRAY}),
        _function("two_shot", 1, [exp, f"%p = {_sum('%e', by='two_shot')}", "%s = " + _call("add.Tensor", "%p", "%e")],
                  {"%s": ARRAY}),
        _function("library", 1, [f'%p = symm.all_gather %a0 group "tp" : {ARRAY} to {all}',
                                 f'%q = symm.reduce_scatter %p group "tp" : {all} to {ARRAY}',
                                 f'%s = symm.all_reduce max %a0 group "tp" : {ARRAY} to {ARRAY}'],
                  {"%p": all, "%q": ARRAY, "%s": ARRAY}),
    ]  # fmt: skip
    return "\n".join(functions)
