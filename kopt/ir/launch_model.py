"""The model of one launch: what deciding needs of a kernel, without IR and without a chip.

Pure data, built once an import (`kopt.analysis.launch_models`). Sizes, extents and trip counts are coefficients and
expressions over the names of block sizes: one model serves every choice of them (`kopt.ir.launch_sizes`). Whatever
chooses, bounds or explains a plan reads the model and nothing else.

Names: an axis is named by its tag, an operand by the kernel's argument, an access by its operand and its number among
the operand's accesses in the order of the program: ``k``, ``k#1``, ``k#2``. What expressions call by name is a `Name`,
the number of an axis's block its tag.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from kopt.ir.access_relation import AccessRelation
from kopt.ir.atoms import Lane, Symbol
from kopt.ir.condition import Condition
from kopt.ir.division import floordiv
from kopt.ir.index_expr import IndexExpr
from kopt.ir.polynomial import Coefficient
from kopt.ir.register_code import RegisterCode

#: What may become of an axis: a dimension of the grid, a loop of the kernel, a loop over parts of what is one block
#: in the source, straight code, several loops with and without masks, a loop whose parts run in cells of their own.
Form = Literal["grid", "loop", "walked", "unrolled", "peeled", "split"]
Mode = Literal["load", "store", "atomic"]
#: The dtype from and to which some chips have no instruction that converts.
E4M3 = "f8E4M3FN"
#: Classes of work, by the unit of the chip that does it.
Unit = Literal[
    "product",
    "elementwise",
    "conversion",
    "transcendental",
    "reduction",
    "crossing",
    "spread",
    "selection",
    "scan",
    "running_sum",
    "running_total",
    "sort",
    "random",
    "layout",
    "relayout",
    "carry",
]


class Name(NamedTuple):
    """What a symbol or a condition of the model's expressions is called.

    | kind | of | is |
    |---|---|---|
    | ``loaded`` | an access's id | the numbers that it loads, or that an update found |
    | ``scalar`` | an argument's name | a number that the kernel is given |
    | ``longest`` | a tag | the most elements of the items of a jagged loop |
    | ``valid``, ``first``, ``last`` | a tag | whether a lane is its item's; whether a visit is the first or last one |
    | ``value`` | a place in the program | a number that is computed there, or a condition |
    """

    kind: str
    of: str

    def __str__(self) -> str:
        return f"{self.kind}({self.of})"


@dataclass(frozen=True)
class Source:
    """What a name depends on: the axes that it moves with, and the accesses whose loaded numbers it is made of."""

    name: Name
    moves: frozenset[str]
    loads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Axis:
    """A range of the kernel: blocks of ``size`` elements from ``lower`` to ``upper``.

    ``parent`` is the axis of which a loop's range walks one block; ``path`` are the axes of the loops around it, from
    outside in. ``upper`` of a jagged loop is a symbol, the longest of its items. ``whole`` where every block is full;
    ``compared`` where masks are made of its element numbers: some of its blocks may need none.
    A dimension ``:`` of arrays that no op mixes the lanes of is an axis of one block, which may be walked: ``x.1``.
    A loop without a range has blocks of one element, from 0 to a symbol. ``sizes`` are those among which a pass chooses
    once all others are known; none where the axis is no such one.
    """

    tag: str
    size: Coefficient
    lower: IndexExpr
    upper: IndexExpr
    form: Form
    may: frozenset[Form]
    path: tuple[str, ...] = ()
    parent: str | None = None
    whole: bool = False
    compared: bool = False
    sizes: tuple[int, ...] = ()

    @property
    def extent(self) -> IndexExpr:
        """The elements that it walks."""
        return self.upper - self.lower

    @property
    def trips(self) -> IndexExpr:
        """How many blocks it has."""
        return floordiv(self.extent + self.size - 1, self.size)


@dataclass(frozen=True)
class Operand:
    """An array of the launch. ``views`` are the ways in which the host may hand it over: ``permute``, ``pad``, …"""

    name: str
    shape: tuple[Coefficient, ...]
    dtype: str
    bits: int
    read: bool
    written: bool
    temporary: bool = False
    views: frozenset[str] = frozenset()

    @property
    def elements(self) -> Coefficient:
        """How many elements it has."""
        total: Coefficient = 1
        for extent in self.shape:
            total = total * extent
        return total


@dataclass(frozen=True)
class ModelAccess:
    """A load, store or atomic update.

    ``tags`` are the axes of the block's dimensions, empty for those of no axis. ``path`` are the axes of the grid and
    of the loops around it, from outside in; ``moves`` those that its address depends on; ``home`` the innermost of
    those, where the block has to be at hand. ``address`` names the accesses whose loaded numbers its indices are made
    of. ``condition`` is what guards it: of ``scf.if`` and its like. ``update`` is the kind of an atomic one (``add``,
    ``cas``, …); ``returns`` where its previous values are used. ``hbm`` where the array is to stay there: DMAs of the
    cells fetch its blocks, and send them back. It is ``unlikely`` in a branch that is for numbers which are never there
    as a rule.
    """

    id: str
    operand: str
    mode: Mode
    relation: AccessRelation
    tags: tuple[str, ...]
    path: tuple[str, ...]
    moves: frozenset[str]
    address: tuple[str, ...] = ()
    condition: Condition | None = None
    update: str = ""
    returns: bool = False
    line: str = ""
    hbm: bool = False
    unlikely: bool = False

    @property
    def is_shifted(self) -> bool:
        """Whether lanes begin at a loaded place of a dimension, so that those beyond its end are masked.

        A block that a loaded number picks from a dimension of its own comes as others do.
        """
        return any({Lane, Symbol} <= {type(atom) for atom in index.atoms()} for index in self.relation.indices)

    @property
    def home(self) -> str | None:
        """The innermost axis that it moves with."""
        moving = [axis for axis in self.path if axis in self.moves]
        return moving[-1] if moving else None


@dataclass(frozen=True)
class LaneMask:
    """A condition of the numbers of blocks and lanes alone, over a block of ``dims``, with their tags and sizes."""

    condition: Condition
    dims: tuple[tuple[str, Coefficient], ...]


@dataclass(frozen=True)
class Work:
    """Operations of one class at one place: ``dims`` are the tags and sizes of what is computed.

    Of a product they are the batch dimensions and ``(m, k, n)``; of anything else those of the widest operand. The tag
    is empty where the dimension is of no axis: it is whole, whatever sizes are chosen. A ``carry`` is a value that the
    innermost loop of its path hands from visit to visit. A ``crossing`` is what a reduction of the last dimension takes
    for each of the others' rows, however many lanes these have. A ``spread`` gives each row all along its lanes what
    one lane of a vector has. A ``running_sum`` is a scan that products may do, of bf16 where that holds its numbers; a
    ``running_total`` sums all lanes of what it scans, which may be its last one. A ``selection`` compares each lane
    with a wanted number. A ``conversion`` is from or to float8_e4m3fn; ``dtype`` is what it gives. Where there is a
    ``mask``, only lanes in which it holds count, or the work is to make it (``masks``).
    """

    unit: Unit
    dims: tuple[tuple[str, Coefficient], ...]
    dtype: str
    path: tuple[str, ...]
    count: int = 1
    mask: LaneMask | None = None
    masks: bool = False

    @property
    def lanes(self) -> Coefficient:
        """The product of all dimensions."""
        total: Coefficient = 1
        for _, size in self.dims:
            total = total * size
        return total


@dataclass(frozen=True)
class Factor:
    """An operand of a product at a place, as what its body has before the product.

    ``load`` is the access of the same body that brings it as it is, but for the order of its lanes; ``of`` are those of
    the same body that it is made of otherwise. It ``stays`` where nothing of it is of the body. It ``waits`` where
    threads read what was loaded, too: another op takes it, or a block of a tensor descriptor has its lanes apart. A
    left operand is ``turned`` whose rows are columns of what was loaded. The product ``adds`` to the sums of another
    one of the same body where it begins with these.
    """

    path: tuple[str, ...]
    side: Literal["lhs", "rhs"]
    shape: tuple[Coefficient, ...]
    bits: int
    load: str = ""
    of: tuple[str, ...] = ()
    stays: bool = False
    waits: bool = False
    adds: bool = False
    turned: bool = False


@dataclass(frozen=True)
class Live:
    """Values alive at once at one place of a body: the shapes and bits of all that are no scalars.

    Of one body there are several where block sizes decide which place is the widest; none is a part of another.
    ``passing`` are those of them that are computed lane by lane on the way to a store: registers need not hold them
    whole.
    """

    path: tuple[str, ...]
    values: tuple[tuple[tuple[Coefficient, ...], int], ...]
    passing: tuple[tuple[tuple[Coefficient, ...], int], ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Order:
    """An order of the grid's axes that keeps the kernel's meaning, outermost first, and which of them are parallel.

    ``fixed`` are pairs that must not be exchanged, with the reason.
    """

    axes: tuple[str, ...]
    parallel: frozenset[str]
    fixed: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class LaunchModel:
    """One launch. ``orders`` are constraints, not an enumeration: the first is the source's.

    ``sources`` say what the names of expressions depend on; ``sizes`` are the block sizes that are chosen; ``chained``
    are the paths of bodies in which a product waits for what the vector unit makes of another product, ``recurrent``
    those in which products of a visit wait for sums of the visit before. ``live`` are the values that are alive at
    once, ``code`` is the cell as vector registers of a TPU see it, and ``factors`` the operands of products as a GPU's
    shared memory has them.
    """

    name: str
    axes: tuple[Axis, ...]
    operands: tuple[Operand, ...]
    accesses: tuple[ModelAccess, ...]
    work: tuple[Work, ...] = ()
    live: tuple[Live, ...] = ()
    orders: tuple[Order, ...] = ()
    sources: tuple[Source, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict, hash=False)
    chained: frozenset[tuple[str, ...]] = frozenset()
    recurrent: frozenset[tuple[str, ...]] = frozenset()
    code: RegisterCode = RegisterCode()
    factors: tuple[Factor, ...] = field(default=(), compare=False)

    def axis(self, tag: str) -> Axis:
        """The axis of a tag."""
        return next(axis for axis in self.axes if axis.tag == tag)

    def access(self, id: str) -> ModelAccess:
        """The access of an id."""
        return next(access for access in self.accesses if access.id == id)

    def operand(self, name: str) -> Operand:
        """The operand of a name."""
        return next(operand for operand in self.operands if operand.name == name)

    def without(self, accesses: Collection[str]) -> LaunchModel:
        """The same without some accesses."""
        return replace(self, accesses=tuple(one for one in self.accesses if one.id not in accesses))

    def of(self, operand: str) -> tuple[ModelAccess, ...]:
        """The accesses of an operand, in the order of the program."""
        return tuple(access for access in self.accesses if access.operand == operand)
