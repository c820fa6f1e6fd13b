"""Translation validation: the interpreter runs a module before and after each pass, and names the pass that is wrong.

with a pipeline:  run(module, ctx, passes, instrumentation=[Validator(Options(seed=0, inputs=2))])
of a kernel:      kernel.lower(x, target="pallas:v6e").verify()
"""

from __future__ import annotations

from kopt.validation.options import Options
from kopt.validation.validator import PassVerdict, Validation, Validator

__all__ = ["Options", "Validation", "Validator", "PassVerdict"]
