"""A kernel's own Python on the target ``eager``: arguments in, results out, and errors at the kernel's lines."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import CodeType, FrameType, SimpleNamespace
from typing import Any
from unittest import mock

import torch

from kopt.config import Config
from kopt.eager.functions import FUNCTIONS
from kopt.eager.helion_names import install
from kopt.eager.mode import EagerMode
from kopt.eager.state import Again, KernelRun
from kopt.eager.values import plain
from kopt.error_places import located
from kopt.errors import ArgumentError, ConfigError, KoptError
from kopt.language.running import RUNNING
from kopt.runtime.admission import admit_written, arrays_in
from kopt.runtime.exchange import convert
from kopt.runtime.torch_tracing import without_autocast
from kopt.runtime.users_code import is_users_module
from kopt.specs import TensorSpec, framework_of, is_known


def run(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], config: Config) -> Any:
    """Runs the function with a call's positional and keyword arguments, by the configuration.

    torch and NumPy arguments that it changes are updated; the final values of JAX arrays that it changes follow the
    results, unless it returns them itself. Raises `KoptError`; what the kernel itself raises passes as it is.
    """
    tensors = _Tensors(fn.__name__, inspect.signature(fn, follow_wrapped=False).bind(*args, **kwargs).arguments)
    with _default_device(torch.device("cpu")):
        args, kwargs = tensors.taken(args), tensors.taken(kwargs)
    wanted: dict[int, int] = {}
    with _default_device(tensors.device):
        while True:
            under_way = KernelRun(config, tensors.device, wanted, FUNCTIONS)
            try:
                value = _run(fn, args, kwargs, under_way)
                under_way.settle()
                break
            except Again:
                tensors.restore()
        if under_way.unused_sizes:
            _check_sizes(fn, args, kwargs, under_way, tensors)
        return tensors.given(value)


def _default_device(device: torch.device) -> AbstractContextManager[Any]:
    """Where torch makes tensors while it lasts, whatever the caller's default is."""
    return nullcontext() if torch.get_default_device() == device else device


def _check_sizes(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], under_way: KernelRun, tensors: _Tensors
) -> None:
    """Raises `ConfigError` where more block sizes are given than the kernel has open tiles.

    Which there are in what the run did not come by, only the import tells; of kernels that it refuses, nobody does.
    """
    from kopt.frontend import import_kernel

    try:
        import_kernel(fn, args, kwargs, block_sizes=under_way.sizes, tunables=under_way.config.tunables)
    except ConfigError:
        tensors.restore()
        raise
    except KoptError:
        pass


def _run(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], under_way: KernelRun) -> Any:
    install()
    token = RUNNING.set(under_way)
    try:
        with located(_is_users, _positions), _plain_torch(), _processors(), EagerMode():
            value = fn(*args, **kwargs)
        return plain(value)
    finally:
        RUNNING.reset(token)


@contextmanager
def _plain_torch() -> Iterator[None]:
    """While it lasts, operators only compute: nothing is differentiated or cast, and tensors count their writes."""
    with torch.inference_mode(False), torch.no_grad(), without_autocast():
        yield


def _counting_writes(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor in the same memory that counts writes, which one of ``torch.inference_mode`` does not."""
    if not tensor.is_inference():
        return tensor
    with torch.inference_mode(False):
        empty = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return empty.set_(tensor.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride())


#: How many programs a kernel that asks for the number of processors is told to start.
_CORES = SimpleNamespace(multi_processor_count=8, gpu_subslice_count=8)


@contextmanager
def _processors() -> Iterator[None]:
    """What torch says of the processors of a device that is not there."""
    if torch.cuda.is_available():
        yield
        return
    with mock.patch.object(torch.cuda, "get_device_properties", lambda *_, **__: _CORES):
        yield


class _Tensors:
    """The tensors of a call: as torch has them in the run, and as the caller has them."""

    def __init__(self, name: str, values: Mapping[str, Any]):
        self.name = name
        self.names = [found for item in values.items() for found in arrays_in(*item)]
        self.pairs: list[tuple[Any, torch.Tensor]] = []
        self.before: list[torch.Tensor] = []
        self.versions: list[int] = []

    @property
    def device(self) -> torch.device:
        """Where the kernel runs."""
        return self.pairs[0][1].device if self.pairs else torch.device("cpu")

    def taken(self, value: Any) -> Any:
        """Arguments as the run has them."""
        if isinstance(value, tuple) and type(value).__name__ in ("ConstExpr", "constexpr", "ProcessGroupName"):
            return value[0]
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.taken, value))
        if isinstance(value, list | tuple):
            return type(value)(map(self.taken, value))
        if isinstance(value, dict):
            return {key: self.taken(item) for key, item in value.items()}
        if isinstance(value, TensorSpec):
            raise ArgumentError(f"{self.name}: the target 'eager' runs on tensors, found the spec {value}")
        return value if framework_of(value) is None else self._tensor(value)

    def _tensor(self, value: Any) -> torch.Tensor:
        for mine, ours in self.pairs:
            if mine is value:
                return ours
        if not is_known(value):
            raise ArgumentError(
                f"{self.name}: the target 'eager' needs the arguments' values, which there are not inside jax.jit"
            )
        tensor = convert(value, "torch")
        if framework_of(value) == "jax":
            tensor = tensor.clone()
        tensor = _counting_writes(tensor)
        self.pairs.append((value, tensor))
        self.before.append(tensor.detach().clone())
        self.versions.append(tensor._version)
        return tensor

    def restore(self) -> None:
        """Takes back what a run has written."""
        for (_, tensor), before in zip(self.pairs, self.before, strict=True):
            if tensor.numel():
                tensor.copy_(before)
        self.versions = [tensor._version for _, tensor in self.pairs]

    def given(self, value: Any) -> Any:
        """Results as the caller wants them."""
        framework = framework_of(self.pairs[0][0]) if self.pairs else "torch"
        returned: set[int] = set()
        result = self._exported(value, framework, returned)
        finals = []
        for (mine, tensor), version in zip(self.pairs, self.versions, strict=True):
            if tensor._version == version:
                continue
            self._admit_written(mine)
            if framework_of(mine) == "numpy":
                mine[...] = convert(tensor, "numpy")
            elif framework_of(mine) == "jax" and id(tensor) not in returned:
                finals.append(convert(tensor, "jax"))
        if not finals:
            return result
        first = [] if result is None else list(result) if type(result) is tuple else [result]
        return finals[0] if not first and len(finals) == 1 else (*first, *finals)

    def _admit_written(self, mine: Any) -> None:
        """Raises `ArgumentError` for an inference tensor that has changed where it may not, which it then has not."""
        if framework_of(mine) == "torch" and mine.is_inference() and not torch.is_inference_mode_enabled():
            self.restore()
            name = next(name for name, array in self.names if array is mine)
            admit_written(self.name, name, mine)

    def _exported(self, value: Any, framework: Any, returned: set[int]) -> Any:
        if isinstance(value, torch.Tensor):
            returned.add(id(value))
            mine = next((mine for mine, ours in self.pairs if ours is value), None)
            return mine if mine is not None and framework_of(mine) != "jax" else convert(value, framework)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self._exported(item, framework, returned) for item in value))
        if type(value) in (tuple, list):
            return type(value)(self._exported(item, framework, returned) for item in value)
        if isinstance(value, Mapping):
            return {key: self._exported(item, framework, returned) for key, item in value.items()}
        return value


@dataclass
class EagerKernel:
    """A kernel of the target ``eager``, called as a compiled one is."""

    kernel: Any
    target: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the kernel's Python."""
        return self.kernel.on(str(self.target))(*args, **kwargs)


def _is_users(frame: FrameType) -> bool:
    return is_users_module(frame.f_globals)


def _positions(code: CodeType) -> list[Any]:
    return list(code.co_positions())
