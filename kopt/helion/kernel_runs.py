"""A kernel of Helion's, run by kopt: with which configuration, and the `Kernel` of kopt that runs it."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch

from kopt.error_places import definition, placed
from kopt.errors import ArgumentError
from kopt.helion.bound_kernel import BoundKernel
from kopt.helion.saved_configs import has_saved_configs, saved_config
from kopt.helion.session import HelionSession
from kopt.helion.without_gpu import as_it_is
from kopt.helion_configs import helion_config
from kopt.kernels import Kernel
from kopt.runtime.cache import call_key

#: How many kinds of arguments a kernel is bound to at most: the oldest goes.
_MOST_BOUND = 1024


class KernelRuns:
    """How one kernel of Helion's runs through kopt: it stands for its methods."""

    def __init__(self, theirs: Any):
        self.theirs = theirs
        self._kernels: dict[Hashable, Kernel] = {}
        self._bound: dict[Hashable, BoundKernel] = {}
        self._last: tuple[HelionSession | None, Any] = (None, None)
        self._location = definition(theirs.fn)

    def call(self, session: HelionSession, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs the kernel. As in Helion, torch records no gradient of it."""
        last, kernel = self._last
        if last is not session:
            kernel = self._for_all_calls(session)
        if kernel is None:
            args, kwargs = self.arguments(*args, **kwargs), {}
            kernel = self.bind(session, args)
        with torch.no_grad(), as_it_is():
            return kernel(*args, **kwargs)

    def _for_all_calls(self, session: HelionSession) -> Kernel | None:
        """What runs any call; None where it depends on the arguments, by what Helion has saved or a program set."""
        if self._bound or len(self.theirs.configs) != 1 or self.theirs.settings.print_output_code:
            return None
        kernel = self.kernel(session, self.theirs.configs[0])
        self._last = session, kernel
        return kernel

    def in_graphs(self, session: HelionSession) -> Kernel | None:
        """What runs any call in a graph of ``torch.compile``; None where it depends on the arguments."""
        if self._bound or self.theirs.settings.print_output_code:
            return None
        configs = self.theirs.configs
        if len(configs) != 1 and has_saved_configs(self.theirs):
            return None
        if len(configs) > 1:
            self._say_first(session)
        return self.kernel(session, configs[0] if configs else None)

    def arguments(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """All arguments of a call in order, defaults included. Raises `ArgumentError`."""
        try:
            return self.theirs.normalize_args(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{self.theirs.name}: {error}", self._location) from None

    def bind(self, session: HelionSession, args: Sequence[Any]) -> BoundKernel:
        """The kernel with its configuration for arguments like these."""
        args = self.arguments(*args)
        key = session, call_key(self.theirs.fn, args)
        if (bound := self._bound.get(key)) is None:
            while len(self._bound) >= _MOST_BOUND:
                del self._bound[next(iter(self._bound))]
            bound = self._bound[key] = BoundKernel(self, session, args)
            self._last = None, None
        return bound

    def reset(self) -> None:
        """Forgets what was compiled, and the configurations that were set."""
        self._kernels.clear()
        self._bound.clear()
        self._last = None, None

    def autotune(self, session: HelionSession, args: Sequence[Any]) -> Any:
        """The configuration that is used for the arguments, without timing any."""
        return self.bind(session, args).autotune(args)

    def autotune_multi(self, session: HelionSession, arg_sets: Sequence[Sequence[Any]]) -> Any:
        """The same for several sets of arguments: what is used for the first is set for all."""
        bound = [self.bind(session, args) for args in arg_sets]
        config = bound[0].autotune(arg_sets[0])
        for other in bound[1:]:
            other.set_config(config)
        return config

    def configuration(self, session: HelionSession, args: Sequence[Any]) -> Any:
        """Helion's configuration for the arguments: the only one, else what it saved, else the first; None for kopt's.

        Helion would time them, and that is said.
        """
        configs = self.theirs.configs
        if len(configs) == 1:
            return configs[0]
        if (saved := saved_config(self.theirs, args)) is not None:
            where = f", found on {saved.hardware}" if saved.hardware else ""
            self.remark(session, f"Helion's saved configuration is taken{where}: {saved.path}")
            return saved.config
        if not configs:
            return None
        self._say_first(session)
        return configs[0]

    def _say_first(self, session: HelionSession) -> None:
        self.remark(session, f"of {len(self.theirs.configs)} configs the first is taken: kopt times none")

    def kernel(self, session: HelionSession, config: Any) -> Kernel:
        """The kernel of kopt with a configuration of Helion's, or with kopt's own choice. Raises `ConfigError`."""
        settings = self.theirs.settings
        key = session.target(settings.backend), settings.dot_precision, str(config)
        if (kernel := self._kernels.get(key)) is None:
            with placed(self.theirs.fn):
                ours = helion_config(SimpleNamespace(configs=[] if config is None else [config]), None)
            for text in ours.remarks:
                self.remark(session, text)
            precise = "ieee" if settings.dot_precision == "ieee" else None
            kernel = Kernel(self.theirs.fn, replace(ours, dot_precision=precise), key[0])
            self._kernels[key] = kernel
        return kernel

    def remark(self, session: HelionSession, message: str) -> None:
        """Says something of this kernel, once."""
        session.remark(message, self._location)

    def show_source(self, session: HelionSession, source: str) -> None:
        """Prints emitted code, as Helion's setting ``print_output_code`` asks for."""
        print(source, file=sys.stderr)


def runs_of(kernel: Any) -> KernelRuns:
    """How a kernel of Helion's runs; it keeps that itself."""
    found = vars(kernel).get("_kopt_runs")
    if found is None:
        found = vars(kernel).setdefault("_kopt_runs", KernelRuns(kernel))
    return found
