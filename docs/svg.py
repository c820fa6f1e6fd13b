"""A canvas for the pictures of the documentation: boxes, words and arrows, as text of an SVG file."""

from __future__ import annotations

from html import escape

BLUE, ORANGE, GREEN, GREY, RED, WHITE = "#4c78a8", "#f58518", "#54a24b", "#d9dde3", "#e45756", "#ffffff"
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" \
font-family="system-ui, sans-serif" font-size="13" role="img">
<title>{title}</title>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
<path d="M0 0 L8 4 L0 8 z" fill="#333"/></marker></defs>
<rect width="100%" height="100%" fill="#fff"/>
"""


class Canvas:
    """A picture; lengths are pixels, from the top left corner."""

    def __init__(self, width: int, height: int, title: str):
        self._lines = [_HEAD.format(width=width, height=height, title=escape(title)).rstrip()]

    def box(
        self, x: float, y: float, w: float, h: float, fill: str = WHITE, text: str = "", dark: bool = False
    ) -> None:
        """A rectangle with words in its middle; ``dark`` is for words on a strong colour."""
        self._lines.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}" stroke="#333" stroke-width="0.8"/>'
        )
        if text:
            self.text(x + w / 2, y + h / 2 + 4, text, middle=True, colour="#fff" if dark else "#222")

    def text(
        self, x: float, y: float, text: str, middle: bool = False, colour: str = "#222", bold: bool = False
    ) -> None:
        """Words whose base line is at ``y``."""
        anchor = ' text-anchor="middle"' if middle else ""
        weight = ' font-weight="bold"' if bold else ""
        self._lines.append(f'<text x="{x:g}" y="{y:g}" fill="{colour}"{anchor}{weight}>{escape(text)}</text>')

    def arrow(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """A line with a tip at its end."""
        self._lines.append(
            f'<line x1="{x0:g}" y1="{y0:g}" x2="{x1:g}" y2="{y1:g}" stroke="#333" stroke-width="1.2" '
            'marker-end="url(#tip)"/>'
        )

    def svg(self) -> str:
        return "\n".join([*self._lines, "</svg>"]) + "\n"
