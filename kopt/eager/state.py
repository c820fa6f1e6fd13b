"""The kernel that runs: its configuration, the loops that are open, and how it is refused what makes no sense."""

from __future__ import annotations

import dis
import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import CodeType, FrameType
from typing import Any, NoReturn

from kopt.config import Config, unknown_key
from kopt.eager.blocks import LoopAxis, OpenBlockSize
from kopt.eager.conflicts import Conflicts
from kopt.errors import ConfigError, UnsupportedError
from kopt.language.running import RUNNING
from kopt.runtime.users_code import is_users_module

_CACHE = dis.opmap["CACHE"]


class Again(BaseException):
    """A block size that the kernel left open does not suit it: the run begins again with another."""


class WithoutMeaning(UnsupportedError):
    """A function that the kernel's Python cannot stand for; other targets may have it."""


def current() -> KernelRun:
    """The run under way."""
    run = RUNNING.get()
    if not isinstance(run, KernelRun):
        raise UnsupportedError("a value of a kernel is used outside of its run", id="outside-device-loop")
    return run


def refuse(message: str, *notes: str, id: str = "") -> NoReturn:
    """Refuses what the kernel does here; the place is that of the kernel's line, and ``id`` the mistake's."""
    raise UnsupportedError(message, notes=notes, id=id)


@contextmanager
def as_torch() -> Iterator[None]:
    """While it lasts torch is torch, as it is inside the functions of a run's mode."""
    from torch.overrides import _get_current_function_mode, _pop_mode_temporarily

    if getattr(_get_current_function_mode(), "runs_kernels", False):
        with _pop_mode_temporarily():
            yield
    else:
        yield


def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that works on torch's own tensors, wherever the kernel calls it."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with as_torch():
            return function(*args, **kwargs)

    return called


class KernelRun:
    """One run. ``wanted`` are sizes of open blocks, by their numbers, that earlier runs found to be needed.

    ``functions`` says what the language's functions do, by name.
    """

    def __init__(
        self, config: Config, device: Any, wanted: dict[int, int], functions: Mapping[str, Callable[..., Any]]
    ):
        self.functions = functions
        self.config, self.device, self.wanted = config, device, wanted
        self.sizes = config.block_sizes
        self.used: set[str] = set()
        self.blocks: list[OpenBlockSize] = []
        self.axes: list[LoopAxis] = []
        self.depth = 0
        self.conflicts = Conflicts()
        #: Sizes of which the kernel asked for the next power of two, with it: lanes of such a size meet the size.
        self.powers_of_two: set[tuple[int, int]] = set()
        #: Sums of 16-bit floats by where their memory is, in f32.
        self.sums: dict[Any, Any] = {}
        self._sites: dict[Any, OpenBlockSize] = {}
        #: The loop visits that are open: a name for each, and how often each place of the kernel was passed in it.
        self._visits: list[tuple[Any, Counter[Any]]] = [((), Counter())]

    # the language's functions

    def function(self, name: str) -> Callable[..., Any]:
        """What the language's function of a name does."""
        return quietly(self.functions[name])

    def call(self, fn: Callable[..., Any], config: Config, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A kernel called in the kernel: its Python, by its own configuration."""
        kept = self.config, self.sizes, self.used, self.blocks
        if config.block_sizes is not None:
            self.sizes, self.blocks = config.block_sizes, []
        self.config, self.used = config, set()
        try:
            result = fn(*args, **kwargs)
            self.refuse_unknown_tunables()
            return result
        finally:
            self.config, self.sizes, self.used, self.blocks = kept

    def padded(self, size: int, power: int) -> None:
        """Notes that the kernel asked for the next power of two of a size."""
        if power != size:
            self.powers_of_two.add((int(size), int(power)))

    # loops

    @property
    def on_device(self) -> bool:
        """Whether a device loop is open."""
        return self.depth > 0

    @contextmanager
    def loop(self, axes: list[LoopAxis]) -> Iterator[Callable[[], None]]:
        """While a device loop is open; what it gives is called at each visit."""
        site = (self._visits[-1][0], *places())
        level = len(self._visits)
        outermost = not self.depth
        if outermost:
            self.conflicts = Conflicts()
        self.depth += 1
        self.axes += axes
        self._visits.append((site, Counter()))
        try:
            yield partial(self._visit, level, outermost)
        finally:
            self.depth -= 1
            del self._visits[level:]
            for axis in axes:
                self.axes = [other for other in self.axes if other is not axis]

    def _visit(self, level: int, outermost: bool) -> None:
        self._visits[level][1].clear()
        if outermost:
            self.conflicts.next()

    def axis_of(self, open: OpenBlockSize | None) -> LoopAxis | None:
        """The open loop that walks blocks of a size, the innermost."""
        return next((axis for axis in reversed(self.axes) if open is not None and axis.open is open), None)

    # what the configuration says

    def open_block(self, default: Callable[[], int]) -> OpenBlockSize:
        """The block size that the kernel leaves open here: numbered in the order in which the kernel comes by."""
        loop, passed = self._visits[-1]
        place = (loop, *places())
        passed[place] += 1
        found = self._sites.get((id(self.blocks), place, passed[place]))
        if found is None and self.sizes is not None and len(self.blocks) >= len(self.sizes):
            found = self._sites.get((id(self.blocks), place, 1))
        if found is None:
            found = self._new(default)
            self._sites[id(self.blocks), place, passed[place]] = found
        return found

    def _new(self, default: Callable[[], int]) -> OpenBlockSize:
        number = len(self.blocks)
        if self.sizes is not None and number >= len(self.sizes):
            raise ConfigError(
                f"block_sizes has {len(self.sizes)} entries, but the kernel has more open tiles", id="block-sizes"
            )
        size = self.sizes[number] if self.sizes is not None else self.wanted.get(number) or default()
        open = OpenBlockSize(size, self.sizes is not None)
        self.blocks.append(open)
        return open

    @property
    def unused_sizes(self) -> bool:
        """Whether the configuration has sizes for more open tiles than the kernel came by."""
        return self.sizes is not None and len(self.sizes) > len(self.blocks)

    def shares(self, axis: LoopAxis, divisor: int) -> None:
        """Blocks whose begin is divided to name a row must not span rows: takes smaller ones."""
        open = axis.open
        if open is None or open.given or divisor < 1 or divisor % open.size == 0 or open not in self.blocks:
            return
        size = next(n for n in range(min(divisor, open.size), 0, -1) if divisor % n == 0)
        self.wanted[self.blocks.index(open)] = size
        raise Again

    def settle(self) -> None:
        """After the run: a tile of which only the begin or the number was used has blocks of one element."""
        for number, open in enumerate(self.blocks):
            if open.counted and not open.walked and not open.given and open.size > 1:
                self.wanted[number] = 1
                raise Again
        self.refuse_unknown_tunables()

    def tunable(self, name: str, default: Any) -> Any:
        """The configuration's value of a tunable."""
        self.used.add(name)
        return self.config.yielding([name]).tunables.get(name, default)

    def refuse_unknown_tunables(self) -> None:
        """Raises `ConfigError` for names that the kernel did not ask for."""
        if unknown := sorted(set(self.config.tunables) - self.used):
            raise unknown_key(unknown[0], self.used)


def places() -> tuple[Any, ...]:
    """Where the kernel stands: the lines of the user's functions, from the innermost."""
    frame: FrameType | None = sys._getframe(1)
    found = []
    while frame is not None:
        if is_users_module(frame.f_globals):
            found.append((frame.f_code, begin_of(frame.f_code, frame.f_lasti)))
        elif frame.f_globals.get("__name__") == "kopt.eager.kernel":
            break
        frame = frame.f_back
    return tuple(found)


def begin_of(code: CodeType, place: int) -> int:
    """Where the instruction of a place begins: once it has adapted, Python 3.12 may stop at a cache behind it."""
    text = code.co_code
    while text[place] == _CACHE:
        place -= 2
    return place
