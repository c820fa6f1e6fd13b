"""The pass ``set-eviction-policies``: what caches are told of loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from kopt.diagnostics import remark
from kopt.dialects.tile import GridOp, LoadOp
from kopt.walk import walk


@dataclass(frozen=True)
class SetEvictionPoliciesPass(ModulePass):
    """Gives loads the eviction policies of a configuration, in the order of the program.

    ``set-eviction-policies{policies=first,none}``: ``first`` is evicted early, ``last`` late, ``none`` as caches
    like. A single policy is for all loads. Loads that have a policy already keep it, and are not counted.

        %v = tile.load %x[%i] : …
    becomes
        %v = tile.load %x[%i] {eviction = "evict_first"} : …

    With ``drop`` a target has no such caches: loads lose their policies, and a remark says so once. There is a remark
    too where there are not as many policies as loads. It never refuses.
    """

    name = "set-eviction-policies"

    policies: tuple[str, ...] = field(default=(), metadata={"one of": ("none", "first", "last")})
    drop: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loads = [load for grid in walk(op, GridOp) if not isinstance(grid.parent_op(), GridOp) for load in _loads(grid)]
        if self.drop:
            self._drop(op, loads)
        elif self.policies:
            self._set(op, [load for load in loads if load.eviction is None])

    def _drop(self, op: ModuleOp, loads: Sequence[LoadOp]) -> None:
        told = [load for load in loads if load.eviction is not None]
        for load in told:
            load.attributes.pop("eviction")
        if told or any(policy != "none" for policy in self.policies):
            remark(
                told[0] if told else op,
                "eviction policies of loads have no meaning here: blocks are copied, not cached",
            )

    def _set(self, op: ModuleOp, loads: Sequence[LoadOp]) -> None:
        policies = self.policies * len(loads) if len(self.policies) == 1 else self.policies
        if len(policies) != len(loads):
            remark(op, f"config key 'load_eviction_policies' has {len(policies)} policies, for {len(loads)} loads")
        for load, policy in zip(loads, policies, strict=False):
            if policy != "none":
                load.attributes["eviction"] = StringAttr(f"evict_{policy}")


def _loads(grid: GridOp) -> list[LoadOp]:
    return walk(grid, LoadOp)
