"""The few shapes that pictures are made of. Every text is escaped here, and nowhere else is markup made of one."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def picture(width: float, height: float, label: str, *parts: str) -> str:
    """A picture of some parts; ``label`` says in words what it shows."""
    size = f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}"'
    return f'<svg {size} role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def group(*parts: str, origin: int | None = None, title: str = "") -> str:
    """Parts that belong together, with what a pointer on them is told; ``origin`` is where they come from."""
    place = "" if origin is None else f' data-origin="{origin}"'
    told = f"<title>{escape(title)}</title>" if title else ""
    return f"<g{place}>{told}{''.join(parts)}</g>"


def box(x: float, y: float, width: float, height: float, kind: str, title: str = "", radius: float = 0) -> str:
    """A rectangle."""
    told = f"<title>{escape(title)}</title>" if title else ""
    place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(max(0, width))}" height="{_n(max(0, height))}"'
    return f'<rect {place} rx="{_n(radius)}" class="{escape(kind)}">{told}</rect>'


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text; ``anchor`` is ``start``, ``middle`` or ``end``."""
    return f'<text x="{_n(x)}" y="{_n(y)}" class="{escape(kind)}" text-anchor="{anchor}">{escape(words)}</text>'


def path(points: Sequence[tuple[float, float]], kind: str) -> str:
    """A line through points."""
    steps = " L ".join(f"{_n(x)} {_n(y)}" for x, y in points)
    return f'<path d="M {steps}" class="{escape(kind)}"/>'


def curve(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    """A line from left to right that leaves and arrives level."""
    (x, y), (u, v) = start, end
    middle = (x + u) / 2
    return f'<path d="M {_n(x)} {_n(y)} C {_n(middle)} {_n(y)} {_n(middle)} {_n(v)} {_n(u)} {_n(v)}" class="{kind}"/>'


def circle(x: float, y: float, radius: float, kind: str, title: str = "") -> str:
    """A point."""
    told = f"<title>{escape(title)}</title>" if title else ""
    return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" class="{escape(kind)}">{told}</circle>'


def legend(x: float, y: float, entries: Sequence[tuple[str, str]]) -> str:
    """What colours mean: pairs of a class and a word."""
    parts = []
    for kind, word in entries:
        parts += [box(x, y - 9, 10, 10, kind), text(x + 15, y, word)]
        x += 32 + 6.2 * len(word)
    return "".join(parts)


def _n(value: float) -> str:
    """A number as short as it can be said to a hundredth."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
