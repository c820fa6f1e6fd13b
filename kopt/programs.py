"""Python programs of kernels, torch calls and collectives: the decorator and the call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kopt.config import Config
from kopt.errors import ArgumentError, ConfigError
from kopt.kernels import Kernel

if TYPE_CHECKING:
    from kopt.lowered import Lowered
    from kopt.runtime.targets import Target

#: How all-reduces may read the other ranks' memory; ``library``: torch.distributed moves the data.
ALGORITHMS = ("library", "one_shot", "two_shot", "multimem")


@dataclass(frozen=True)
class ProgramOptions:
    """How a program's memory and collectives are planned.

    ``all_reduce`` the algorithm of all-reduces that name none (`ALGORITHMS`), taken where it can combine the elements;
    ``capture`` whether runs of device work are captured once and replayed (CUDA graphs).
    """

    all_reduce: str = "library"
    capture: bool = False

    def __post_init__(self) -> None:
        if self.all_reduce not in ALGORITHMS:
            raise ConfigError(f"'all_reduce' is one of {', '.join(ALGORITHMS)}, found {self.all_reduce!r}")
        if not isinstance(self.capture, bool):
            raise ConfigError(f"'capture' is True or False, found {self.capture!r}")

    @property
    def algorithm(self) -> str | None:
        """The algorithm as the IR names it."""
        return None if self.all_reduce == "library" else self.all_reduce


class Program(Kernel):
    """A Python function over kernels, torch calls and functional collectives, compiled as one.

    Called as a kernel is, on every rank of its groups alike. Process groups and one-dimensional meshes may be
    arguments; groups may be named by text as well. The kernels that it calls keep their own configurations. The
    default target is the GPU that is there, else ``triton:interpret``, where host code runs on CPU tensors.

    Its arrays are planned: collectives write arrays that they are given, symmetric memory is allocated where they read
    it, and memory is used again. ``lower(…).source`` is the emitted program, which needs torch (and triton) only.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        config: Mapping[str, Any] | Config | None = None,
        target: Any = None,
        options: ProgramOptions | None = None,
    ):
        super().__init__(fn, config, target)
        self.options = options or ProgramOptions()

    def __repr__(self) -> str:
        return f"<kopt program {self.fn.__qualname__}>"

    def on(self, target: str) -> Program:
        """The same program on another target."""
        return Program(self.fn, self.config, target, self.options)

    def _target(self, target: Any) -> Target:
        from kopt.runtime.targets import default_target, parse_target

        named = target if target is not None else self.target
        found = parse_target(named) if named is not None else default_target()
        if named is None and found.mode != "chip":
            found = parse_target("triton:interpret")
        if found.family != "triton":
            raise ConfigError(f"programs run on GPUs and triton:interpret, found target '{found}'")
        return found

    def _lower(self, values: dict[str, Any], target: Target, config: Config) -> Lowered:
        from kopt.importing import CompiledKernel, import_for_target, signature_of
        from kopt.lowered import lower

        imported, config = import_for_target(self.fn, values, target, config, self.options.algorithm)
        return lower(
            imported.module,
            imported.entry,
            target,
            config,
            signature_of(imported),
            imported.hidden,
            lambda executable: CompiledKernel(self.fn, executable, imported),
            self.options,
            imported.groups,
        )


def program(
    fn: Any = None,
    *,
    config: Mapping[str, Any] | None = None,
    target: Any = None,
    all_reduce: str = "library",
    capture: bool = False,
) -> Any:
    """Makes a program of a Python function: ``@kopt.program``, ``@kopt.program(all_reduce="one_shot")``.

    Args: ``config`` of its kernels that have none, as in `kopt.config`; ``target`` where it runs; ``all_reduce`` and
    ``capture`` as in `ProgramOptions`. Raises `ArgumentError` for anything but a function, `ConfigError`.
    """
    if fn is None:
        return functools.partial(program, config=config, target=target, all_reduce=all_reduce, capture=capture)
    if not inspect.isfunction(fn):
        raise ArgumentError(f"a program is made of a Python function, found {type(fn).__name__}")
    return Program(fn, config, target, ProgramOptions(all_reduce, capture))
