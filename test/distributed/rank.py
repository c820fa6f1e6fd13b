"""One rank: runs emitted programs and their references, and writes how many results were wrong.

rank.py FOLDER BARRIERS RUNS NAME…      FOLDER has NAME.py; writes FOLDER/wrong_RANK.json
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import references
import stand_in

from kopt.dtypes import BY_SPEC
from kopt.runtime.tolerance import allclose


def load(path: Path):
    """The function that an emitted module defines."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, path.stem)


def is_right(got, wanted) -> bool:
    """Whether all results agree, in their strides too."""
    pairs = zip(got, wanted, strict=True) if isinstance(wanted, tuple) else [(got, wanted)]
    return all(allclose(a.numpy(), b.numpy(), BY_SPEC["f32"], 16**2) and not torch.isnan(a).any() for a, b in pairs)


def wrong(folder: Path, name: str, runs: int, groups: dict) -> int:
    """How many of some calls give a wrong result; what they returned must not change in later calls."""
    function, reference = load(folder / f"{name}.py"), getattr(references, name)
    parameters = inspect.signature(function).parameters.values()
    named = {p.name: groups[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY}
    tensors = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)
    generator = torch.Generator().manual_seed(dist.get_rank())
    kept = []
    for _ in range(runs):
        given = [torch.randn(16, 16, generator=generator) / 4 for _ in range(tensors)]
        kept.append((function(*given, **named), reference(*given, **named)))
    return sum(not is_right(*pair) for pair in kept)


def main(folder: str, barriers: str, runs: str, *names: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    held = stand_in.install(set(barriers.split(",")))
    ranks = list(range(dist.get_world_size()))
    groups = {"tp": dist.group.WORLD, "dp": dist.new_group(ranks)}
    counts = {name: wrong(Path(folder), name, int(runs), groups) for name in names}
    Path(folder, f"wrong_{os.environ['RANK']}.json").write_text(json.dumps(counts))
    del held
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
