"""What guards look at of arrays whose extents may be other ones in each call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kopt.open_extents import MOST, OpenExtent

#: A condition on ``{x}`` and numbered constants, and these.
Condition = tuple[Any, ...]


def open_conditions(tensor: Any, shape: Sequence[int], names: dict[OpenExtent, str]) -> Iterator[Condition]:
    """Conditions on a tensor of torch like one that was admitted: contiguous, in memory, of a shape like ``shape``.

    Extents that the kernel has as one are as each other; ``names`` are those that were met, and get the others.
    """
    yield (f"len(shape := {{x}}.shape) == {len(shape)}",)
    for dim, extent in enumerate(shape):
        if not isinstance(extent, OpenExtent):
            yield (f"shape[{dim}] == {extent:d}",)
        elif (known := names.get(extent)) is not None:
            yield (f"shape[{dim}] == {known}",)
        else:
            name = names[extent] = f"n{len(names)}"
            yield (f"{extent.least} <= ({name} := shape[{dim}]) <= {MOST} and not {name} % {extent.multiple}",)
    reach = "({x}.storage_offset() + {x}.numel()) * {0}"
    memory = f"{{x}}.is_contiguous() and (s := {{x}}.untyped_storage()).data_ptr() and s.nbytes() >= {reach}"
    yield memory, tensor.itemsize
