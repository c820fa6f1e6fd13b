"""Random kernels over jagged storage, as a module's text: passes over each item's rows, and what follows from them.

The text has ``kernel``, ``inputs()``, ``expected()`` and a main that runs the kernel on the target that it is given.
An item's rows are reached in the ways that people write: by ``hl.jagged_tile``, by a loop to the longest item with
masks, item by item; by row numbers or by numbers of elements of the flat storage; features in a loop outside, in a loop
inside, or all at once, as ``:`` or as numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

_HEAD = """\
import sys

import torch

import kopt
import kopt.language as hl

OFFSETS = torch.tensor({offsets}, dtype=torch.{offsets_dtype})


def inputs():
    numbers = torch.Generator().manual_seed({seed})
    return [
{inputs}    ]


def kernel({names}):
{body}

def expected({names}, dtype):
{reference}

if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
"""
_LENGTHS = ((0, 1, 5), (3, 3, 3, 3), (0, 0), (17, 0, 1, 2, 9), (40, 3, 0, 8), (1,), (130, 2), (0, 7, 12, 0, 1, 33, 2))
_FEATURES = (5, 1, 8, 130, 24, 3)
#: As many elements of an item as an interpreter goes through quickly; of larger ones it takes few features.
_MOST, _FEW = 6000, 8
#: What is computed of an item's elements before there is a result of an earlier pass, and with one.
_PLAIN = (
    "{x} * 0.5",
    "torch.relu({x}) + {c}",
    "torch.exp({x} * 0.25)",
    "{x} * {y}",
    "torch.where({x} > {c}, {x}, 0.0)",
    "{x} + 1.0",
    "torch.maximum({x}, {y}) - {c}",
)
_LATER = ("torch.exp({x} * 0.25 - {r})", "{x} * {r}", "torch.where({x} > {r}, {x}, {y})", "({x} - {r}) * {c}")
_WITH_FEATURES = ("{x} * {w}", "{x} + {w} * {c}", "torch.minimum({x}, {w})")
#: How a pass combines over an item's rows: the first value, one more block, what torch computes of all.
_KINDS = {
    "sum": ("0.0", "{r} + {e}.sum({dims})", "{e}.sum({dims})"),
    "amax": ("-10.0", "torch.maximum({r}, {e}.amax({dims}))", "torch.maximum({e}.amax({dims}), {low})"),
    "amin": ("10.0", "torch.minimum({r}, {e}.amin({dims}))", "-torch.maximum((-{e}).amax({dims}), {low})"),
}


@dataclass
class Jagged:
    """A kernel being drawn."""

    random: Random
    lines: list[str] = field(default_factory=list)
    reference: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        pick = self.random.choice
        self.form = pick(("jagged", "jagged", "masked", "item"))
        self.features = pick((0, *_FEATURES))
        self.address = pick(("rows", "flat")) if self.features else "rows"
        self.columns = pick(("outer", "inner", "all", "numbers")) if self.features else "none"
        self.address = {"all": "rows", "numbers": "flat"}.get(self.columns, self.address)
        self.whole = self.columns in ("all", "numbers")
        self.dtype = pick(("float32", "float32", "bfloat16", "float16"))
        self.first = pick((0, 0, 4))
        self.depth = 1

    # the text

    def text(self) -> str:
        """The whole module."""
        lengths = list(self.random.choice(_LENGTHS))
        if self.features * max(lengths) > _MOST:
            self.features = _FEW
        offsets = [self.first]
        for length in lengths:
            offsets.append(offsets[-1] + length)
        rows = offsets[-1] + self.random.choice((0, 3))
        self._nest()
        shape = f"{rows}, {self.features}" if self.features else f"{rows}"
        inputs = [f"torch.randn({shape}, generator=numbers).to(torch.{self.dtype})"] * 2
        inputs += ["OFFSETS", f"torch.randn({len(lengths)}, generator=numbers)"]
        names = ["x", "y", "offsets", "c"]
        if self.features:
            inputs.append(f"torch.randn({self.features}, generator=numbers)")
            names.append("w")
        head = ["items = offsets.size(0) - 1", *(["columns = hl.specialize(x.size(1))"] if self.features else [])]
        head += [f"{name} = {self._made(kind)}" for name, kind in self._named()]
        if self.address == "flat":
            head += ["x_flat, y_flat = x.view(-1), y.view(-1)"]
            head += [f"{name}_flat = {name}.view(-1)" for name, kind in self._named() if kind == "jagged"]
        results = f"return ({''.join(name + ', ' for name, _ in self._named())[:-1]})"
        return _HEAD.format(
            offsets=offsets,
            offsets_dtype=self.random.choice(("int32", "int64")),
            seed=self.random.randrange(9999),
            inputs="".join(f"        {each},\n" for each in inputs),
            names=", ".join(names),
            body="".join(f"    {line}\n" for line in [*head, *self.lines, results]),
            reference=self._reference(),
        )

    def _named(self) -> list[tuple[str, str]]:
        return [(f"out{number}", kind) for number, kind in enumerate(self.outputs)]

    def _made(self, kind: str) -> str:
        return {
            "jagged": "torch.zeros_like(x, dtype=torch.float32)",
            "features": "torch.empty([items, columns], dtype=torch.float32)",
            "item": "torch.empty([items], dtype=torch.float32)",
        }[kind]

    def _reference(self) -> str:
        made = [
            f"{name} = {self._made(kind).replace('empty', 'zeros').replace('torch.float32', 'dtype')}"
            for name, kind in self._named()
        ]
        floats = "x, y, c, w" if self.features else "x, y, c"
        head = [f"{floats} = (value.to(dtype) for value in ({floats}))", "items = offsets.size(0) - 1"]
        head += ["columns = x.size(1)"] if self.features else []
        loop = ["for i in range(items):", "    rows = slice(int(offsets[i]), int(offsets[i + 1]))"]
        low = f"torch.full([{'columns' if self.features else ''}], -10.0)"
        loop += [f"    pad = torch.full([1{', columns' if self.features else ''}], -10.0)", f"    low = {low}"]
        loop += [f"    {line}" for line in self.reference]
        results = f"return ({''.join(name + ', ' for name, _ in self._named())[:-1]})"
        return "".join(f"    {line}\n" for line in [*head, *made, *loop, results])

    def line(self, text: str) -> None:
        """One more line of the kernel."""
        self.lines.append("    " * (self.depth - 1) + text)

    # loops

    def _block(self) -> str:
        size = self.random.choice((None, None, 2, 4, 8))
        return f", block_size={size}" if size else ""

    def _nest(self) -> None:
        if self.form == "item":
            self.line("for b in hl.grid(items):")
            self.depth += 1
            self.line("begin, end = offsets[b], offsets[b + 1]")
        else:
            self.line(f"for b in hl.tile(items{self._block()}):")
            self.depth += 1
            self.line("starts = offsets[b]")
            self.line("lengths = offsets[b.index + 1] - starts")
            if self.form == "masked":
                self.line("longest = lengths.amax()")
        self.line("c_b = c[b]")
        if self.columns == "outer":
            self.line("for m in hl.tile(columns):")
            self.depth += 1
            self.line("w_m = w[m]")
        elif self.whole:
            self.line("w_m = w[:]")
        if self.columns == "numbers":
            self.line("lanes = hl.arange(columns)")
        done: list[tuple[str, tuple[str, ...]]] = []
        for number in range(self.random.choice((1, 2, 2, 3))):
            self._pass(number, done)
        for name, dims in done:
            self._store(name, dims)
        if not self.outputs:
            self._pass(9, done, jagged=True)

    def _pass(self, number: int, done: list[tuple[str, tuple[str, ...]]], jagged: bool = False) -> None:
        """A loop over the items' rows: a reduction, or elements for each."""
        jagged = jagged or self.random.random() < 0.3
        inner = self.columns == "inner"
        over = () if jagged else self._over()
        kept = tuple(d for d in self._dims() if d not in over)
        kind = self.random.choice(tuple(_KINDS))
        if not jagged:
            sizes = [{"b": "b", "m": "columns" if self.whole else "m"}[d] for d in kept]
            self.line(f"r{number} = hl.full([{', '.join(sizes)}], {_KINDS[kind][0]})")
        self.line(self._rows_loop())
        self.depth += 1
        if inner:
            self.line(f"for m in hl.tile(columns{self._block()}):")
            self.depth += 1
            self.line("w_m = w[m]")
        pattern = self._pattern(done)
        self._load(pattern)
        expression = self._render(pattern, done, self._dims())
        self._reference_pass(number, pattern, done, over, kind, jagged)
        if jagged:
            self._store_rows(expression)
        else:
            self._combine(number, expression, kind, over)
            done.append((f"r{number}", kept))
        self.depth -= 1 + inner

    def _dims(self) -> tuple[str, ...]:
        """What a block of rows has."""
        dims = ("k",) if self.form == "item" else ("b", "k")
        return (*dims, "m") if self.features else dims

    def _over(self) -> tuple[str, ...]:
        """What a reduction combines: rows; features too where a loop inside makes them partial."""
        if self.columns == "inner" or (self.whole and self.random.random() < 0.4):
            return ("k", "m")
        return ("k",)

    def _rows_loop(self) -> str:
        return {
            "jagged": "for k in hl.jagged_tile(lengths):",
            "masked": f"for k in hl.tile(0, longest{self._block()}):",
            "item": f"for k in hl.tile(begin, end{self._block()}):",
        }[self.form]

    # accesses

    def _place(self, name: str) -> tuple[str, str]:
        """The array and the index of a block of rows."""
        lanes = "lanes" if self.columns == "numbers" else "m.index"
        if self.form == "item":
            last = {"none": "k", "all": "k, :"}.get(self.columns, "k, m")
            if self.address == "flat":
                return f"{name}_flat", f"k.index[:, None] * columns + {lanes}[None, :]"
            return name, last
        rows = "starts[:, None] + k.index[None, :]"
        if self.address == "flat":
            return f"{name}_flat", f"(({rows}) * columns)[:, :, None] + {lanes}[None, None, :]"
        return name, rows + {"none": "", "all": ", :"}.get(self.columns, ", m")

    @staticmethod
    def _listed(index: str) -> str:
        """An index as an element of a list."""
        return index.removesuffix(":") + "slice(None)" if index.endswith(":") else index

    def _mask(self) -> str:
        inside = "k.index[None, :] < lengths[:, None]"
        return f"({inside})[:, :, None]" if self.features else inside

    def _load(self, pattern: str) -> None:
        for name in ("x", "y"):
            if f"{{{name}}}" not in pattern:
                continue
            array, index = self._place(name)
            if self.form == "masked":
                index = self._listed(index)
                self.line(f"{name}_k = hl.load({array}, [{index}], extra_mask={self._mask()}).float()")
            else:
                self.line(f"{name}_k = {array}[{index}].float()")

    def _store_rows(self, expression: str) -> None:
        number = len(self.outputs)
        array, index = self._place(f"out{number}")
        self.outputs.append("jagged")
        if self.form == "masked":
            index = self._listed(index)
            self.line(f"hl.store({array}, [{index}], {expression}, extra_mask={self._mask()})")
        else:
            self.line(f"{array}[{index}] = {expression}")

    def _store(self, name: str, dims: tuple[str, ...]) -> None:
        number = len(self.outputs)
        last = ":" if self.whole else "m"
        self.outputs.append("features" if "m" in dims else "item")
        self.line(f"out{number}[{'b, ' + last if 'm' in dims else 'b'}] = {name}")
        self.reference.append(f"out{number}[i] = {name}")

    # expressions

    def _pattern(self, done: list[tuple[str, tuple[str, ...]]]) -> str:
        options = [*_PLAIN, *(_LATER * 2 if done else ()), *(_WITH_FEATURES if self.features else ())]
        return self.random.choice(options)

    def _render(self, pattern: str, done: list, dims: tuple[str, ...]) -> str:
        """The expression over a block of rows."""
        given = {"x": "x_k", "y": "y_k", "c": self._aligned("c_b", self._item_dims(), dims)}
        given["w"] = self._aligned("w_m", ("m",), dims)
        if done:
            given["r"] = self._aligned(*done[-1], dims)
        return pattern.format(**given)

    def _item_dims(self) -> tuple[str, ...]:
        return () if self.form == "item" else ("b",)

    @staticmethod
    def _aligned(name: str, own: tuple[str, ...], dims: tuple[str, ...]) -> str:
        if not own:
            return name
        index = [":" if dim in own else "None" for dim in dims]
        return f"{name}[{', '.join(index)}]" if "None" in index else name

    def _combine(self, number: int, expression: str, kind: str, over: tuple[str, ...]) -> None:
        if self.form == "masked":
            identity = _KINDS[kind][0]
            self.line(f"e = torch.where({self._mask()}, {expression}, {identity})")
        else:
            self.line(f"e = {expression}")
        dims = tuple(n for n, dim in enumerate(self._dims()) if dim in over)
        axes = str(dims[0] if len(dims) == 1 else dims)
        self.line(f"r{number} = " + _KINDS[kind][1].format(r=f"r{number}", e="e", dims=axes))

    def _reference_pass(self, number, pattern, done, over, kind, jagged) -> None:
        dims = ("k", "m") if self.features else ("k",)
        given = {"x": "x[rows]", "y": "y[rows]", "c": "c[i]", "w": "w"}
        if done:
            name, own = done[-1]
            given["r"] = self._aligned(name, tuple(d for d in own if d != "b"), dims)
        value = pattern.format(**given)
        if jagged:
            self.reference.append(f"out{len(self.outputs)}[rows] = {value}")
            return
        self.reference.append(f"e = {value}")
        axes = "0" if over == ("k",) else "(0, 1)"
        whole = "e" if kind == "sum" else "torch.cat([e, pad])" if self.features else "torch.cat([e, pad[:1]])"
        low = "torch.tensor(-10.0)" if over != ("k",) or not self.features else "low"
        if kind == "amin":
            whole = whole.replace("pad", "-pad")
        self.reference.append(f"r{number} = " + _KINDS[kind][2].format(e=whole, dims=axes, low=low))


def jagged_program(seed: int) -> str:
    """The text of a random kernel over jagged storage."""
    return Jagged(Random(seed)).text()
