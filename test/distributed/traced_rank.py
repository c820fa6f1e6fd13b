"""One rank: runs traced programs beside torch, or meets a failure of the others.

traced_rank.py FOLDER CASE      writes FOLDER/result_RANK.json
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import stand_in
import traced

import kopt
from kopt.dtypes import BY_SPEC
from kopt.runtime.tolerance import allclose

RUNS = 3


def _tensors(shapes, generator):
    return [torch.randn(shape, generator=generator) / 4 for shape in shapes]


def _agree(got, wanted) -> bool:
    got, wanted = (value if isinstance(value, tuple) else (value,) for value in (got, wanted))
    pairs = zip(got, wanted, strict=True)
    return all(allclose(a.numpy(), b.numpy(), BY_SPEC["f32"], 40**2) and not torch.isnan(a).any() for a, b in pairs)


def _wrong(name: str, groups: dict) -> int:
    """How many of some calls differ from torch, in their results or in what becomes of the arguments."""
    program, reference = getattr(traced, name), getattr(traced, f"torch_{name}")
    named = {key: groups[key] for key in inspect.signature(reference).parameters if key in groups}
    generator = torch.Generator().manual_seed(dist.get_rank())
    kept = []
    for _ in range(RUNS):
        given = _tensors(traced.SHAPES[name], generator)
        same = [tensor.clone() for tensor in given]
        got, wanted = program(*given, **named), reference(*same, **named)
        kept.append((got, wanted, tuple(given), tuple(same)))
    return sum(not (_agree(a, b) and _agree(c, d)) for a, b, c, d in kept)


def right(groups: dict) -> object:
    """All programs."""
    return {name: _wrong(name, groups) for name in traced.SHAPES}


def _call(groups: dict, rows: int = 8) -> object:
    try:
        traced.library(torch.ones(rows, 12), groups["tp"], groups["dp"])
    except kopt.KoptError as error:
        return type(error).__name__, str(error)
    return None


def missing(groups: dict) -> object:
    """The last rank does not call the program."""
    if dist.get_rank() == dist.get_world_size() - 1:
        return None
    return _call(groups)


def mismatched(groups: dict) -> object:
    """Each rank brings another number of rows."""
    return _call(groups, 8 * (1 + dist.get_rank()))


def killed(groups: dict) -> object:
    """The last rank dies after the first call.

    The launcher ends the others with SIGTERM as soon as it sees that: they stay, to say what the next call met.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    first = _call(groups)
    if dist.get_rank() == dist.get_world_size() - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return first or _call(groups)


def main(folder: str, case: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    held = stand_in.install({"entry", "exit"})
    groups = {"tp": dist.group.WORLD, "dp": dist.new_group(list(range(dist.get_world_size())))}
    result = globals()[case](groups)
    Path(folder, f"result_{os.environ['RANK']}.json").write_text(json.dumps(result))
    del held
    if case == "right":
        dist.destroy_process_group()


def _threads() -> list[str]:
    """The names of this process's threads that belong to gloo: one that is left can end the process with SIGABRT."""
    names = (Path(file, "comm").read_text().strip() for file in Path("/proc/self/task").iterdir())
    return [name for name in names if "gloo" in name]


if __name__ == "__main__":
    main(*sys.argv[1:])
    if sys.argv[2] == "right" and (left := _threads()):
        sys.exit(f"what the programs hold keeps groups alive: {', '.join(left)}")
