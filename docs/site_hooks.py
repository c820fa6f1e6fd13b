"""Hooks of the documentation site: what mkdocs has to be told beside ``mkdocs.yml``."""

from __future__ import annotations

import re
from typing import Any

#: A link to a file of the repository that is no page of the site.
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!docs/)[^)\s]+\)")
#: What names the kind of a block for tests, and nothing for readers.
_MARK = re.compile(r"^<!-- .* -->\n", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Files outside of ``docs/`` are named, not linked: the site has only its own pages."""
    return _OUTSIDE.sub(lambda link: f"`{link[1].strip('`')}`", _MARK.sub("", markdown))
