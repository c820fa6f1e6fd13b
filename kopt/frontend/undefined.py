"""Names that have no value at a place of a kernel."""

from __future__ import annotations

from typing import Any, NoReturn

from kopt.frontend.state import unsupported
from kopt.trees import leaves


class Undefined:
    """A name without a value here; whatever is done with it says why."""

    def __init__(self, name: str, why: str):
        self.__dict__["_what"] = (name, why)

    @property
    def name(self) -> str:
        """The variable's."""
        return self.__dict__["_what"][0]

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Says whose value is missing, and why."""
        name, why = self.__dict__["_what"]
        unsupported(f"'{name}' has no value here: {why}", id="no-value")

    __getattr__ = __setattr__ = __getitem__ = __call__ = __iter__ = __bool__ = __len__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __invert__ = __index__ = __int__ = __float__ = refuse
    __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = refuse

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
        found = [leaf for leaf in leaves((args, tuple((kwargs or {}).values()))) if isinstance(leaf, Undefined)]
        found[0].refuse()
