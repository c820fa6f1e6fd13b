"""What torch makes of a kernel's expression on samples of its values, as in a loop of the target ``eager``."""

from __future__ import annotations

import warnings
from typing import Any

import torch

import kopt
from kopt.config import Config
from kopt.eager.blocks import LoopAxis, block
from kopt.eager.functions import FUNCTIONS
from kopt.eager.mode import EagerMode
from kopt.eager.state import KernelRun
from kopt.eager.tiles import Tile
from kopt.eager.values import plain
from kopt.language.running import RUNNING
from test.property.noise import Noise

_REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, ZeroDivisionError, kopt.KoptError)


class Refused(Exception):
    """torch, or the language, does not have it."""


def sample_tile(size: int, block_size: int) -> Tile:
    """A tile of as many lanes, which does not begin where its loop does."""
    return Tile(LoopAxis(0, 1 + size, block_size, begin=1, end=1 + size))


def evaluated(text: str, names: dict[str, Any]) -> Any:
    """An expression's value. Raises `Refused`."""
    run = KernelRun(Config(), torch.device("cpu"), {}, FUNCTIONS)
    run.depth = 1
    values = {name: block(value) if isinstance(value, torch.Tensor) else value for name, value in names.items()}
    token = RUNNING.set(run)
    try:
        with warnings.catch_warnings(), Noise(), EagerMode():
            warnings.simplefilter("ignore")
            result = eval(text, values)
        return plain(result)
    except _REFUSALS as error:
        raise Refused from error
    finally:
        RUNNING.reset(token)
