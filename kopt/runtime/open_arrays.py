"""Which dimensions of a kernel's arrays are open: those that are said to be, and those that have changed.

The first call of a kind is compiled for its extents. A dimension in which another call of the kind differs is left open
from then on, unless the kernel needs its extent while it is compiled. Dimensions that are as long as each other in the
call that opens them are one extent: calls in which they differ are compiled by themselves.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kopt.errors import ArgumentError, KoptError, UnsupportedError
from kopt.open_extents import LEAST, MOST, OpenExtent
from kopt.runtime.bounded_cache import BoundedCache
from kopt.runtime.sharing import sharing
from kopt.specs import TensorSpec, framework_of, spec_of
from kopt.targets.tiling import FLAT, LANES, SUBLANES, round_up

if TYPE_CHECKING:
    from kopt.runtime.compiled_kernel import CompiledKernel
    from kopt.targets.target import Target

#: A parameter's name and a dimension of its array.
Dim = tuple[str, int]
#: Families whose modules read extents of their arguments; and those for which dimensions that change are opened: the
#: reference has nothing to save.
FAMILIES, _OPENED = ("triton", "pallas", "reference"), ("triton", "pallas")

#: Fewer rows are compiled in: a TPU's memory has them in tiles of their own, of which Mosaic does not take all.
_LEAST = {"pallas": SUBLANES}

_DIM = re.compile(r"(\w+)\.(?:size\((\d+)\)|shape\[(\d+)\])")


@dataclass(frozen=True)
class OpenSpec(TensorSpec):
    """An array of a call with open extents, and where it is."""

    place: tuple[Any, ...] = ()


@dataclass
class _Calls:
    """Calls that differ in extents only: what was seen of each dimension, which are open, and which must be known."""

    seen: dict[Dim, int] = field(default_factory=dict)
    open: set[Dim] = field(default_factory=set)
    needed: set[Dim] = field(default_factory=set)


class OpenArrays:
    """The dimensions of one kernel. ``named`` are those that are open; None: those that change."""

    def __init__(self, named: Collection[Dim] | None = None):
        self.named = named
        self._kinds: BoundedCache[_Calls] = BoundedCache()
        self._lock = threading.Lock()

    def compiled(
        self,
        values: Mapping[str, Any],
        target: Target,
        kind_of: Callable[[dict[str, Any]], Hashable],
        compiled: Callable[[dict[str, Any]], CompiledKernel],
    ) -> CompiledKernel:
        """What ``compiled`` gives for a call, with as many of its dimensions open as the kernel allows."""
        if self.named is not None:
            return compiled(self.named_open(values, target))
        if target.family not in _OPENED or not (arrays := _arrays(values)):
            return compiled(dict(values))
        kind = self._kinds.find_or_make(kind_of(_kind_values(values, arrays)), lambda _: True, _Calls)
        with self._lock:
            for dim, extent in _dims(arrays):
                if kind.seen.setdefault(dim, extent) != extent and dim not in kind.needed:
                    kind.open.add(dim)
            open = frozenset(kind.open)
        opened = _opened(values, arrays, open, target)
        if not (left := open_dims(opened)):
            return compiled(opened)
        try:
            return compiled(opened)
        except ImportError:
            raise
        except Exception:
            with self._lock:
                kind.needed |= left
                kind.open -= left
        return compiled(dict(values))

    def named_open(self, values: Mapping[str, Any], target: Target) -> dict[str, Any]:
        """Values with the dimensions open that are said to be. Raises `ArgumentError` where that cannot be."""
        if not self.named:
            return dict(values)
        if target.family not in FAMILIES:
            name, dim = next(iter(self.named))
            raise ArgumentError(
                f"dynamic names '{name}.size({dim})', and modules for '{target}' are compiled for one shape",
                notes=[f"targets whose modules read extents: {', '.join(FAMILIES)}; leave it out for others"],
            )
        for name, dim in self.named:
            value = values[name]
            if not _is_array(value):
                raise ArgumentError(f"dynamic names '{name}.size({dim})', and '{name}' is no array")
            if dim >= len(spec_of(value).shape):
                raise ArgumentError(f"dynamic names '{name}.size({dim})', and '{name}' is {spec_of(value)}")
        return _opened(values, _arrays(values), self.named, target)


def _is_array(value: Any) -> bool:
    return framework_of(value) is not None or isinstance(value, TensorSpec)


def _arrays(values: Mapping[str, Any]) -> dict[str, TensorSpec]:
    """The arrays whose dimensions may be open: plain ones, by parameters; none where some share memory."""
    if sharing(list(values.values())):
        return {}
    specs = {name: spec_of(value) for name, value in values.items() if _is_array(value)}
    return {name: spec for name, spec in specs.items() if spec.contiguous and not spec.open}


def _dims(arrays: Mapping[str, TensorSpec]) -> Iterator[tuple[Dim, int]]:
    for name, spec in arrays.items():
        yield from (((name, dim), extent) for dim, extent in enumerate(spec.shape))


def _kind_values(values: Mapping[str, Any], arrays: Mapping[str, TensorSpec]) -> dict[str, Any]:
    """Values of which all calls of a kind have the same key."""
    kinds = {name: ("array", len(spec.shape), spec.dtype.spec, _place(values[name])) for name, spec in arrays.items()}
    return {**values, **kinds}


def _place(value: Any) -> tuple[Any, ...]:
    framework = framework_of(value)
    return (framework, str(value.device), value.requires_grad) if framework == "torch" else (framework,)


def _opened(
    values: Mapping[str, Any], arrays: Mapping[str, TensorSpec], open: Collection[Dim], target: Target
) -> dict[str, Any]:
    """Values in which arrays with open dimensions are specs; dimensions as long as each other are one extent."""
    found, extents = dict(values), dict[int, OpenExtent]()
    least = _least(arrays, open, target)
    for name, spec in arrays.items():
        shape = list(spec.shape)
        for dim, extent in enumerate(spec.shape):
            if (name, dim) in open and least[extent] <= extent <= MOST:
                if extent not in extents:
                    extents[extent] = OpenExtent(f"{name}.size({dim})", len(extents), now=extent, least=least[extent])
                shape[dim] = extents[extent]
        if shape != list(spec.shape):
            found[name] = OpenSpec(tuple(shape), spec.dtype, None, _place(values[name]))
    known = (extent for value in found.values() if _is_array(value) for extent in spec_of(value).shape)
    is_large = any(not isinstance(extent, OpenExtent) and extent >= LEAST for extent in known)
    return dict(values) if is_large else found


def least_extent(target: Target, rank: int, dim: int) -> int:
    """What an open extent has at least, for its place in an array."""
    return _LEAST.get(target.family, 1) if rank - dim <= 2 else 1


def _least(arrays: Mapping[str, TensorSpec], open: Collection[Dim], target: Target) -> dict[int, int]:
    """What calls in the place of each extent have at least: a tile where it is of rows or lanes."""
    found: dict[int, int] = {}
    for (name, dim), extent in _dims(arrays):
        if (name, dim) in open:
            found[extent] = max(found.get(extent, 1), least_extent(target, len(arrays[name].shape), dim))
    return found


def open_dims(values: Mapping[str, Any]) -> set[Dim]:
    """The dimensions that are open in the values of a call."""
    specs = {name: value for name, value in values.items() if isinstance(value, OpenSpec)}
    return {dim for dim, extent in _dims(specs) if isinstance(extent, OpenExtent)}


def as_called(values: Mapping[str, Any], target: Target) -> dict[str, Any]:
    """Values with the shapes of the call that opened them: what sizes of blocks are chosen by.

    A TPU's blocks are whole dimensions, or of whole tiles. None is a whole dimension that differs from call to call, so
    these have full tiles.
    """
    tiled = target.family == "pallas"
    return {name: _called(value, tiled) if isinstance(value, OpenSpec) else value for name, value in values.items()}


def _called(spec: OpenSpec, tiled: bool) -> TensorSpec:
    if not tiled:
        return spec.called
    shape = [_in_tiles(extent.now) if isinstance(extent, OpenExtent) else extent for extent in spec.shape]
    return TensorSpec(tuple(shape), spec.dtype, spec.strides)


def _in_tiles(extent: int) -> int:
    """The least extent from one on of which blocks of any rank are legal: a power of two, or whole tiles of one."""
    return max(LANES, 1 << (extent - 1).bit_length()) if extent <= FLAT else round_up(extent, FLAT)


@contextmanager
def refusing(values: Mapping[str, Any]) -> Iterator[None]:
    """Has whatever goes wrong in lowering for open dimensions be a refusal of these."""
    try:
        yield
    except (KoptError, ImportError):
        raise
    except Exception as error:
        if not (open := sorted(open_dims(values))):
            raise
        names = ", ".join(f"{name}.size({dim})" for name, dim in open)
        message = f"the kernel is not compiled for any {names}: {type(error).__name__}: {error}"
        raise UnsupportedError(message, notes=["leave it out of dynamic=: each extent is compiled"]) from error


Names = Collection[str] | Mapping[str, Any]


def known_dims(names: Names | None, parameters: Collection[str]) -> tuple[tuple[str, ...] | None, list[Dim] | None]:
    """What ``dynamic=`` says: the names of parameters whose numbers are open, and the dimensions that are.

    None of either kind leaves that kind to the calls; nothing at all, ``()``, compiles every number and extent.
    Raises `ArgumentError` for dimensions of what is no parameter.
    """
    if names is None:
        return None, None
    if isinstance(names, Mapping):
        names = [entry for name, dims in names.items() for entry in _entries(name, dims)]
    names = (names,) if isinstance(names, str) else tuple(names)
    found = {name: _DIM.fullmatch(name) for name in names}
    dims = [(match[1], int(match[2] or match[3])) for match in found.values() if match]
    for name, _ in dims:
        if name not in parameters:
            raise ArgumentError(
                f"dynamic names '{name}', and the kernel has no such parameter",
                notes=[f"parameters: {', '.join(parameters)}"],
            )
    numbers = tuple(name for name, match in found.items() if match is None)
    return (numbers, dims) if not names else (numbers or None, dims or None)


def _entries(name: str, dims: Any) -> list[str]:
    """The dimensions that a mapping gives of a parameter: a number, several, or None for a parameter of numbers."""
    if dims is None:
        return [name]
    each = [dims] if isinstance(dims, int) else list(dims)
    if any(isinstance(dim, bool) or not isinstance(dim, int) or dim < 0 for dim in each):
        raise ArgumentError(f"dynamic gives the dimensions of '{name}' as numbers from 0, found {dims!r}")
    return [f"{name}.size({dim})" for dim in each]
