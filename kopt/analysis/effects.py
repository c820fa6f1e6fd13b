"""What operations do to memory, by xDSL's traits: the traits of a class of operations are looked through once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from xdsl.ir import Operation, SSAValue
from xdsl.traits import (
    EffectInstance,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    NoMemoryEffect,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)


def get_effects(op: Operation) -> set[EffectInstance] | None:
    """The reads, writes and allocations of an operation; None where they are not known."""
    if is_pure(type(op)):
        return set()
    found: set[EffectInstance] = set()
    for effect in _effects(op):
        if effect is None:
            return None
        found.add(effect)
    return found


def may_write(op: Operation) -> bool:
    """Whether an operation writes memory, for all that is known."""
    return any(effect is None or effect.kind is MemoryEffectKind.WRITE for effect in _effects(op))


def may_only_read(op: Operation) -> bool:
    """Whether it is known that an operation does nothing to memory but to read it."""
    return all(effect is not None and effect.kind is MemoryEffectKind.READ for effect in _effects(op))


def is_side_effect_free(op: Operation) -> bool:
    """Whether it is known that an operation neither reads, writes nor allocates memory."""
    return is_pure(type(op)) or next(_effects(op), _NOTHING) is _NOTHING


def is_trivially_dead(op: Operation) -> bool:
    """Whether nothing would notice if an operation went: nothing uses its results, and it writes nothing."""
    return all(result.first_use is None for result in op.results) and would_be_trivially_dead(op)


def would_be_trivially_dead(op: Operation) -> bool:
    """Whether an operation does no more than to compute its results: it only reads, or allocates what is its own."""
    if _is_always_needed(type(op)):
        return False
    return is_pure(type(op)) or all(
        effect is not None and (effect.kind is MemoryEffectKind.READ or _is_own_allocation(op, effect))
        for effect in _effects(op)
    )


def _is_own_allocation(op: Operation, effect: EffectInstance) -> bool:
    value = effect.value
    return effect.kind is MemoryEffectKind.ALLOC and isinstance(value, SSAValue) and op.is_ancestor(value.owner)


_NOTHING = object()


def _effects(op: Operation) -> Iterator[EffectInstance | None]:
    """The effects one by one, so that who needs to know of one alone looks no further; None for what is not known."""
    interfaces = _interfaces(type(op))
    if not interfaces:
        yield None
    for interface in interfaces:
        if isinstance(interface, RecursiveMemoryEffect):
            for inner in (inner for region in op.regions for block in region.blocks for inner in block.ops):
                if not is_pure(type(inner)):
                    yield from _effects(inner)
        else:
            effects = interface.get_effects(op)
            yield from (None,) if effects is None else effects


@cache
def _interfaces(cls: type[Operation]) -> tuple[MemoryEffect, ...]:
    return tuple(cls.get_traits_of_type(MemoryEffect))


@cache
def is_pure(cls: type[Operation]) -> bool:
    """Whether no operation of a class does anything to memory."""
    interfaces = _interfaces(cls)
    return bool(interfaces) and all(isinstance(interface, NoMemoryEffect) for interface in interfaces)


@cache
def is_terminator(cls: type[Operation]) -> bool:
    """Whether the operations of a class end blocks."""
    return cls.has_trait(IsTerminator, value_if_unregistered=False)


@cache
def _is_always_needed(cls: type[Operation]) -> bool:
    return is_terminator(cls) or cls.has_trait(SymbolOpInterface, value_if_unregistered=False)
