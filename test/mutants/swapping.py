"""Puts a mutant into the functions that are loaded: their code is changed in place, whoever has imported them."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

Key = tuple[str, int]
#: The class of functions that remember what they gave.
_Cached: type = type(cache(len))


def codes(top: CodeType) -> Iterator[CodeType]:
    """A piece of code, and those inside of it."""
    yield top
    for constant in top.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def outermost(path: str, text: str) -> dict[Key, CodeType]:
    """The code of a file's functions that are in no other function, by name and line."""
    found: dict[Key, CodeType] = {}

    def visit(code: CodeType) -> None:
        for each in code.co_consts:
            if not isinstance(each, CodeType):
                continue
            if each.co_flags & 0x1:  # its variables are its own: a function, no class body
                found[each.co_qualname, each.co_firstlineno] = each
            else:
                visit(each)

    visit(compile(text, path, "exec", dont_inherit=True))
    return found


def inside(top: CodeType) -> dict[Key, CodeType]:
    """The code of functions in a function: of those that it gave before, too, such as a table's rows."""
    found = [code for code in codes(top) if code is not top]
    names = [(code.co_qualname, code.co_firstlineno) for code in found]
    return {key: code for key, code in zip(names, found, strict=True) if names.count(key) == 1}


class Functions:
    """The functions of a package that are loaded, and those of them that remember what they gave."""

    def __init__(self, root: str) -> None:
        self.loaded: dict[str, list[FunctionType]] = defaultdict(list)
        self.remembering: dict[str, list[Any]] = defaultdict(list)
        for each in gc.get_objects():
            function = each.__wrapped__ if type(each) is _Cached else each
            if type(function) is FunctionType and function.__code__.co_filename.startswith(root):
                into = self.loaded if each is function else self.remembering
                into[function.__code__.co_filename].append(each)

    def swap(self, path: str, old: str, new: str) -> int:
        """How many functions have other code now. What those of the file remember of before is forgotten."""
        for function in self.remembering[path]:
            function.cache_clear()
        before, after = outermost(path, old), outermost(path, new)
        changed = {key: code for key, code in after.items() if key in before and before[key] != code}
        for key in list(changed):
            olds = inside(before[key])
            changed |= {each: code for each, code in inside(changed[key]).items() if olds.get(each, code) != code}
        count = 0
        for function in self.loaded[path]:
            code = changed.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                function.__code__ = code
                count += 1
        return count
