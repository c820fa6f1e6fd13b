"""Cycles of a TPU's units for the work of one step. Products take full tiles, whatever the array's extents are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from kopt.ir.launch_model import E4M3, Work
from kopt.planning.trips import Number, Sizes, value
from kopt.targets.budget import Budget
from kopt.targets.costs import (
    CARRY_CYCLES,
    CHAIN_CYCLES,
    CHAIN_SHARE,
    FILLED_CYCLES,
    RUNNING_BLOCK_CYCLES,
    RUNNING_BLOCK_WAIT,
    RUNNING_SUM_PRODUCTS,
    VECTOR_CYCLES,
    TpuCosts,
)
from kopt.targets.tiling import LANES, SUBLANES, round_up

#: What has a unit beside the vector unit.
_UNIT = {"transcendental": "eup", "crossing": "xlu", "spread": "xlu"}


@dataclass(frozen=True)
class Cycles:
    """Cycles of the units that run beside each other: of products, vectors, transcendentals, and moves across lanes.

    ``carry`` are those between the visits of a loop, in which none works, ``chain`` those that results which wait for
    one another take at least, ``scalar`` those in which copies of rows are started, one after another.
    """

    mxu: Number = 0
    vpu: Number = 0
    carry: Number = 0
    eup: Number = 0
    xlu: Number = 0
    chain: Number = 0
    scalar: Number = 0

    def __add__(self, other: Cycles) -> Cycles:
        return Cycles(*(mine + theirs for mine, theirs in zip(self._all, other._all, strict=True)))

    def __mul__(self, times: Number) -> Cycles:
        return Cycles(*(mine * times for mine in self._all))

    @property
    def _all(self) -> tuple[Number, ...]:
        return self.mxu, self.vpu, self.carry, self.eup, self.xlu, self.chain, self.scalar

    def vectors(self, share: float) -> Number:
        """Those of the vector units, each at its own work, where ``share`` of the lanes' peak is had."""
        return np.maximum(np.maximum(self.vpu, self.eup) / share, self.xlu)


def total(places: Iterable[tuple[Any, Cycles]]) -> Cycles:
    """The work of several places."""
    return sum((done for _, done in places), Cycles())


def chain_wait(work: Cycles) -> Number:
    """Cycles of some work in which units wait for one another, where products wait for products.

    Work on other rows fills most of them. A few rows leave the latency of the chain.
    """
    beside = np.minimum(work.mxu, work.vectors(1.0))
    return np.maximum(CHAIN_SHARE * beside, CHAIN_CYCLES - beside)


def next_wait(work: Cycles) -> Number:
    """Those of each other visit that is written out beside one: what vector work lacks to fill them.

    They are half of the chain's latency at most, and none where vector work bounds a visit.
    """
    vectors = work.vectors(1.0)
    return np.clip(FILLED_CYCLES - vectors, 0.0, CHAIN_CYCLES / 2) * (work.mxu > vectors)


def cycles(work: Iterable[Work], sizes: Sizes, costs: TpuCosts) -> Cycles:
    """The cycles of some work, done once."""
    return sum((_cycles(one, sizes, costs) for one in work), Cycles())


def _cycles(work: Work, sizes: Sizes, costs: TpuCosts) -> Cycles:
    dims = [value(size, sizes) for _, size in work.dims]
    if work.unit == "product":
        *batch, m, k, n = dims
        return Cycles(mxu=work.count * prod(batch) * product(m, k, n, work.dtype, costs))
    vectors = _vectors(dims)
    if work.unit == "running_sum":
        rows, lanes = dims
        return _running_sum(rows, lanes, work.dtype, costs) * work.count
    if work.unit == "carry":
        beyond = Budget.spills(vectors * LANES * SUBLANES * 4)
        return Cycles(carry=work.count * CARRY_CYCLES * vectors * beyond)
    return Cycles(**{_UNIT.get(work.unit, "vpu"): work.count * _of_vector(work, costs) * vectors})


def _of_vector(work: Work, costs: TpuCosts) -> float:
    """The cycles of one operation on a vector register."""
    if work.unit == "spread":
        return costs.spread_cycles
    usual = VECTOR_CYCLES[work.unit]
    if work.unit == "conversion":
        return costs.e4m3_cycles.get("to" if work.dtype == E4M3 else "from", usual)
    return costs.narrow_cycles if (work.unit, work.dtype) == ("elementwise", "bf16") else usual


def product(m: Number, k: Number, n: Number, dtype: str, costs: TpuCosts) -> Number:
    """``2 · m · ⌈k⌉w · ⌈n⌉w / F``; columns and sums are whole tiles of the unit, rows whole sublanes.

    To load a tile of the second operand into the unit takes as long as half as many rows as it has columns: by libtpu's
    bundles, products of 16, 32 and 64 rows take 16 cycles a tile on v5e, 40 on v6e and 38 on tpu7x.
    """
    unit, passes = costs.mxu_size, costs.passes.get(dtype, 1.0)
    rows = np.maximum(round_up(m, SUBLANES), unit // 2)
    flops = 2 * rows * round_up(k, unit) * round_up(n, unit)
    return passes * flops / costs.flops_per_cycle


def _running_sum(rows: Number, lanes: Number, dtype: str, costs: TpuCosts) -> Cycles:
    """Products of blocks of lanes with a triangle of ones, which is made once a step; each block waits for the last."""
    unit = costs.mxu_size
    ones, taken, blocks = unit**2 / (LANES * SUBLANES), _vectors([rows, lanes]), round_up(lanes, unit) / unit
    mxu = RUNNING_SUM_PRODUCTS[dtype] * product(rows, unit, lanes, "bf16", costs)
    handed = RUNNING_BLOCK_CYCLES * blocks * round_up(rows, SUBLANES) / SUBLANES
    return Cycles(
        mxu=mxu, vpu=VECTOR_CYCLES["running_sum"] * (taken + ones) + handed, chain=RUNNING_BLOCK_WAIT * blocks
    )


def _vectors(dims: list[Number]) -> Number:
    """Vector registers of 32-bit elements: the last two dimensions are padded to (8, 128)."""
    if len(dims) < 2:
        return round_up(dims[0] if dims else 1, LANES * SUBLANES) / (LANES * SUBLANES)
    rows, lanes = round_up(dims[-2], SUBLANES), round_up(dims[-1], LANES)
    return prod(dims[:-2]) * rows * lanes / (LANES * SUBLANES)
