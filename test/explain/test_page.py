"""The page as a file: it loads nothing, runs its own script only, and is as large as its different lines."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

from kopt.explain.page_text import SCRIPTS, embedded, page, resource
from test.explain.conftest import EXAMPLES
from test.explain.long_kernel import long_explanation

Explained = Callable[[str], dict[str, Any]]


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the texts of styles and scripts."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.found and self.found[-1][0] in ("style", "script") and data.strip():
            self.texts.append((self.found[-1][0], data))


def test_the_policy_allows_the_own_style_and_script_alone(explained: Explained):
    parsed = Elements(page(explained("matmul")))
    (policy,) = [
        found["content"] for tag, found in parsed.found if found.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None and policy.startswith("default-src 'none'; ")
    style, data, script = (text for _, text in parsed.texts)
    for kind, text in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "unsafe" not in policy and json.loads(data) == explained("matmul")


def test_nothing_is_loaded_from_anywhere(explained: Explained):
    parsed = Elements(page(explained("attention")))
    for tag, found in parsed.found:
        assert not {"src", "style", "srcset", "data", "action"} & set(found), (tag, found)
        assert not any(name.startswith("on") for name in found)
        assert tag not in ("link", "iframe", "object", "embed", "img", "base")
    texts = [resource(name) for name in ("page.html", "page.css", *SCRIPTS)]
    assert not any(
        re.search(r"https?:|//[a-z]|@import|url\(|\beval\b|innerHTML|document\.write", text) for text in texts
    )


def test_folders_of_this_machine_are_not_told(explained: Explained):
    """A page is shown to others: files have their names alone."""
    assert str(EXAMPLES) not in page(explained("matmul")) and '"file":"matmul.py"' in page(explained("matmul"))


def test_no_text_ends_the_data():
    data = {"text": "</script><!-- & \u2028"}
    assert not re.search("[<>&\u2028]", embedded(data)) and json.loads(embedded(data)) == data


def test_names_are_escaped(explained: Explained):
    data = explained("softmax")
    text = page({**data, "kernel": {**data["kernel"], "name": "<b>{{data}}", "signature": "a & b<i>"}})
    assert "&lt;b&gt;{{data}}" in text and "<b>" not in text and "a &amp; b&lt;i&gt;" in text


def test_a_page_is_as_large_as_its_different_lines():
    """Stages share their lines: fifty passes over 2,000 lines take no more than a few copies of the text."""
    data = long_explanation(2000)
    lines = sum(len(text) for text in data["texts"])
    assert len(data["stages"]) > 50 and sum(stage["lines"] is not None for stage in data["stages"]) > 4
    assert len(page(data)) < 4 * lines + 400_000


def test_scripts_and_styles_are_short():
    assert all(resource(name).count("\n") <= 400 for name in (*SCRIPTS, "page.css", "page.html"))
