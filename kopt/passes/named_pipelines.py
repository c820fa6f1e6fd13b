"""Pipelines by name: ``pallas-tpu7x``, ``triton-sm90``, ``reference``, each the whole pipeline of a target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.passes import ModulePass

from kopt.config import Config
from kopt.passes.pipelines import pipeline
from kopt.targets.target import parse_target, target_names


class _NamedPipelines(Mapping[str, list[ModulePass]]):
    """The passes of a target as a kernel without a configuration gets them; an interpreter's are those of its chip."""

    def __getitem__(self, name: str) -> list[ModulePass]:
        return pipeline(parse_target(self._targets()[name]), Config())

    def __iter__(self) -> Iterator[str]:
        return iter(self._targets())

    def __len__(self) -> int:
        return len(self._targets())

    def _targets(self) -> dict[str, str]:
        """Targets by the names of their pipelines; chips of other packages are among them."""
        targets = {name.replace(":", "-"): parse_target(name) for name in target_names()}
        return {
            name: str(target)
            for name, target in targets.items()
            if target.lowers and (target.chip is None or not target.interpreted)
        }


NAMED_PIPELINES: Mapping[str, list[ModulePass]] = _NamedPipelines()
