"""Python programs of kernels, torch calls and collectives: the decorator and the call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

from kopt.config import Config
from kopt.dialects.symm.checks import ALGORITHMS as SYMMETRIC
from kopt.errors import ArgumentError, ConfigError
from kopt.kernels import Kernel, P, R
from kopt.runtime.ranks import keep_default_group_free
from kopt.specs import framework_of

if TYPE_CHECKING:
    from kopt.targets.target import Target

#: How collectives move data, by the family of the target; ``library``: torch.distributed or XLA does.
ALGORITHMS = {"triton": ("library", "one_shot", "two_shot", "multimem"), "pallas": ("library", "one_shot", "ring")}


@dataclass(frozen=True)
class ProgramOptions:
    """How a program's memory and collectives are planned.

    ``all_reduce`` the algorithm of all-reduces that name none (`ALGORITHMS`), taken where it can combine the elements;
    on a TPU all collectives become kernels by it. ``capture`` whether runs of device work are captured once and
    replayed (CUDA graphs; nothing on a TPU, where whole programs are compiled). ``ranks`` how many the groups have, for
    kernels of collectives.
    """

    all_reduce: str = "library"
    capture: bool = False
    ranks: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = dict.fromkeys(name for names in ALGORITHMS.values() for name in names)
        if self.all_reduce not in known:
            raise ConfigError(
                f"'all_reduce' is one of {', '.join(known)}, found {self.all_reduce!r}", id="config-value"
            )
        if not isinstance(self.capture, bool):
            raise ConfigError(f"'capture' is True or False, found {self.capture!r}", id="config-value")

    def algorithm(self, target: Target) -> str | None:
        """The algorithm as the IR names it; `ConfigError` for one that the target does not have."""
        known = ALGORITHMS[target.family]
        if self.all_reduce not in known:
            raise ConfigError(
                f"'all_reduce' on {target} is one of {', '.join(known)}, found {self.all_reduce!r}", id="config-value"
            )
        return self.all_reduce if self.all_reduce in SYMMETRIC else None


class Program(Kernel[P, R]):
    """A Python function over kernels, torch calls and functional collectives, compiled as one.

    Called as a kernel is, on every rank of its groups alike: with torch tensors in processes that torchrun started,
    with JAX arrays inside ``jax.shard_map``. Process groups and one-dimensional meshes may be arguments; groups may be
    named by text as well, as the axes of a JAX mesh are. The kernels that it calls keep their own configurations. The
    default target is the accelerator that is there, else ``triton:interpret`` for torch and ``pallas:interpret`` for
    JAX.

    For torch, its arrays are planned: collectives write arrays that they are given, symmetric memory is allocated where
    they read it, and memory is used again. ``lower(…).source`` is the emitted program, which needs torch (and triton)
    or JAX only.
    """

    _has_operators = False
    _reads_files = False

    def __init__(
        self,
        fn: Callable[P, R],
        config: Mapping[str, Any] | Config | None = None,
        target: Any = None,
        options: ProgramOptions | None = None,
    ):
        super().__init__(fn, config, target, ())
        self.options = options or ProgramOptions()

    def __repr__(self) -> str:
        return f"<kopt program {self.fn.__qualname__}>"

    def _for_target(self, target: str) -> Program[P, R]:
        return Program(self.fn, self.config, target, self.options)

    def _target(self, target: Any, values: Iterable[Any] = ()) -> Target:
        from kopt.runtime.devices import default_target
        from kopt.targets.target import parse_target

        named = target if target is not None else self.target
        found = parse_target(named) if named is not None else default_target()
        if named is None and found.mode != "chip":
            is_jax = any(framework_of(value) == "jax" for value in values)
            found = parse_target("pallas:interpret" if is_jax else "triton:interpret")
        if found.family not in ALGORITHMS:
            raise ConfigError(f"programs have no target '{found}'", notes=["choose one of pallas or triton"])
        return found

    def _algorithm(self, target: Target) -> str | None:
        return self.options.algorithm(target)

    def _surroundings(self, target: Target) -> Hashable:
        """The mesh that is being traced: programs of other numbers of ranks are other programs."""
        if target.family != "pallas":
            return None
        from jax.sharding import get_abstract_mesh

        return get_abstract_mesh().shape_tuple

    def _plan(self, groups: Mapping[str, str], target: Target) -> ProgramOptions:
        """The options, with the sizes of all groups where kernels of collectives need them."""
        if target.family != "pallas" or self.options.all_reduce == "library":
            return self.options
        from kopt.runtime.mesh_program import axis_size

        ranks = {group: self.options.ranks.get(group) or axis_size(group) for group in groups}
        for group, number in ranks.items():
            if number is None:
                raise ConfigError(
                    f"the number of ranks of group '{group}' is not known",
                    notes=["call the program inside jax.shard_map, or say it: kopt.program(ranks={…})"],
                )
        return replace(self.options, ranks=ranks)


@overload
def program(
    fn: Callable[P, R],
    *,
    config: Mapping[str, Any] | Config | None = None,
    target: Target | str | None = None,
    all_reduce: str = "library",
    capture: bool = False,
    ranks: Mapping[str, int] | None = None,
) -> Program[P, R]: ...


@overload
def program(
    fn: None = None,
    *,
    config: Mapping[str, Any] | Config | None = None,
    target: Target | str | None = None,
    all_reduce: str = "library",
    capture: bool = False,
    ranks: Mapping[str, int] | None = None,
) -> Callable[[Callable[P, R]], Program[P, R]]: ...


def program(
    fn: Any = None,
    *,
    config: Any = None,
    target: Any = None,
    all_reduce: str = "library",
    capture: bool = False,
    ranks: Mapping[str, int] | None = None,
) -> Any:
    """Makes a program of a Python function: ``@kopt.program``, ``@kopt.program(all_reduce="one_shot")``.

    Args: ``config`` of its kernels that have none, as in `kopt.config`; ``target`` where it runs; ``all_reduce``,
    ``capture`` and ``ranks`` as in `ProgramOptions`. Raises `ArgumentError` for anything but a function, `ConfigError`.
    """
    options = ProgramOptions(all_reduce, capture, ranks or {})
    if fn is None:
        return lambda function: _make(function, config, target, options)
    return _make(fn, config, target, options)


def _make(fn: Any, config: Mapping[str, Any] | None, target: Any, options: ProgramOptions) -> Program:
    if not inspect.isfunction(fn):
        raise ArgumentError(f"a program is made of a Python function, found {type(fn).__name__}")
    keep_default_group_free()
    return Program(fn, config, target, options)
