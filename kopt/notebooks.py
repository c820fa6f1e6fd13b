"""What notebooks show of kopt's objects: HTML whose texts are all escaped."""

from __future__ import annotations

from html import escape


def html(title: str, **parts: str) -> str:
    """A line, and below it the texts by their names, each of which a click unfolds."""
    return "\n".join([f"<div><code>{escape(title)}</code></div>", *(_part(*item) for item in parts.items() if item[1])])


def preformatted(text: str) -> str:
    """Text of several lines, as it is."""
    return f"<pre>{escape(text)}</pre>"


def _part(name: str, text: str) -> str:
    lines = text.count("\n") + 1
    summary = f"<summary>{escape(name)} ({lines} lines)</summary>"
    return f"<details>{summary}{preformatted(text)}</details>"
