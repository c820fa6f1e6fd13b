"""Hooks of the documentation site: what mkdocs has to be told beside ``mkdocs.yml``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

#: A link to a file of the repository that is no page of the site.
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!docs/)[^)\s]+\)")
#: What tells tests the kind of a block, and readers nothing.
_MARK = re.compile(r"^<!-- .* -->\n", re.MULTILINE)
#: What the theme would load from the network for search in pages of a folder; `offline_search.js` does it.
_SHIM = re.compile(r'<script src="https?://[^"]*iframe-worker[^"]*"></script>')


def on_config(config: Any) -> Any:
    """A page that ``mkdocs.yml`` does not name yet stands under *More*, so that none is lost."""
    docs = Path(config["docs_dir"])
    named = set(re.findall(r"[\w/-]+\.(?:md|ipynb)", str(config["nav"])))
    others = [str(path.relative_to(docs)) for path in sorted(docs.glob("**/*.md"))]
    if more := [path for path in others if path not in named]:
        config["nav"].append({"More": more})
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Files outside of ``docs/`` are named, not linked: the site has only its own pages."""
    text = _MARK.sub("", markdown)
    return text if page.url.startswith("tutorials/") else _OUTSIDE.sub(lambda link: f"`{link[1].strip('`')}`", text)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Every script of a page is the site's own."""
    up = "../" * page.url.count("/")
    return _SHIM.sub(f'<script src="{up}offline_search.js"></script>', output)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """The page of addresses that are not there is of the root."""
    return _SHIM.sub('<script src="offline_search.js"></script>', output_content)
