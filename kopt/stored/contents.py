"""What a call is known by in any process: as `kopt.runtime.cache` has it, with nothing known by its identity.

Code counts by its instructions, constants and source; what it reads of globals, closure cells and modules of the
user's by value, for all functions that it may come to; tensors that it holds by their specs; libraries by their
versions. What has no such text, an object of a class of the user's for one, is not known in another process.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import linecache
import sys
from collections.abc import Hashable
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from kopt.config import Config
from kopt.open_extents import OpenExtent
from kopt.runtime.cache import names_read
from kopt.runtime.read_values import attribute_names
from kopt.runtime.users_code import is_users, is_users_module
from kopt.specs import framework_of, spec_of


class NoContents(Exception):
    """A value that no text stands for."""


class Contents:
    """The contents of values, one after another; ``functions`` and ``tensors`` are those that were come to."""

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        self.tensors: list[Any] = []
        self._seen: dict[int, int] = {}
        #: What was seen, so that no other object takes its identity.
        self._kept: list[Any] = []

    def of(self, value: Any) -> Hashable:
        """What a value is, of plain values all the way down. Raises `NoContents` where nothing says that."""
        if value is None or type(value) in (bool, int, str, bytes, complex):
            return type(value).__name__, repr(value)
        if type(value) is float:
            return "float", value.hex()
        if framework := framework_of(value):
            return self._tensor(value, framework)
        if id(value) in self._seen:
            return "again", self._seen[id(value)]
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        return self._object(value)

    def _object(self, value: Any) -> Hashable:
        if isinstance(value, OpenExtent):  # whatever it is in this call
            return "extent", value.name, value.number, value.multiple, value.least
        if isinstance(value, (tuple, list)):
            return _kind(type(value)), tuple(map(self.of, value))
        if type(value) is dict:
            return "dict", tuple((self.of(key), self.of(item)) for key, item in value.items())
        if isinstance(value, FunctionType) and is_users(value):
            return self._function(value)
        if isinstance(value, MethodType):
            return "method", self.of(value.__func__), self.of(value.__self__)
        if isinstance(value, enum.Enum):
            return "enum", _kind(type(value)), value.name, self.of(value.value)
        if isinstance(config := getattr(value, "config", None), Config) and hasattr(value, "fn"):
            return "kernel", self.of(value.fn), self.of(config.key), str(value.target)
        if isinstance(value, type) and not _is_library(value.__module__):
            raise NoContents
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return _kind(type(value)), tuple(self.of(getattr(value, f.name)) for f in dataclasses.fields(value))
        return _named(value)

    def _tensor(self, value: Any, framework: str) -> Hashable:
        """A tensor without its elements: whoever runs the kernel brings it."""
        spec = spec_of(value)
        if self._is_held:
            self.tensors.append(value)
        place = (str(value.device), value.requires_grad) if framework == "torch" else None
        return framework, spec.shape, spec.strides, spec.dtype.spec, place

    @property
    def _is_held(self) -> bool:
        """Whether a function holds what is come to now."""
        return bool(self.functions)

    # functions

    def _function(self, function: FunctionType) -> Hashable:
        self.functions.append(function)
        code, space = function.__code__, function.__globals__
        attributes = attribute_names(code)
        cells = tuple(self._cell(cell) for cell in function.__closure__ or ())
        defaults = self.of(function.__defaults__), self.of(function.__kwdefaults__)
        read = sorted(names_read(code) & space.keys())
        return _code(code), cells, defaults, tuple((name, self._global(space[name], attributes)) for name in read)

    def _cell(self, cell: Any) -> Hashable:
        try:
            return self.of(cell.cell_contents)
        except ValueError:
            return "empty cell"

    def _global(self, value: Any, attributes: frozenset[str]) -> Hashable:
        """Of a module of the user's, what code may read of it."""
        if not isinstance(value, ModuleType) or not is_users_module(vars(value)):
            return self.of(value)
        space = vars(value)
        return value.__name__, tuple(
            (name, self._global(space[name], attributes)) for name in sorted(attributes & space.keys())
        )


def _code(code: CodeType) -> Hashable:
    """Code with where it stands, which emitted comments and errors name, and its source, which is what is imported."""
    shape = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    place = code.co_filename, code.co_firstlineno, code.co_linetable, _source(code)
    return code.co_qualname, shape, code.co_code, tuple(map(_constant, code.co_consts)), names, place


def _constant(value: Any) -> Hashable:
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, (tuple, frozenset)):
        items = map(_constant, value)
        return type(value).__name__, tuple(items) if isinstance(value, tuple) else tuple(sorted(items, key=repr))
    return type(value).__name__, value.hex() if isinstance(value, float) else repr(value)


def _source(code: CodeType) -> str:
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    return "".join(inspect.getblock(lines)) if lines else ""


# libraries


def _kind(type: type) -> str:
    return f"{type.__module__}.{type.__qualname__}"


def _named(value: Any) -> Hashable:
    """What a library calls a value: a module, a function or class where it can be imported, a dtype."""
    if isinstance(value, ModuleType) and _is_library(value.__name__):
        return "module", value.__name__
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", getattr(value, "__name__", None))
    if isinstance(module, str) and isinstance(name, str) and _is_library(module) and _imported(module, name) is value:
        return "name", module, name
    if type(value).__module__ == "torch" and type(value).__name__ in _TORCH:
        return "torch", str(value)
    raise NoContents


#: Classes of torch whose objects are what they print.
_TORCH = ("dtype", "device", "layout", "memory_format")


def _is_library(module: str) -> bool:
    return not is_users_module({"__name__": module})


def _imported(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
