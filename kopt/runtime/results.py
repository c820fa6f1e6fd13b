"""What a kernel returns: how to rebuild it from the results of the imported function, and from its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kopt.trees import leaves, rebuild


@dataclass(frozen=True)
class FromResult:
    """Result ``number`` of the imported function."""

    number: int

    def of(self, results: Sequence[Any], arguments: Sequence[Any]) -> Any:
        return results[self.number]


@dataclass(frozen=True)
class FromArgument:
    """Tensor argument ``number`` itself (as the caller gave it)."""

    number: int

    def of(self, results: Sequence[Any], arguments: Sequence[Any]) -> Any:
        return arguments[self.number]


@dataclass(frozen=True)
class Constant:
    """A host value that the import found."""

    value: Any

    def of(self, results: Sequence[Any], arguments: Sequence[Any]) -> Any:
        return self.value


@dataclass(frozen=True)
class Result:
    """The returned value with `FromResult`, `FromArgument` and `Constant` as leaves."""

    tree: Any

    @property
    def arguments(self) -> set[int]:
        """The numbers of the arguments that are returned themselves."""
        return {leaf.number for leaf in leaves(self.tree) if isinstance(leaf, FromArgument)}

    @property
    def is_only_result(self) -> bool:
        """Whether it is the first result of the imported function, which has then no other."""
        return self.tree == FromResult(0)

    def build(self, results: Sequence[Any], arguments: Sequence[Any]) -> Any:
        """The Python value, from the function's results and the caller's tensors."""
        return rebuild(self.tree, lambda leaf: leaf.of(results, arguments))
