"""What holds while Helion's kernels run through kopt: the target, and what was said already."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from functools import cached_property

from kopt.diagnostics import Diagnostic
from kopt.errors import Location
from kopt.runtime.devices import default_target
from kopt.targets.target import Target, parse_target


@dataclass(eq=False)
class HelionSession:
    """One `enabled`: ``named`` is the target that it was given, or None."""

    named: Target | None
    said: set[Diagnostic] = field(default_factory=set)

    def target(self, backend: str) -> Target:
        """Where a kernel of one of Helion's backends runs."""
        return self._default if self._default is not None else _INTERPRETERS.get(backend, _INTERPRETERS["triton"])

    @cached_property
    def _default(self) -> Target | None:
        """The target of all kernels; None where each backend has an interpreter of its own."""
        if self.named is not None:
            return self.named
        found = default_target()
        return found if os.environ.get("KOPT_TARGET") or found.mode == "chip" else None

    def remark(self, message: str, location: Location | None = None) -> None:
        """Says something on stderr, once."""
        diagnostic = Diagnostic("remark", message, location)
        if diagnostic not in self.said:
            self.said.add(diagnostic)
            print(diagnostic, file=sys.stderr)


#: The interpreter of what each of Helion's backends emits; of others that of Triton.
_INTERPRETERS = {"triton": parse_target("triton:interpret"), "pallas": parse_target("pallas:interpret")}
