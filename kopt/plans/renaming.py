"""A plan under other names of its axes and operands, or of fewer axes."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace

from kopt.plans.plan import Buffer, Options, Plan, Value


def _same(name: str) -> str:
    return name


def renamed(plan: Plan, axis: Callable[[str], str] = _same, operand: Callable[[str], str] = _same) -> Plan:
    """The plan with every axis and operand by its other name; ids of accesses are named after their operands."""
    return Plan(
        tuple(map(axis, plan.order)),
        frozenset(map(axis, plan.parallel)),
        tuple(renamed_buffer(buffer, axis, operand) for buffer in plan.buffers),
        {_access(access, operand): buffer for access, buffer in plan.via.items()},
        {axis(name): schedule for name, schedule in plan.loops.items()},
        plan.options,
        tuple(replace(some, operand=operand(some.operand)) for some in plan.assume),
        tuple(replace(walk, operand=operand(walk.operand), axis=axis(walk.axis)) for walk in plan.walks),
        {operand(name): views for name, views in plan.views.items()},
        plan.own,
    )


def confined(plan: Plan, axes: Container[str]) -> Plan:
    """The plan without what it says of other axes, whose loops are gone."""
    return replace(
        plan,
        order=tuple(axis for axis in plan.order if axis in axes),
        parallel=frozenset(axis for axis in plan.parallel if axis in axes),
        buffers=tuple(_confined_buffer(buffer, axes) for buffer in plan.buffers),
        loops={axis: schedule for axis, schedule in plan.loops.items() if axis in axes},
    )


def _confined_buffer(buffer: Buffer, axes: Container[str]) -> Buffer:
    """A word that is left without axes goes too."""
    left = tuple(axis for axis in buffer.axes if axis in axes)
    options = [(word, value, _confined(value, axes)) for word, value in buffer.options]
    return replace(buffer, axes=left, options=tuple((word, new) for word, old, new in options if new or new == old))


def _confined(value: Value, axes: Container[str]) -> Value:
    """Words in parentheses are axes; a distance goes with the last one."""
    if not isinstance(value, tuple):
        return value
    left = tuple(part for part in value if not isinstance(part, str) or part in axes)
    return left if any(isinstance(part, str) for part in left) else ()


def renamed_buffer(buffer: Buffer, axis: Callable[[str], str], operand: Callable[[str], str]) -> Buffer:
    """The buffer with its axes and its operand by their other names."""
    options = renamed_options(buffer.options, axis)
    return replace(buffer, operand=operand(buffer.operand), axes=tuple(map(axis, buffer.axes)), options=options)


def renamed_options(options: Options, axis: Callable[[str], str]) -> Options:
    """Options with every axis by its other name."""
    return tuple((word, _value(value, axis)) for word, value in options)


def _value(value: Value, axis: Callable[[str], str]) -> Value:
    """Words in parentheses are axes."""
    return tuple(axis(part) if isinstance(part, str) else part for part in value) if isinstance(value, tuple) else value


def _access(access: str, operand: Callable[[str], str]) -> str:
    name, mark, number = access.partition("#")
    return operand(name) + mark + number
