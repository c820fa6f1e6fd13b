"""A kernel of Helion's with its arguments' configuration: what ``kernel.bind(args)`` gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from kopt.helion.session import HelionSession
from kopt.helion.without_gpu import as_it_is

if TYPE_CHECKING:
    from kopt.helion.kernel_runs import KernelRuns
    from kopt.kernels import Kernel
    from kopt.lowered import Lowered


class BoundKernel:
    """What programs use of Helion's class of this name. It keeps none of the arguments' elements."""

    def __init__(self, runs: KernelRuns, session: HelionSession, args: Sequence[Any]):
        self._runs, self._session = runs, session
        self._config = runs.configuration(session, args)
        self._kernel: Kernel | None = None
        self._args = tuple(_without_elements(arg) for arg in args)

    @property
    def kernel(self) -> Any:
        """The kernel of Helion's."""
        return self._runs.theirs

    @property
    def settings(self) -> Any:
        """The kernel's settings."""
        return self.kernel.settings

    @property
    def configs(self) -> list[Any]:
        """The kernel's configurations."""
        return self.kernel.configs

    @property
    def config_spec(self) -> ConfigSpec:
        """What configurations there are: that of kopt's choice."""
        return ConfigSpec(self)

    def __call__(self, *args: Any) -> Any:
        """Runs the kernel with the configuration."""
        if self._kernel is None:
            self._kernel = self._runs.kernel(self._session, self._config)
            if self.settings.print_output_code:
                self._runs.show_source(self._session, self.to_code(self._config))
        with torch.no_grad(), as_it_is():
            return self._kernel(*args)

    def set_config(self, config: Any) -> None:
        """Calls with arguments like these have the configuration from now on."""
        self._config, self._kernel = _as_config(config), None

    def autotune(self, args: Sequence[Any], *, force: bool = True, **options: Any) -> Any:
        """The configuration that calls have; nothing is timed, and that is said."""
        self._runs.remark(self._session, "autotune() times nothing: it gives the configuration that kopt takes")
        if self._config is None:
            self.set_config(self.chosen())
        return self._config

    def ensure_config_exists(self, args: Sequence[Any]) -> None:
        """There always is one."""

    def compile_config(self, config: Any = None, *, allow_print: bool = True) -> Callable[..., Any]:
        """The kernel with a configuration, by default that of calls, as a function of the arguments."""
        kernel = self._with(config)

        def run(*args: Any, **kwargs: Any) -> Any:
            with torch.no_grad(), as_it_is():
                return kernel(*args, **kwargs)

        return run

    def to_code(self, config: Any = None, **options: Any) -> str:
        """The module that kopt emits for the arguments."""
        return self._lowered(config).source

    to_triton_code = to_code

    def chosen(self) -> Any:
        """What kopt chooses for the arguments, as a configuration of Helion's."""
        from helion import Config

        found = self._lowered(None).config
        keys = ("block_sizes", "num_warps", "num_stages")
        given = {key: getattr(found, key) for key in keys if getattr(found, key) is not None}
        sizes = list(given.pop("block_sizes", ()))
        return Config(block_sizes=sizes, **given)

    def _lowered(self, config: Any) -> Lowered:
        with torch.no_grad(), as_it_is():
            return self._with(config).lower(*self._args)

    def _with(self, config: Any) -> Kernel:
        return self._runs.kernel(self._session, self._config if config is None else _as_config(config))

    def __getattr__(self, name: str) -> Any:
        message = f"'{self.kernel.name}' runs through kopt, whose bound kernels have no '{name}'"
        raise AttributeError(message, name=name, obj=self)


class ConfigSpec:
    """What programs ask Helion's space of configurations for."""

    def __init__(self, bound: BoundKernel):
        self._bound = bound

    def default_config(self) -> Any:
        """What kopt chooses."""
        return self._bound.chosen()

    def unsupported_config_keys(self, config: Mapping[str, Any]) -> list[str]:
        """None: keys without an effect are said where the configuration is used."""
        return []


def _as_config(config: Any) -> Any:
    from helion import Config

    return config if isinstance(config, Config) else Config(**config)


def _without_elements(value: Any) -> Any:
    """A tensor's type and shape in its place; all else as it is."""
    from kopt.specs import framework_of, spec_of

    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(_without_elements(item) for item in value)
    return spec_of(value) if framework_of(value) is not None else value
