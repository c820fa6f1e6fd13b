"""One HTML file of a compile: it opens offline, loads nothing, and runs nothing but its own script."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from kopt.explain.plan_view import plan_view

#: The parts of the script, in order: the first two know nothing of the page.
SCRIPTS = ("diff.js", "links.js", "columns.js", "main.js")


def page(data: Mapping[str, Any]) -> str:
    """The page of the data that `explanation` gives.

    Its security policy allows the style and the script by their hashes, and nothing else: what a kernel's text may
    bring along is never run, and nothing is loaded from anywhere.
    """
    style, script = resource("page.css"), "\n".join(map(resource, SCRIPTS))
    kernel = data["kernel"]
    return _filled(
        resource("page.html"),
        {
            "style": style,
            "script": script,
            "style_hash": _hash(style),
            "script_hash": _hash(script),
            "title": escape(f"{kernel['name']} for {kernel['target']} · kopt explain"),
            "name": escape(kernel["name"]),
            "target": escape(kernel["target"]),
            "signature": escape(kernel["signature"]),
            "plan": plan_view(data),
            "data": embedded(data),
        },
    )


def resource(name: str) -> str:
    """A file of the page's template."""
    return files("kopt.explain").joinpath("page", name).read_text(encoding="utf-8")


def embedded(data: Mapping[str, Any]) -> str:
    """JSON as it may stand in a script element: no text in it ends the element or begins a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _filled(template: str, values: Mapping[str, str]) -> str:
    """The template with values in the place of names in double braces; values are not looked at again."""
    first, *rest = template.split("{{")
    parts = [first]
    for part in rest:
        name, _, after = part.partition("}}")
        parts += [values[name], after]
    return "".join(parts)
