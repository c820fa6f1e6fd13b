"""Host tensors while a kernel is imported: meta tensors whose operations are recorded as ``host`` ops.

Every array argument becomes a meta tensor of its shape, strides and dtype. A dispatch mode sees each torch operator
on them: views, allocations and copies have ops of their own, the others are recorded by their ATen names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from kopt.dialects import tile
from kopt.dialects.tile import TileType
from kopt.frontend.groups import Groups
from kopt.frontend.indexing import load
from kopt.frontend.open_shapes import tracked
from kopt.frontend.state import unsupported
from kopt.frontend.tracer import Tracer
from kopt.frontend.values import DeviceTensor
from kopt.runtime.run_time_scalars import ScalarArgument


@dataclass(eq=False)
class Root:
    """The storage behind tensors: an argument (by number) or an allocation; and how often the kernel writes it."""

    argument: int | None = None
    writes: int = 0

    @property
    def mutated(self) -> bool:
        """Whether the kernel writes it."""
        return self.writes > 0


@dataclass(frozen=True)
class Snapshot:
    """What stands for a view that the IR cannot express: a copy of the elements of ``root`` after so many writes."""

    view: str
    root: Root
    writes: int

    def check(self, written: bool) -> None:
        """Refuses what a view would do otherwise than a copy."""
        if written:
            unsupported(f"the result of '{self.view}' is written", "kopt copies it: write through slices and reshapes")
        if self.root.writes != self.writes:
            unsupported(
                f"the result of '{self.view}' is read after its elements were written", "call it again", id="host-side"
            )


@dataclass(eq=False)
class HostArray:
    """What is known of one meta tensor: its value in the IR, its storage, and how to compute its data."""

    ssa: SSAValue
    root: Root
    recipe: Callable[[Any], Any] | None = None
    argument: int | None = None
    snapshot: Snapshot | None = None


class Host(TorchDispatchMode):
    """Records torch operators on the host's tensors."""

    def __init__(
        self,
        tracer: Tracer,
        record: Callable[[Host, Any, tuple[Any, ...], dict[str, Any]], Any],
        add_hidden: Callable[[torch.Tensor], torch.Tensor],
        seed: Callable[[], torch.Tensor],
        scalar: Callable[[ScalarArgument], torch.Tensor],
    ):
        super().__init__()
        self.tracer = tracer
        #: What becomes of an operator.
        self.record = record
        self.add_hidden = add_hidden
        #: The seed that torch's generator gives to each call: a hidden argument.
        self.seed = seed
        #: The argument of rank 0 that holds a number which each call gives.
        self.scalar = scalar
        self.real: list[Any] = []
        self.reads: list[tuple[Callable[[Any], Any], Any]] = []
        self.keep: list[torch.Tensor] = []
        #: What pointers of the launch that is recorded point to, stacked; and tensors made of pointers, by those.
        self.stacks: dict[Any, Any] = {}
        self.pointed: dict[Any, torch.Tensor] = {}
        #: The process groups that collectives name, and the algorithm of all-reduces that name none.
        self.groups = Groups()
        self.all_reduce: str | None = None
        #: Whether torch's operators pass unrecorded.
        self.quiet = False
        #: How many operations draw random numbers from the call's seed.
        self.draws = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Keeps torch's compiler, which takes a second to load, out of this."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if self.quiet:
            return func(*args, **(kwargs or {}))
        return self.record(self, func, args, kwargs or {})

    # tensors and their values

    def track(self, tensor: torch.Tensor, array: HostArray) -> torch.Tensor:
        """Remembers what a meta tensor stands for."""
        tensor._kopt = array  # pyright: ignore[reportAttributeAccessIssue]
        tensor = tracked(tensor)
        tensor._kopt = array  # pyright: ignore[reportAttributeAccessIssue]
        self.keep.append(tensor)
        return tensor

    def array(self, tensor: torch.Tensor) -> HostArray:
        """What a tensor stands for; a real tensor (of a closure, a global) becomes a hidden argument."""
        found = getattr(tensor, "_kopt", None)
        return found if isinstance(found, HostArray) else self.array(self.add_hidden(tensor))

    def meta(self, tensor: torch.Tensor) -> torch.Tensor:
        """The meta tensor that stands for a tensor."""
        if getattr(tensor, "_kopt", None) is not None:
            return tensor
        return self.add_hidden(tensor)

    def ssa(self, tensor: torch.Tensor) -> SSAValue:
        """The memref of a tensor."""
        array = self.array(tensor)
        if array.snapshot is not None:
            array.snapshot.check(written=False)
        return array.ssa

    def written(self, tensor: torch.Tensor) -> SSAValue:
        """The memref of a tensor that is about to be written."""
        array = self.array(tensor)
        if array.snapshot is not None:
            array.snapshot.check(written=True)
        array.root.writes += 1
        return array.ssa

    def emit(self, op: Operation) -> SSAValue:
        """Appends a host op, before the device loop that may be open."""
        self.tracer.builder.insert(op, InsertPoint.at_end(self.tracer.body))
        return op.results[0] if op.results else None  # pyright: ignore[reportReturnType]

    def result(self, op: Operation, tensor: torch.Tensor, root: Root, recipe: Any = None) -> torch.Tensor:
        """A new meta tensor that an op computes."""
        return self.track(tensor, HostArray(self.emit(op), root, recipe))

    def end_launch(self, grid: Operation) -> None:
        """What happens on the host right after a launch: what it stored behind pointers goes there."""
        stacks, self.stacks = list(self.stacks.values()), {}
        for stack in stacks:
            stack.write_back(grid)

    # tensors met in device loops

    def load_scalar(self, tensor: torch.Tensor) -> DeviceTensor:
        """A host tensor of rank 0 used as a device value."""
        if tensor.ndim:
            unsupported(
                f"a host tensor of shape {list(tensor.shape)} is used as a device value",
                "index it with tiles or slices: x[tile, :]",
                id="shapes",
            )
        return self.load_whole(tensor)

    def load_whole(self, tensor: torch.Tensor) -> DeviceTensor:
        """All of a host tensor as a device value."""
        return load(self.meta(tensor), ())

    def full(self, argument: ScalarArgument, type: TileType) -> DeviceTensor:
        """Every lane a number that each call gives."""
        scalar = self.load_whole(self.scalar(argument)).ssa
        if scalar.type.element_type != type.element_type:  # pyright: ignore[reportAttributeAccessIssue]
            scalar = self.tracer.emit(tile.CastOp(scalar, type.element_type))
        return DeviceTensor(self.tracer.emit(tile.BroadcastOp(scalar, [], type)) if type.dims.data else scalar)

    # data

    def value_of(self, tensor: torch.Tensor, read: Callable[[torch.Tensor], Any]) -> Any:
        """A Python value read from a tensor's data: computed now from the real arguments, and a guard afterwards."""
        array = self.array(tensor)
        recipe = array.recipe
        if recipe is None or array.root.mutated:
            unsupported(
                "a value that device loops compute is read on the host",
                "return it, and read it outside of the kernel",
                id="host-side",
            )
        if any(value is None for value in self.real):
            unsupported(
                "reading a tensor's data needs real tensors, not specs", "pass tensors to lower()", id="host-side"
            )
        value = self.compute(lambda data: read(recipe(data)), self.real)
        self.reads.append((lambda data: read(recipe(data)), value))
        return value

    def compute(self, recipe: Callable[[Any], Any], data: Sequence[Any]) -> Any:
        """Runs torch on real data, outside of this mode."""
        from torch.utils._python_dispatch import _disable_current_modes

        with _disable_current_modes(), torch.no_grad():
            return recipe([to_torch(value) for value in data])


def to_torch(value: Any) -> torch.Tensor:
    """Any framework's array as a CPU or device tensor of torch."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    import numpy as np

    array = np.asarray(value)
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(np.array(array))
