"""What a user of kopt writes, as pyright sees it in strict mode: each `assert_type` says what an editor shows."""

from collections.abc import Mapping
from typing import Any, assert_type

import kopt
from kopt import build


class Array:
    """An array, of a framework whose types are known."""


def scaled(x: Array, factor: float = 2.0) -> Array:
    """A kernel's function."""
    del factor
    return x


plain = kopt.kernel(scaled)


@kopt.kernel
def doubled(x: Array) -> Array:
    """A decorated one."""
    return x


@kopt.kernel(target="reference", config={"block_sizes": [32]})
def both(x: Array, y: Array) -> tuple[Array, Array]:
    """One with a target."""
    return x, y


@kopt.program
def step(x: Array, group: str) -> Array:
    """A program of kernels."""
    del group
    return doubled(x)


@kopt.program(all_reduce="one_shot", ranks={"x": 8})
def steps(x: Array) -> Array:
    """A program with options."""
    return x


def calls(x: Array) -> None:
    """Calls have the parameters and the results of the functions."""
    assert_type(plain(x, factor=3.0), Array)
    assert_type(doubled(x), Array)
    assert_type(both(x, y=x), tuple[Array, Array])
    assert_type(both.on("pallas:interpret")(x, x), tuple[Array, Array])
    assert_type(step(x, "x"), Array)
    assert_type(steps(x), Array)
    doubled(x, 1)  # pyright: ignore[reportCallIssue]
    plain(x, factor="3")  # pyright: ignore[reportArgumentType]


def lowered() -> None:
    """Lowering takes specs in the place of tensors."""
    low = doubled.lower("f32[4096,2560]", target="pallas:tpu7x", config={"block_sizes": [128]})
    assert_type(low, kopt.Lowered)
    assert_type(low.source, str)
    assert_type(low.ir, str)
    assert_type(low.stages(), list[tuple[str, str]])
    report: Mapping[str, Any] = low.report()
    print(report["legal"], low.target, low.config.block_sizes)
    low.save("doubled")
    doubled.cache_clear()
    run: Any = kopt.load("doubled")
    print(run)


def built() -> None:
    """The builder of other frontends."""
    b = build.OpBuilder()
    with b.function("softmax", {"x": "f32[37,50]"}) as (x,), b.location_of("softmax.toy", 1, 5):
        y = b.alloc(x.spec)
        with b.grid(37) as (rows,):
            v = x[rows, :]
            e = (v - v.reduce("max", 1)).exp()
            y[rows, :] = e / e.reduce("add", 1)
        b.return_(y)
    module = kopt.run_pipeline(kopt.parse(str(b.module)), "canonicalize,cse")
    assert_type(kopt.lower_module(module, target="pallas:interpret"), kopt.Lowered)


def wrong() -> None:
    """Errors have places."""
    try:
        kopt.parse("func.func")
    except kopt.ParseError as error:
        print(error.location, error.notes)
