"""What a tuner asks of a kernel for the values of one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kopt.cached_property import cached_property
from kopt.config import Config
from kopt.targets.target import Target
from kopt.tuning.files import TUNED
from kopt.tuning.measuring import results_of
from kopt.tuning.stored import source_hash, spelled

if TYPE_CHECKING:
    from kopt.frontend import Imported
    from kopt.lowered import Lowered


@dataclass(frozen=True)
class KernelSubject:
    """A kernel (`kopt.Kernel`) with the values of a call by the names of parameters: tensors, or specs of them."""

    kernel: Any
    values: dict[str, Any]
    target: Target
    seed: int = 0

    @property
    def name(self) -> str:
        """The kernel's."""
        return self.kernel.fn.__name__

    @property
    def file(self) -> str | None:
        """The file that the kernel stands in."""
        file = self.kernel.fn.__code__.co_filename
        return None if file.startswith("<") else file

    @property
    def source(self) -> str:
        """What its text is known by."""
        return source_hash(self.kernel.fn)

    @property
    def specs(self) -> tuple[str, ...]:
        """The arguments, as files have them."""
        return spelled(self.values)

    @property
    def base(self) -> Config:
        """The kernel's configuration without what a tuner decides."""
        default = Config()
        open_keys = {key: getattr(default, key) for key in TUNED}
        return replace(self.kernel.config, **open_keys, tunables={})

    @property
    def own(self) -> dict[str, Any] | None:
        """What the kernel's configuration decides that a tuner may; None where it leaves all open."""
        config, default = self.kernel.config, Config()
        found = {key: value for key in TUNED if (value := getattr(config, key)) != getattr(default, key)}
        found |= {key: dict(found[key]) for key in ("accesses", "loops") if key in found}
        plain = {key: [*value] if isinstance(value, tuple) else value for key, value in found.items()}
        return {**plain, **config.tunables} or None

    def lower(self, config: Config) -> Lowered:
        """The kernel lowered with a configuration."""
        return self.kernel._lower_once(self.values, self.target, config)

    def opened(self, config: Config) -> Imported:
        """The kernel imported, its blocks open."""
        from kopt.diagnostics import collect
        from kopt.importing import import_open

        with collect():
            return import_open(self.kernel.fn, self.values, config)

    @cached_property
    def _arrays(self) -> list[Any]:
        from kopt.runtime.made_up import make_arguments

        return make_arguments([*self.values.values()], self.seed)

    def arguments(self) -> Sequence[Any]:
        """The call's own arrays, and made-up ones in the place of specs."""
        return self._arrays

    def expected(self) -> Sequence[Any]:
        """What the kernel's own Python gives; what the reference does, where Python cannot stand for the kernel."""
        from kopt.eager.state import WithoutMeaning
        from kopt.runtime.exchange import convert

        def call(target: str) -> list[Any]:
            own = [convert(value, "torch").clone() if hasattr(value, "dtype") else value for value in self._arrays]
            return results_of(self.kernel.executable(*own, target=target)(*own), own)

        try:
            return call("eager")
        except WithoutMeaning:
            return call("reference")
