"""One compiled kernel as JSON: its emitted module, what calls of it look like, and what they look at first."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from kopt.cached_property import cached_property
from kopt.errors import Location
from kopt.runtime.compiled_kernel import CallForm, CompiledKernel
from kopt.runtime.executable import Executable
from kopt.runtime.read_values import ReadValue
from kopt.runtime.results import Result
from kopt.runtime.signature import Signature, TensorParameter
from kopt.specs import spec_of
from kopt.stored.standalone import decoded_signature
from kopt.stored.values import (
    NotStored,
    decoded_path,
    decoded_spec,
    decoded_tree,
    encoded,
    encoded_path,
    encoded_signature,
    encoded_spec,
)

if TYPE_CHECKING:
    from kopt.call_checks import CallChecks
    from kopt.lowered import Lowered


@dataclass(frozen=True)
class Record:
    """What a process needs to call a kernel that another one compiled. All fields are JSON.

    ``entry`` is the kernel's name in the IR, ``function`` that of the emitted module ``source``; ``parameters`` the
    names and specs of its tensors, ``hidden`` those of tensors that the kernel brings; ``results`` the specs of what
    comes back, final values of the ``mutated`` ones last. ``signature``, ``paths``, ``numbers`` and ``tree`` are those
    of the Python function (`kopt.runtime.compiled_kernel.CallForm`). ``checked`` is the imported module, where calls
    look at its accesses first.
    """

    entry: str
    function: str
    target: str
    source: str
    parameters: Sequence[Any]
    hidden: Sequence[Any]
    results: Sequence[Any]
    mutated: Sequence[int]
    signature: Sequence[Any]
    paths: Sequence[Any]
    tree: Any
    numbers: Sequence[Any] = ()
    swap: bool = False
    location: Mapping[str, Any] | None = None
    intervals: Sequence[Any] = ()
    checked: str | None = None

    @staticmethod
    def of(low: Lowered) -> Record:
        """The record of a lowered kernel. Raises `NotStored` for what only this process can run."""
        executable, form = low.executable, low.call_form
        if low.program is not None or low.target.family == "reference":
            raise NotStored("a program, and what no module was emitted for")
        if form.mutated != executable.mutated:
            raise NotStored("arguments that change in Python alone")
        place = executable.location
        return Record(
            low.entry,
            low.function,
            str(low.target),
            low.source,
            [[p.name, encoded_spec(p.spec)] for p in low.signature.parameters],
            [encoded_spec(spec_of(value)) for value in executable.hidden],
            [encoded_spec(spec) for spec in executable.results or ()],
            list(executable.mutated),
            encoded_signature(form.signature),
            [encoded_path(path) for path in form.paths],
            encoded(form.results.tree),
            [encoded_path(path) for path in sorted(form.numbers, key=repr)],
            executable.swaps,
            None if place is None else asdict(place),
            [[position, *bounds] for position, bounds in low.intervals.items()],
            low.ir if low.checks is not None and low.checks.remain else None,
        )

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> Record:
        """A record from what `json` is of it. Raises `ValueError` for anything else."""
        if content.keys() != Record.keys():
            raise ValueError("not a record of a kernel")
        return Record(**content)

    @staticmethod
    def keys() -> set[str]:
        """The names of the fields."""
        return {f.name for f in fields(Record)}

    @property
    def json(self) -> dict[str, Any]:
        """What JSON holds."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def hidden_specs(self) -> list[Any]:
        """What the kernel brings: specs of tensors, and seeds that calls draw."""
        return [decoded_spec(spec) for spec in self.hidden]

    def compiled(
        self, hidden: Sequence[Any], signature: inspect.Signature | None = None, reads: Sequence[ReadValue] = ()
    ) -> CompiledKernel:
        """The kernel ready to run, with the tensors that it brings; ``reads`` are values that it relies on.

        ``signature`` is the Python function's, where that is here.
        """
        form = CallForm(
            signature or decoded_signature(self.signature),
            tuple(map(decoded_path, self.paths)),
            Result(decoded_tree(self.tree)),
            tuple(self.mutated),
            tuple(reads),
            numbers=frozenset(map(decoded_path, self.numbers)),
        )
        return CompiledKernel(self._executable(hidden), form)

    def _executable(self, hidden: Sequence[Any]) -> Executable:
        parameters = tuple(TensorParameter(name, decoded_spec(spec)) for name, spec in self.parameters)
        return Executable(
            self.source,
            self.function,
            Signature(self.entry, parameters),
            self.target,
            hidden=hidden,
            mutated=self.mutated,
            results=[decoded_spec(spec) for spec in self.results],
            swap=self.swap,
            location=None if self.location is None else Location(**self.location),
            checks=None if self.checked is None else _LaterChecks(self.checked, self.entry),
            intervals={position: (low, high) for position, low, high in self.intervals},
        )


class _LaterChecks:
    """The checks of a module's text, which is read when the first call is looked at."""

    #: What was stored had something to look at.
    remain = True

    def __init__(self, text: str, entry: str):
        self._text, self._entry = text, entry

    @cached_property
    def _checks(self) -> CallChecks:
        from kopt.call_checks import call_checks
        from kopt.parsing import parse_module

        return call_checks(parse_module(self._text), self._entry)

    @property
    def accesses(self) -> Any:
        """See `kopt.runtime.argument_checks.Checks`."""
        return self._checks.accesses

    @property
    def slices(self) -> Any:
        """See `kopt.runtime.argument_checks.Checks`."""
        return self._checks.slices

    @property
    def host_arrays(self) -> Any:
        """See `kopt.runtime.argument_checks.Checks`."""
        return self._checks.host_arrays
