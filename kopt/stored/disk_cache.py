"""A kernel's way through the cache on disk: what a call is known by there, and what is kept of it.

A kernel is kept after its first call has gone well. It is not where another process could not know that it is the
same: what its import read of tensors' elements, or of objects of a user's classes, no key says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kopt.config import Config
from kopt.runtime.cache import torch_state
from kopt.runtime.cache_folder import Folder, cache_folder
from kopt.runtime.compiled_kernel import CompiledKernel
from kopt.runtime.read_values import named_values
from kopt.runtime.seeds import RandomSeed
from kopt.runtime.sharing import sharing
from kopt.runtime.versions import own_files, package_versions
from kopt.stored.contents import Contents, NoContents
from kopt.stored.record import Record
from kopt.stored.values import NotStored
from kopt.targets.constant_files import users_text
from kopt.targets.target import Target

if TYPE_CHECKING:
    from kopt.lowered import Lowered

#: Changes where records of before are not read any more.
_FORMAT = 1


@dataclass(frozen=True)
class DiskCall:
    """A call of a kernel, as the cache on disk knows it: its key, and what its function comes to."""

    folder: Folder
    key: str
    contents: Contents

    @staticmethod
    def of(fn: Any, values: Sequence[Any], target: Target, config: Config, surroundings: Hashable) -> DiskCall | None:
        """What a call of a function is known by; None where there is no cache, or no key says what the call is."""
        root = cache_folder()
        if root is None or target.family == "reference":
            return None
        contents = Contents()
        try:
            function = contents.of(fn)
            held = list(contents.tensors)
            arguments = [contents.of(value) for value in values]
            settings = contents.of((config.key, config.remarks, surroundings, torch_state()))
        except (NoContents, ValueError, TypeError):
            return None
        call = function, arguments, settings, sharing([*values, *held]), str(target), repr(target.chip), users_text()
        key = hashlib.sha256(repr((_FORMAT, package_versions(), own_files(), call)).encode()).hexdigest()
        return DiskCall(Folder(root, "kernels"), key, contents)

    def find(self, signature: Any) -> CompiledKernel | None:
        """The kernel that was kept, ready to run, as a Python function of a signature."""
        text = self.folder.find(self.key)
        if text is None:
            return None
        try:
            content = json.loads(text)
            hidden = content.pop("held")
            record = Record.from_json(content)
            values = [self._value(number, spec) for number, spec in zip(hidden, record.hidden_specs, strict=True)]
            return record.compiled(values, signature, named_values(self.contents.functions))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            self.folder.remove(self.key)
            return None

    def keep(self, low: Lowered) -> None:
        """Writes what another process needs; nothing where it could not tell that the call is the same."""
        known = {read.place for read in named_values(self.contents.functions)}
        if low.form is None or any(read.place not in known for read in low.form.reads):
            return
        try:
            held = [self._number(value) for value in low.hidden]
            text = json.dumps({"held": held, **Record.of(low).json}, separators=(",", ":"))
        except NotStored:
            return
        self.folder.keep(self.key, text)

    def _number(self, value: Any) -> int | None:
        """Which of the tensors that the function comes to a hidden one is; None of a seed."""
        if isinstance(value, RandomSeed):
            return None
        found = [number for number, tensor in enumerate(self.contents.tensors) if tensor is value]
        if not found:
            raise NotStored("a tensor that no function names")
        return found[0]

    def _value(self, number: int | None, spec: Any) -> Any:
        return spec if number is None else self.contents.tensors[number]
