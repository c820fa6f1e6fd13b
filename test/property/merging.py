"""Loops' dimensions that are merged, joined or repeated, and combined again in the same statement.

A block may have fewer lanes than others, so what is left in a merged dimension has no shape that all blocks share: each
statement ends with one number of all lanes.
"""

from __future__ import annotations

from test.property.statements import Axis, Scope, Unfit, Value, fitting

_MERGES = """
{x}.reshape(-1)
{x}.flatten()
{x}.mT.reshape(-1)
{x}.transpose(0, -1).flatten()
torch.cat([{x}, {y}], {d}).flatten()
torch.cat([{x}.flatten(), {y}.flatten()])
torch.stack([{x}, {y}], {d}).flatten()
torch.stack([{x}.flatten(), {y}.expand_as({x}).flatten()], 1).reshape(-1)
{x}.repeat_interleave(2, {d}).flatten()
{x}.flip({d}).flatten()
{x}.flatten().flip(0)
torch.cat([{x}, torch.ones_like({x})], {d}).flatten()
torch.cat([{x}, {y}], {d}).amax({d}).flatten()
torch.cat([{x}, {y}], {d}).cumsum({d}).flatten()
{x}.flatten().repeat(2)
F.pad({x}, (1, 2)).flatten()
F.pad({x}.flatten(), (0, 1), value=1)
{x}.unsqueeze(-1).flatten()
""".split("\n")[1:-1]
_BETWEEN = """
{m}
{m}
{m}
{m}.exp()
({m} + 1)
{m}.cumsum(0)
{m}.sort()[0]
{m}.sort(stable=True)[1]
{m}.argsort(descending=True, stable=True)
{m}.float().softmax(0)
{m}.cummax(0)[0]
{m}.cummin(0)[1]
{m}.float().log_softmax(0)
{m}[:2]
{m}.unflatten(0, (-1, 1)).squeeze(1)
torch.where({m} > 1, {m}, 2)
torch.full_like({m}, 3)
""".split("\n")[1:-1]
_ENDS = """
{m}.sum()
{m}.amax()
{m}.amin()
{m}.float().mean()
{m}.float().var(correction=0)
{m}.argmax()
{m}.argmin()
{m}.any()
{m}.all()
{m}.float().logsumexp(0)
{m}.float().norm()
{m}.sort()[0][0]
{m}.topk(1)[0].sum()
torch.count_nonzero({m})
""".split("\n")[1:-1]


def merged(scope: Scope) -> tuple[str, Value]:
    """A number of all lanes of a block, after they were merged: its text, and the value."""
    x = scope.pick([value for value in scope.values if any(isinstance(dim, Axis) for dim in value.dims)])
    gaps = {"x": x.text, "y": scope.pick(fitting(scope, x.dims)), "d": str(scope.pick(range(len(x.dims))))}
    lanes = scope.pick(_MERGES).format(**gaps)
    between = scope.pick(_BETWEEN).format(m=lanes)
    text = scope.pick(_ENDS).format(m=between)
    value = scope.value(text, scope.evaluate(text))
    if not scope.fits(value):
        raise Unfit
    return text, value
