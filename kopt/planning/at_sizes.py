"""What a TPU does for a launch at given sizes, whatever its plan is: how often, how long, with which values alive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from kopt.cached_property import cached_property
from kopt.ir.atoms import BlockNumber
from kopt.ir.launch_model import LaunchModel
from kopt.planning.extents import is_known
from kopt.planning.loaded import Contents
from kopt.planning.padding import is_padded
from kopt.planning.tpu_memory import carried_bytes, planned_loops
from kopt.planning.tpu_work import Cycles, cycles
from kopt.planning.trips import Number, Sizes, all_trips
from kopt.planning.versions import LoopVersions, constant_shares
from kopt.planning.waiting import spilled_bytes
from kopt.plans.plan import LoopSchedule
from kopt.targets.chips import TpuChip
from kopt.targets.costs import tpu_costs

#: The axes of the loops around a place, from outside in.
Path = tuple[str, ...]


class AtSizes:
    """One launch at given sizes, numbers or arrays of them. All of its plans share what is asked of it."""

    def __init__(
        self,
        model: LaunchModel,
        sizes: Sizes,
        chip: TpuChip,
        lengths: Mapping[str, Sequence[int]],
        contents: Contents | None = None,
    ):
        self.model, self.contents = model, contents or {}
        self.sizes: Sizes = {**model.sizes, **sizes}
        self.costs = tpu_costs(chip)
        self.trips = all_trips(model, self.sizes, lengths)
        self._mxu = chip.mxu_size
        self._live: dict[frozenset[tuple[str, str, int]], Number] = {}
        self._work: dict[tuple[frozenset[str], frozenset[tuple[str, int]]], Mapping[Path, Cycles]] = {}
        self._padded: dict[tuple[str, bool], Number] = {}

    def live(self, loops: Mapping[str, LoopSchedule]) -> Number:
        """Bytes of values beyond registers, where loops run so: what waits and spills, and what scratch carries."""
        key = frozenset((tag, loop.kind, loop.unroll) for tag, loop in loops.items())
        if key not in self._live:
            waiting = spilled_bytes(self.model.code, self.sizes, self._mxu, planned_loops(loops, self.trips))
            self._live[key] = waiting + carried_bytes(self.model.code, self.sizes, loops, self.trips)
        return self._live[key]

    def is_padded(self, operand: str, divided: bool) -> Number:
        """Whether a block of an array reaches beyond it, or does not divide it: copied whole, it needs padding."""
        key = operand, divided
        if key not in self._padded:
            found = [is_padded(access, self.sizes, self.trips, divided) for access in self.model.of(operand)]
            self._padded[key] = np.any(np.broadcast_arrays(False, *found), axis=0)
        return self._padded[key]

    def work(self, versions: Mapping[str, LoopVersions], unrolled: Mapping[str, int]) -> Mapping[Path, Cycles]:
        """The cycles of all work at a place, done once, by the place.

        The ``versions`` of loops that cells have, and how many visits of loops are ``unrolled``, say which masks are
        constants.
        """
        code = frozenset(versions), frozenset(unrolled.items())
        if code not in self._work:
            masks = dict.fromkeys(one.mask for one in self.model.work if one.mask is not None)
            known = {mask: constant_shares(mask, self.sizes, self.trips, unrolled) for mask in masks}
            found: dict[Path, Cycles] = {}
            for one in self.model.work:
                done = cycles([one], self.sizes, self.costs)
                if one.mask is not None:
                    inside = [loop.shares[one.mask] for tag, loop in versions.items() if tag in one.path]
                    shares = [known[one.mask], *inside]
                    done = done * reduce(np.minimum, (each.made if one.masks else each.count for each in shares))
                found[one.path] = found.get(one.path, Cycles()) + done
            self._work[code] = found
        return self._work[code]

    @cached_property
    def versions(self) -> Mapping[str, LoopVersions]:
        """The versions of loops, by their tags, as far as versions of cells are known to have these."""
        found: dict[str, LoopVersions] = {}
        for axis in self.model.axes:
            outer = {str(atom.name) for atom in axis.extent.atoms() if isinstance(atom, BlockNumber)}
            if axis.path and len(outer) == 1 and is_known(axis.extent) and {axis.tag, *outer} <= self.trips.keys():
                found[axis.tag] = LoopVersions(self.model, axis, outer.pop(), self.sizes, self.trips)
        return found

    @cached_property
    def paths(self) -> Sequence[Path]:
        """The places where something is computed, loaded or stored."""
        paths = [*(one.path for one in self.model.work), *(access.path for access in self.model.accesses)]
        return list(dict.fromkeys(paths))
