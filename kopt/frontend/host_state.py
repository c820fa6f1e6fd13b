"""What Python's objects hold before a body is recorded, and what recording changed.

The body of a device loop runs once for all its visits, and both arms of a device branch run. Names, and the lists and
dicts that they are, become carried values by liveness; attributes of objects become so when they are seen to change.
What other containers and iterators keep from visit to visit has no form in the IR, and is refused.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

from kopt.frontend.merging import MISSING
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import Undefined, is_device, is_number
from kopt.runtime.users_code import is_users, is_users_module
from kopt.trees import leaves

_CONTAINERS = (list, tuple, dict, set, deque, bytearray)
#: Containers that loops and branches copy where they are values of names.
_COPIED = (list, tuple, dict)
_NOT_LOOKED_INTO = (type, ModuleType, BuiltinFunctionType, str, bytes, int, float)


@dataclass(frozen=True, eq=False)
class Attribute:
    """An attribute of an object that is older than a body, and what it was before."""

    owner: Any
    name: str
    label: str
    before: Any

    @property
    def value(self) -> Any:
        """What it is now."""
        return _attributes(self.owner).get(self.name, MISSING)

    def set(self, value: Any) -> None:
        """Gives it a value, past what the class makes of assignments; none for ``MISSING``."""
        if value is not MISSING:
            object.__setattr__(self.owner, self.name, value)
        elif self.value is not MISSING:
            object.__delattr__(self.owner, self.name)


class HostState:
    """The objects that names lead to, with what each holds.

    ``copied`` are names whose lists and dicts the body has copies of; ``where`` says what kind of body it is.
    """

    def __init__(self, names: Mapping[str, Any], copied: Collection[str] = (), where: str = "in a device loop"):
        self.where = where
        self._objects: list[tuple[Any, str, dict[str, Any]]] = []
        self._containers: list[tuple[Any, str, Any]] = []
        self.iterators: dict[int, tuple[Any, str]] = {}
        self._look([(value, name, name in copied) for name, value in names.items() if not name.startswith("__kopt")])

    def _look(self, stack: list[tuple[Any, str, bool]]) -> None:
        seen: set[int] = set()
        while stack:
            value, label, copied = stack.pop()
            if isinstance(value, _NOT_LOOKED_INTO) or id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, _CONTAINERS):
                if not (copied and isinstance(value, _COPIED)):
                    self._containers.append((value, label, copy(value)))
                stack += [(item, f"{label}[{key!r}]", copied) for key, item in _items(value)]
            elif isinstance(value, FunctionType | MethodType):
                stack += [(item, name, False) for name, item in _names_of(value).items()]
            elif hasattr(type(value), "__next__"):
                self.iterators[id(value)] = (value, label)
            elif _is_users(value):
                held = _attributes(value)
                self._objects.append((value, label, held))
                methods = [each for each in vars(type(value)).values() if isinstance(each, FunctionType)]
                stack += [(item, f"{label}.{name}", False) for name, item in held.items()]
                stack += [(method, label, False) for method in methods]

    def changed(self) -> list[Attribute]:
        """The attributes that are not what they were; ``before`` is ``MISSING`` for new ones."""
        return [
            Attribute(owner, name, f"{label}.{name}", before.get(name, MISSING))
            for owner, label, before in self._objects
            for name, value in (dict.fromkeys(before, MISSING) | _attributes(owner)).items()
            if not _same(before.get(name, MISSING), value)
        ]

    def restore(self) -> None:
        """Gives objects back what they held before the import put values of the device there."""
        for each in self.changed():
            if any(isinstance(leaf, Undefined) or is_device(leaf) for leaf in leaves(each.value)):
                each.set(each.before)

    def check_containers(self) -> None:
        """Refuses containers that the body changed."""
        for value, label, before in self._containers:
            if not _alike(value, before, _same):
                self._refuse_container(value, label, before)

    def check_counts(self) -> None:
        """Refuses containers and attributes of which the body changed numbers, or how many there are."""
        for value, label, before in self._containers:
            if not _alike(value, before, lambda a, b: not counts(b, a)):
                self._refuse_container(value, label, before)
        for each in self.changed():
            if counts(each.before, each.value):
                self.refuse(f"'{each.label}' changes", "use a number that is computed from the tile, such as tile.id")

    def _refuse_container(self, value: Any, label: str, before: Any) -> NoReturn:
        if isinstance(value, list) and len(value) > len(before):
            unsupported(
                f"'{label}' grows {self.where}: append and its kin run once, not on each visit",
                f"carry a tensor or a tuple of one length, or use hl.static_range: {label} = {label} + […]",
                id="loop-carried",
            )
        advice = "carried are names, attributes of objects, and lists and dicts whose elements the loop itself assigns"
        self.refuse(f"'{label}' changes", advice)

    def refuse(self, what: str, *notes: str) -> NoReturn:
        """Says that Python does something once."""
        unsupported(f"{what} {self.where}: Python does so once, not on each visit", *notes, id="loop-carried")


def counts(before: Any, after: Any) -> bool:
    """Whether a number of Python's is another one after a cell; those that calls give are open, and not compared."""
    return before is not after and is_number(before) and is_number(after) and before != after


def check_advanced(*values: Any) -> None:
    """Refuses what takes the next item of an iterator that is older than the body that is recorded."""
    for state in current().host_states:
        for value in values:
            if id(value) in state.iterators:
                label = state.iterators[id(value)][1]
                state.refuse(
                    f"'{label}' is advanced", "index a tensor by the tile, or use hl.static_range around the call"
                )


def check_called(function: Any, args: Collection[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuses calls whose results differ from visit to visit: of iterators' methods, of random generators."""
    owner = getattr(function, "__self__", None)
    kind = type(owner)
    if isinstance(owner, _random()) or kind.__module__.startswith("numpy.random"):
        current().host_states[-1].refuse(
            f"'{function.__name__}' of {kind.__module__} draws a number", "use hl.rand, which draws on the device"
        )
    if function is not isinstance:
        check_advanced(owner, *args, *kwargs.values())


def _random() -> Any:
    module = sys.modules.get("random")
    return module.Random if module is not None else ()


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        return iter(value.items())
    return iter(() if isinstance(value, bytearray) else enumerate(value))


def _alike(value: Any, before: Any, same: Any) -> bool:
    """Whether a container holds as many items as before, and the same."""
    if len(value) != len(before):
        return False
    if isinstance(value, set | bytearray):
        return value == before
    return all(a == b and same(x, y) for (a, x), (b, y) in zip(_items(value), _items(before), strict=True))


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and (is_number(a) or isinstance(a, str)) and a == b)


def global_names(code: CodeType, names: Mapping[str, Any]) -> dict[str, Any]:
    """The values of global names that a function's code may read."""
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    return {name: names[name] for name in _read_names(code) - own if name in names}


@cache
def _read_names(code: CodeType) -> frozenset[str]:
    nested = [_read_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(code.co_names).union(*nested)


def _names_of(function: FunctionType | MethodType) -> dict[str, Any]:
    """What the author's own function finds in its closure, its module and the object that it is bound to."""
    if isinstance(function, MethodType):
        return {"self": function.__self__, function.__name__: function.__func__}
    if not is_users(function):
        return {}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    free = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
    return global_names(function.__code__, function.__globals__) | free


def _is_filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not MISSING
    except ValueError:
        return False


def _is_users(value: Any) -> bool:
    """Whether the class of an object is no library's; ``types.SimpleNamespace`` is as good as the author's own."""
    module = type(value).__module__
    root = module.partition(".")[0]
    return is_users_module({"__name__": module}) and (root == "types" or root not in sys.stdlib_module_names)


def _attributes(owner: Any) -> dict[str, Any]:
    """An object's own attributes, in its dict or in slots."""
    slots = [name for kind in type(owner).__mro__ for name in _slots(kind)]
    found = {name: value for name in slots if (value := getattr(owner, name, MISSING)) is not MISSING}
    return {**found, **getattr(owner, "__dict__", {})}


def _slots(kind: type) -> list[str]:
    slots = kind.__dict__.get("__slots__", ())
    return [name for name in ([slots] if isinstance(slots, str) else slots) if name not in ("__dict__", "__weakref__")]
