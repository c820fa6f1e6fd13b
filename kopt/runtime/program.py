"""Host programs of torch code: where they run, and the process groups that they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kopt.errors import ConfigError
from kopt.runtime.ranks import meet, resolve, watched
from kopt.runtime.triton_interpret import TritonRunner, TritonWorkerRunner, interprets_here, triton_runner
from kopt.specs import TensorSpec
from kopt.targets.target import Target


class ProgramRunner(TritonRunner):
    """Runs an emitted program in this process, which holds its groups' connections.

    The ranks of a group meet before the first run, so that one that is missing, or runs something else, is an error
    and no hang. Raises `RankError` and `ArgumentError`.
    """

    def __init__(self, source: str, entry: str, target: Target, specs: Sequence[TensorSpec], groups: Mapping[str, str]):
        super().__init__(source, entry, target, specs)
        self._groups = dict(groups)
        self._call = f"{entry}({', '.join(map(str, specs))})"
        self._has_met = False

    def launcher(self, arrays: Sequence[Any]) -> None:
        """None: each call looks for its groups."""

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Call the program; arguments that it mutates are changed in place."""
        groups = resolve(self._groups)  # kept, they would outlive destroy_process_group, and so would their threads
        if not self._has_met:
            meet(groups, self._call)
            self._has_met = True
        with watched(self._call):
            return super().run(arrays, **groups)


def program_runner(
    source: str,
    entry: str,
    target: Target,
    specs: Sequence[TensorSpec],
    groups: Mapping[str, str],
    limit: float | None,
) -> TritonRunner | TritonWorkerRunner:
    """In this process for programs of several ranks and for those that launch no kernel; else as kernels run."""
    launches = "@triton.jit" in source
    if launches and groups and target.interpreted and not interprets_here():
        raise ConfigError(
            f"'{entry}' launches kernels on {target} and has process groups, which belong to this process",
            notes=["start the ranks with TRITON_INTERPRET=1 in the environment"],
        )
    if groups or not launches:
        return ProgramRunner(source, entry, target, specs, groups)
    return triton_runner(source, entry, target, specs, limit)
