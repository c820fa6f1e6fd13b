"""Which dimensions of two tiles meet: by the loop that they belong to where ranks differ, else from the right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kopt.dialects.tile import DimAttr

Dims = tuple[DimAttr, ...]
#: The dimension that two become, or None where they do not go together.
Join = Callable[[DimAttr, DimAttr], DimAttr | None]


def join_dim(a: DimAttr, b: DimAttr) -> DimAttr | None:
    """Equal ones go together, and a plain 1 with any."""
    if a == b or b == DimAttr(1):
        return a
    return b if a == DimAttr(1) else None


def joined_dims(shapes: Iterable[Dims], join: Join = join_dim) -> Dims | None:
    """The dimensions that tiles broadcast to, or None."""
    result: Dims = ()
    for dims in sorted(shapes, key=len, reverse=True):
        high, low = (result, dims) if len(result) >= len(dims) else (dims, result)
        if (places := meeting_places(low, high, join)) is None:
            return None
        both = list(high)
        for dim, place in zip(low, places, strict=True):
            together = join(both[place], dim)
            assert together is not None
            both[place] = together
        result = tuple(both)
    return result


def meeting_places(low: Dims, high: Dims, join: Join = join_dim) -> list[int] | None:
    """The dimension of ``high`` that each dimension of ``low`` meets, or None where they do not go together."""
    shift = len(high) - len(low)
    right = list(range(shift, len(high)))
    if shift > 0 and (by_tag := _by_tag(low, high, join)) is not None:
        return by_tag
    if shift >= 0 and all(join(high[p], d) is not None for d, p in zip(low, right, strict=True)):
        return right
    return None


def _by_tag(low: Dims, high: Dims, join: Join) -> list[int] | None:
    """Places where every tagged dimension finds its tag; plain ones stand right before the next."""
    tags = [dim.tag.data for dim in high]
    if not any(d.tag.data and d.tag.data in tags for d in low):
        return None
    places: list[int] = []
    limit = len(high)
    for dim in reversed(low):
        tag = dim.tag.data
        found = tags[:limit].index(tag) if tag and tag in tags[:limit] else limit - 1
        if found < 0 or (tag and tag not in tags[:limit]) or join(high[found], dim) is None:
            return None
        places.insert(0, found)
        limit = found
    return places


def order_in(dims: Dims, wanted: Sequence[DimAttr]) -> list[int] | None:
    """The place of each dimension among ``wanted`` ones, or None where one is missing."""
    left = list(enumerate(wanted))
    places = []
    for dim in dims:
        found = next((pair for pair in left if pair[1] == dim), None)
        if found is None:
            return None
        left.remove(found)
        places.append(found[0])
    return places
