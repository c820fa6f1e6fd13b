"""One custom operator of torch: its schema, what runs it, what follows its shapes, its batching and its backward."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from kopt.cached_property import cached_property
from kopt.errors import ArgumentError, UnsupportedError
from kopt.operators.gradients import Gradients
from kopt.operators.levels import call_operator
from kopt.operators.names import operator_name
from kopt.operators.operands import Form, open_numbers
from kopt.operators.shapes import like, open_shapes
from kopt.operators.structure import Structure, exact, fresh, hint, outputs_of, untraced

if TYPE_CHECKING:
    from kopt.operators.calls import Operators


class Operator:
    """The operator for the calls of a kernel that have one form, and results and written arguments alike.

    ``written`` are the numbers of the operands that it changes.
    """

    def __init__(self, owner: Operators, form: Form, structure: Structure):
        self.owner = owner
        self.kernel = owner.kernel
        self.form = form
        self._structure = structure
        tensors = [operand.number for operand in form.operands if operand.is_tensor]
        if any(number >= len(tensors) for number in structure.mutated):
            raise UnsupportedError(
                f"{owner.kernel.fn.__name__} writes a tensor of its closure, which no operator of torch may",
                notes=["pass the tensor as an argument"],
                id="gradient",
            )
        self.written = tuple(tensors[number] for number in structure.mutated)
        self.gradients = Gradients(owner.kernel, form)
        schema = _schema(form, self.written, len(structure.specs))
        tags = (torch.Tag.nondeterministic_seeded,) if structure.draws else None
        names = [form.operands[number].name for number in self.written]
        name = operator_name(owner.kernel, form, schema)
        define = torch.library.custom_op(name, mutates_args=names, schema=schema, tags=tags)
        self.definition = define(self._run)
        self.definition.register_fake(self._fake)
        self.definition.register_vmap(self.mapped)
        if not self.written:
            self.definition.register_autograd(
                lambda ctx, *grads: self.gradients.backward(ctx, grads, ctx.needs_input_grad),
                setup_context=self.gradients.save,
            )

    @property
    def overload(self) -> Any:
        """The operator itself."""
        return self.definition._opoverload

    @cached_property
    def differentiated(self) -> Any:
        """The operator as a graph has it that is differentiated: a function that torch stores nothing of.

        What torch has stored of operators in the process before has no trace of their backwards: those may be others
        by now, and operators of which they consist are not defined before they are traced.
        """
        overload = self.overload

        def differentiated(*operands: Any) -> Any:
            return overload(*operands)

        return torch._dynamo.allow_in_graph(differentiated)  # pyright: ignore[reportPrivateImportUsage]

    def _run(self, *operands: Any) -> Any:
        """The kernel, on tensors that have elements."""
        kernel = _without_swaps(self.kernel)
        call = inspect.BoundArguments(kernel._signature, self.form.values(operands))  # pyright: ignore
        with untraced():
            value = kernel(*call.args, **call.kwargs)
            return _packed(fresh(outputs_of(self._structure, value), operands))

    def _fake(self, *operands: Any) -> Any:
        """Results without elements, by the shapes of the operands alone."""
        values, device = self.form.values(operands), _device(operands)
        if any(map(open_numbers, operands)):
            structure = self.owner.structure(values, hint)
            blank = self.form.values([like(x) if isinstance(x, torch.Tensor) else x for x in operands])
            if (shapes := open_shapes(self.kernel, blank, structure)) is not None:
                return _packed(
                    [_empty(spec, device, shape) for spec, shape in zip(structure.specs, shapes, strict=True)]
                )
        return _packed([_empty(spec, device, spec.shape) for spec in self.owner.structure(values, exact).specs])

    def mapped(self, info: Any, in_dims: Sequence[int | None], *operands: Any) -> Any:
        """The operator for each item of a batch, by a loop."""
        for number in self.written:
            if in_dims[number] is None:
                name = self.form.operands[number].name
                raise ArgumentError(
                    f"{self.kernel.fn.__name__}: argument '{name}' is written, and torch.vmap does not map it",
                    notes=["map it too (in_dims), so that each item of the batch has its own"],
                    id="gradient",
                )
        if self._structure.draws and info.randomness == "error":
            raise ArgumentError(
                f"{self.kernel.fn.__name__} draws random numbers",
                notes=["say how they vary over the batch: torch.vmap(…, randomness='different')"],
                id="gradient",
            )
        columns: list[list[torch.Tensor]] = []
        for item in range(info.batch_size):
            picked = [x if dim is None else x.select(dim, item) for x, dim in zip(operands, in_dims, strict=True)]
            last = item == info.batch_size - 1
            with nullcontext() if last or info.randomness == "different" else self._same_numbers(operands):
                columns.append(_unpacked(call_operator(self, picked)))
        if not columns:
            specs = self.owner.structure(self.form.values(_items(operands, in_dims))).specs
            found = [_empty(spec, _device(operands), (0, *spec.shape)) for spec in specs]
        else:
            found = [torch.stack(column) for column in zip(*columns, strict=True)]
        return _packed(found), _packed([0] * len(found))

    def _same_numbers(self, operands: Sequence[Any]) -> AbstractContextManager[None]:
        """What is drawn while it lasts is drawn again after."""
        device = _device(operands)
        devices = [] if device.type == "cpu" else [device]
        return torch.random.fork_rng(devices, self._structure.draws, device_type=device.type)


def _schema(form: Form, written: Sequence[int], results: int) -> str:
    """The operator's schema; what it writes is marked."""

    def typed(number: int, type: str) -> str:
        return f"{type}(a{number}!)" if number in written else type

    arguments = ", ".join(f"{typed(o.number, o.type)} {o.name}" for o in form.operands)
    returned = "()" if not results else "Tensor" if results == 1 else f"({', '.join(['Tensor'] * results)})"
    return f"({arguments}) -> {returned}"


def _packed(values: list[Any]) -> Any:
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def _unpacked(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, tuple | list) else [value]


def _empty(spec: Any, device: torch.device, shape: Sequence[Any]) -> torch.Tensor:
    return torch.empty(shape, dtype=getattr(torch, spec.dtype.torch), device=device)


def _device(operands: Sequence[Any]) -> torch.device:
    return next((x.device for x in operands if isinstance(x, torch.Tensor)), torch.device("cpu"))


def _items(operands: Sequence[Any], in_dims: Sequence[int | None]) -> list[Any]:
    """The operands of an item that there is not."""
    return [
        x if dim is None else x.new_empty([size for place, size in enumerate(x.shape) if place != dim])
        for x, dim in zip(operands, in_dims, strict=True)
    ]


def _without_swaps(kernel: Any) -> Any:
    """The kernel, which leaves tensors the storage that torch's compilers have planned for them."""
    if kernel.config.output_only != "swap":
        return kernel
    return type(kernel)(kernel.fn, replace(kernel.config, output_only="return"), kernel.target)
