"""What tuning gives a kernel: the method `tune`, and the configurations that are kept in files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from kopt.cached_property import cached_property
from kopt.config import Config
from kopt.error_places import placed
from kopt.targets.target import Target
from kopt.tuning.stored import KeptConfigs


class TunableKernel(ABC):
    """A kernel of a function ``fn`` that has a configuration."""

    fn: Callable[..., Any]
    config: Config
    #: Whether a call's configuration may be one that tuning has kept in a file.
    _reads_files = True

    @abstractmethod
    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The values of all parameters by name."""

    @abstractmethod
    def _target(self, target: Any) -> Target:
        """The target that is named, else the default one."""

    @cached_property
    def _kept(self) -> KeptConfigs:
        """The configurations that tuning has kept for the kernel."""
        return KeptConfigs(self.fn, self.config, self._reads_files)

    def tune(
        self,
        *args: Any,
        target: Any = None,
        effort: str = "quick",
        seed: int = 0,
        start: Sequence[Any] = (),
        shapes: Sequence[Sequence[Any]] | None = None,
        measurer: Any = None,
        scheduler: str | None = None,
        progress: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """Looks for the configuration that takes least time, for arguments as `lower` takes them.

        The cost model ranks what there is (`kopt.tuning`); the first are compiled by the chip's compiler, and checked
        and timed where the chip is here. The result has ``best`` and ``candidates``, prints as a table, and
        ``save()`` keeps the best in ``NAME.kopt.json`` beside the kernel's file, where calls find it.

        Args: ``effort`` is ``none``, ``quick`` or ``full``; ``start`` are configurations to begin with: mappings, and
        files of kopt's or Helion's; ``shapes`` are several lists of arguments in the place of one; ``measurer`` stands
        for the chip (`kopt.tuning.measuring.Measurer`); ``scheduler`` is the address of a Dask scheduler whose workers
        compile; ``progress`` whether it is shown, by default on a terminal. Raises `ConfigError`, and as `lower` does.
        """
        from kopt.tuning.shapes import shared, tune

        with placed(self.fn):
            calls = [self._bind(tuple(one), kwargs) for one in ([args] if shapes is None else shapes)]
            found = self._target(target)
            results = tune(self, calls, found, effort, seed, start, measurer, scheduler, progress)
            return results[0] if shapes is None else shared(self, found, results)
