"""The ranks of a program's groups: that all are there and run the same program, and what became of one that is gone."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

from kopt.errors import ArgumentError, ConfigError, RankError
from kopt.runtime.time_limits import MEETING_SECONDS, time_limit

_meetings: dict[str, Iterator[int]] = defaultdict(itertools.count)


def keep_default_group_free() -> None:
    """Sees to it that torch keeps no process group after ``destroy_process_group``: its threads would outlive Python.

    ``torch.distributed.nn``, which functional collectives import with their first call, takes the default group of that
    moment for default arguments. Imported before there is a group, it takes none.
    """
    if "torch" in sys.modules:
        with suppress(ImportError):  # builds of torch without distributed
            importlib.import_module("torch.distributed.nn")


def resolve(groups: Mapping[str, str]) -> dict[str, Any]:
    """The process groups of a program by the names of its parameters, from torch's names of them.

    Raises `ConfigError` for a name that torch does not know.
    """
    found = {}
    for name, theirs in groups.items():
        try:
            found[name] = _by_name(theirs)
        except (RuntimeError, ValueError, KeyError, LookupError):
            raise ConfigError(
                f"there is no process group '{theirs}'",
                notes=["call torch.distributed.init_process_group first, and pass groups as arguments"],
            ) from None
    return found


def _by_name(name: str) -> Any:
    from torch.distributed import distributed_c10d

    return distributed_c10d._resolve_process_group(name)  # pyright: ignore


def meet(groups: Mapping[str, Any], call: str) -> None:
    """Waits until all ranks of the groups are about to run a program, and compares what each runs.

    ``call`` spells the program with the shapes of its arguments. It goes through the groups' stores, whatever moves
    their tensors. Raises `RankError` for ranks that do not come in time, `ArgumentError` where two ranks differ.
    """
    for name, group in groups.items():
        _meet(name, group, call)


def _meet(name: str, group: Any, call: str) -> None:
    store, limit = _store(group), time_limit(MEETING_SECONDS)
    number = next(_meetings[group.group_name])
    keys = [f"kopt/{group.group_name}/{number}/{rank}" for rank in range(group.size())]
    store.set(keys[group.rank()], call)
    try:
        store.wait(keys, timedelta(seconds=limit))
    except RuntimeError:
        missing = [str(rank) for rank, key in enumerate(keys) if not store.check([key])]
        raise RankError(
            f"rank {', '.join(missing)} of group '{name}' did not call {call} within {limit:g} s",
            notes=["all ranks call a program in the same order; KOPT_TIME_LIMIT sets the seconds"],
        ) from None
    for rank, key in enumerate(keys):
        if (theirs := store.get(key).decode()) != call:
            raise ArgumentError(
                f"the ranks of group '{name}' differ: rank {group.rank()} calls {call}, rank {rank} {theirs}",
                notes=["all ranks of a group call the same program with arguments of the same shapes and dtypes"],
            )


def _store(group: Any) -> Any:
    from torch.distributed import distributed_c10d

    return distributed_c10d._world.pg_map[group][1]


@contextmanager
def watched(entry: str) -> Iterator[None]:
    """Inside, what torch says of ranks that are gone becomes a `RankError`."""
    import torch.distributed as dist

    try:
        yield
    except (dist.DistError, RuntimeError) as error:
        if not isinstance(error, dist.DistError) and not any(word in str(error) for word in _GONE):
            raise
        raise RankError(
            f"program '{entry}': a rank of its groups is gone or did not answer in time: {_first_line(error)}",
            notes=["start all ranks again; init_process_group(timeout=…) sets how long ranks wait for each other"],
        ) from error


#: What torch's backends say when a peer does not answer.
_GONE = ("Connection closed by peer", "Connection reset by peer", "Timed out waiting", "Broken pipe", "gloo")


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
