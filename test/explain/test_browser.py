"""The page in a real browser: clicks, keys, links, search, themes, no complaint of the console, nothing loaded.

``make browser`` runs these alone; ``KOPT_SCREENSHOTS=DIR`` keeps pictures.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kopt.explain.page_text import page
from test.explain.browser import Browser, MissingLibrary, browser
from test.explain.conftest import TUNED
from test.explain.long_kernel import long_explanation

pytestmark = pytest.mark.slow
Explained = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module", name="browser")
def _browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    try:
        with browser(tmp_path_factory.mktemp("browser")) as found:
            yield found
    except MissingLibrary as error:
        pytest.skip(str(error))


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Browser]]:
    """Opens the page of an explanation; at the end nothing was complained of, and nothing but the file was loaded."""
    urls = []

    def open_page(data: dict[str, Any], address: str = "") -> Browser:
        path = tmp_path / "page.html"
        path.write_text(page(data), encoding="utf-8")
        urls.append(path.as_uri())
        browser.errors.clear()
        browser.requests.clear()
        browser.open("about:blank")
        browser.open(f"{path.as_uri()}{address}")
        browser.wait("document.querySelector('#stage .row')")
        return browser

    yield open_page
    assert browser.errors == []
    assert {url.partition("#")[0] for url in browser.requests} <= {"about:blank", *urls}


def keep(browser: Browser, name: str) -> None:
    """A picture for people, where they ask for some."""
    if folder := os.environ.get("KOPT_SCREENSHOTS"):
        browser.picture(Path(folder) / f"{name}.png")


def stage(browser: Browser) -> str:
    return browser.evaluate("document.querySelector('#stage h2').textContent")


def row(column: str, text: str) -> str:
    """The first line of a column with a text, as an expression."""
    return f"[...document.querySelectorAll('#{column} .row')].find((e) => e.textContent.includes({text!r}))"


def lit(browser: Browser, column: str, kind: str = "exact") -> list[str]:
    """The lines of a column that are lit up."""
    return browser.evaluate(f"[...document.querySelectorAll('#{column} .row.{kind} code')].map((e) => e.textContent)")


def test_a_click_on_a_line_lights_up_what_it_came_from_and_became(opened: Callable[..., Browser], explained: Explained):
    browser = opened(explained("softmax"), "#stage=plan-accesses")
    assert stage(browser) == "plan-accesses"
    browser.click(row("stage", "tile.reduce max"))
    (source,) = lit(browser, "source")
    assert "torch.softmax(x[rows, :], dim=1)" in source
    assert any("jnp.max" in line for line in lit(browser, "emitted"))
    assert all("x_ref[...]" not in line or "=" in line.split("x_ref")[0] for line in lit(browser, "emitted"))
    keep(browser, "click")
    address = browser.evaluate("location.hash")
    assert address.startswith("#stage=plan-accesses&line=")
    browser.click(row("source", "torch.softmax"))
    assert any("tile.load" in line for line in lit(browser, "stage"))
    browser.press("Escape")
    assert lit(browser, "source") == [] and browser.evaluate("location.hash") == "#stage=plan-accesses"


def test_what_is_lit_up_is_seen(opened: Callable[..., Browser], explained: Explained):
    """Columns scroll to it, also in a small window. The picture is that of docs/explain.md."""
    browser = opened(explained("decomposed"), "#stage=plan-accesses")
    browser.resize(1320, 390)
    browser.click(row("stage", "tile.exp"))
    hidden = """['source', 'stage', 'emitted'].filter((id) => {
        const column = document.querySelector(`#${id} .text`).getBoundingClientRect();
        const box = document.querySelector(`#${id} .row.exact`).getBoundingClientRect();
        return box.top < column.top - 1 || box.bottom > column.bottom + 1;
    })"""
    assert browser.evaluate(hidden) == []
    keep(browser, "explain")
    browser.resize(1500, 900)


def test_links_to_a_line_work(opened: Callable[..., Browser], explained: Explained):
    browser = opened(explained("matmul"), "#stage=bind-buffers&line=4")
    assert stage(browser) == "bind-buffers"
    assert browser.evaluate("document.querySelector('#stage .row.selected').dataset.line") == "4"
    browser.evaluate("location.hash = '#stage=import&emitted=10'")
    browser.wait("document.querySelector('#emitted .row.selected')")
    assert stage(browser) == "import" and len(lit(browser, "stage")) == 1
    browser.evaluate("location.hash = '#stage=of-another-version&line=4000'")
    browser.wait("!document.querySelector('.row.selected')")
    assert stage(browser) == "import"


def test_keys_go_from_pass_to_pass(opened: Callable[..., Browser], explained: Explained):
    data = explained("matmul")
    browser = opened(data)
    listed = [one["name"] for one in data["stages"] if one["status"] != "unchanged" or one["remarks"]]
    seen = [stage(browser)]
    for key in "jjj":
        browser.press(key)
        seen.append(stage(browser))
    assert seen == listed[:4]
    browser.press("k")
    browser.press("ArrowDown")
    browser.press("ArrowUp")
    assert stage(browser) == listed[2]
    browser.press("a")
    browser.press("j")
    names = [one["name"] for one in data["stages"]]
    assert stage(browser) == names[names.index(listed[2]) + 1]
    unchanged = next(one["name"] for one in data["stages"] if one["status"] == "unchanged")
    browser.evaluate(f"location.hash = '#stage={unchanged}'")
    browser.wait(f"document.querySelector('#stage h2').textContent === '{unchanged}'")
    assert "changed nothing" in browser.evaluate("document.querySelector('#stage .about').textContent")


def test_a_selection_stays_while_passes_go_by(opened: Callable[..., Browser], explained: Explained):
    browser = opened(explained("softmax"))
    browser.click(row("stage", "tile.load"))
    browser.press("j")
    browser.press("j")
    assert any("tile.load" in line for line in lit(browser, "stage"))
    assert "from=import" in browser.evaluate("location.hash")
    assert browser.evaluate("document.querySelectorAll('#stages .touched').length") > 0


def test_words_that_changed_are_marked(opened: Callable[..., Browser], explained: Explained):
    browser = opened(explained("matmul"), "#stage=plan-accesses")
    added = browser.evaluate("[...document.querySelectorAll('#stage ins')].map((e) => e.textContent).join('')")
    assert "via @x" in added and "via @out" in added
    assert browser.evaluate("document.querySelectorAll('#stage .row.removed').length") > 0
    browser.press("d")
    assert browser.evaluate("document.querySelectorAll('#stage .row.removed, #stage ins').length") == 0


def test_search_looks_through_all_stages(opened: Callable[..., Browser], explained: Explained):
    browser = opened(explained("matmul"))
    browser.press("/")
    browser.type("pallas.call")
    browser.wait("document.querySelector('#found').textContent !== ''")
    hits = browser.evaluate("[...document.querySelectorAll('#stages .hits')].filter((e) => e.textContent).length")
    assert hits > 0
    browser.press("Enter")
    browser.evaluate("location.hash = '#stage=bind-buffers'")
    browser.wait("document.querySelector('#stage .row.found')")
    browser.press("n")
    assert "pallas.call" in browser.evaluate("document.querySelector('#stage .row.here').textContent")


def test_dark_mode_follows_the_system_and_the_toggle(opened: Callable[..., Browser], explained: Explained):
    browser = opened(explained("softmax"))
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.prefers("light")
    light = browser.evaluate(ground)
    browser.prefers("dark")
    dark = browser.evaluate(ground)
    keep(browser, "dark")
    browser.press("t")
    assert light != dark and browser.evaluate(ground) == light
    browser.click("document.querySelector('#toggle-theme')")
    assert browser.evaluate(ground) == dark
    browser.prefers("light")
    assert browser.evaluate(ground) == dark


@pytest.mark.parametrize("name", ["matmul", "attention", "triton", "pipeline"])
def test_the_plan_is_drawn(name: str, opened: Callable[..., Browser], explained: Explained):
    browser = opened({**explained(name), "tuned": TUNED if name == "matmul" else None})
    assert browser.evaluate("document.querySelector('#plan').hidden")
    browser.press("p")
    assert browser.evaluate("location.hash").startswith("#view=plan")
    sizes = browser.evaluate("[...document.querySelectorAll('#plan svg')].map((e) => e.getBoundingClientRect().width)")
    assert len(sizes) >= 3 and min(sizes) > 200
    overflowing = """[...document.querySelectorAll('#plan svg')].filter((svg) => {
        const box = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text')].some((text) => {
            const part = text.getBoundingClientRect();
            return part.right > box.right + 1 || part.left < box.left - 1 || part.bottom > box.bottom + 1;
        });
    }).map((svg) => svg.getAttribute('aria-label'))"""
    assert browser.evaluate(overflowing) == []
    keep(browser, f"plan-{name}")


def test_a_refusal_is_the_first_thing_that_is_seen(opened: Callable[..., Browser], refused: dict[str, Any]):
    browser = opened(refused)
    assert stage(browser) == refused["stages"][-1]["name"]
    said = browser.evaluate("document.querySelector('#stage .remark.error').textContent")
    assert refused["kernel"]["refused"] in said
    assert browser.evaluate("document.querySelector('#emitted').hidden")
    keep(browser, "refused")


def test_compiled_lines_belong_to_emitted_ones(opened: Callable[..., Browser], explained: Explained):
    data = explained("triton")
    dot = next(n for n, text in enumerate(data["emitted"]["lines"], 1) if "tl.dot(" in text)
    lines = ["// kernel", "HGMMA.64x256x16.F32.BF16", "EXIT"]
    compiled = {"kind": "SASS", "lines": lines, "emitted": [None, dot, None]}
    browser = opened({**data, "compiled": compiled})
    assert browser.evaluate("document.querySelector('#compiled').hidden")
    browser.press("c")
    browser.click(row("compiled", "HGMMA"))
    assert browser.evaluate("document.querySelector('#emitted .row.selected').dataset.line") == str(dot)
    assert lit(browser, "compiled") == ["HGMMA.64x256x16.F32.BF16"]
    (source,) = lit(browser, "source")
    assert "addmm" in source
    browser.press("w")
    assert browser.evaluate("document.querySelector('#stage .text').scrollWidth <= 4000")
    keep(browser, "compiled")


def test_verdicts_stand_at_their_passes(opened: Callable[..., Browser], explained: Explained):
    data = explained("softmax")
    said = {"plan-accesses": "wrong", "bind-buffers": "validated"}
    verdicts = [{"status": said[one["name"]], "text": f"it is {said[one['name']]}"} if one["name"] in said else None
                for one in data["stages"]]  # fmt: skip
    stages = [{**one, "verdict": verdict} for one, verdict in zip(data["stages"], verdicts, strict=True)]
    browser = opened({**data, "stages": stages}, "#stage=plan-accesses")
    marks = browser.evaluate("[...document.querySelectorAll('#stages .mark')].map((e) => e.textContent)")
    assert marks == ["✗", "✓"]
    assert browser.evaluate("document.querySelector('#stage .verdict').textContent") == "it is wrong"


def test_text_of_kernels_is_no_markup(opened: Callable[..., Browser], explained: Explained):
    evil = "</script><script>window.evil=1</script><img src=x onerror=window.evil=1>{{data}}"
    data = {**explained("softmax"), "texts": [*explained("softmax")["texts"]]}
    data["kernel"] = {**data["kernel"], "name": evil, "signature": evil}
    data["texts"][2] = evil
    browser = opened(data)
    assert browser.evaluate("window.evil") is None
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    assert evil in browser.evaluate("document.querySelector('#stage').textContent")


def test_a_kernel_of_2000_lines_is_readable(opened: Callable[..., Browser]):
    """The page has rows of the stage that is shown, and of no other; the file is no larger than its different lines."""
    data = long_explanation(2000)
    browser = opened(data)
    rows = browser.evaluate("document.querySelectorAll('#stage .row').length")
    assert 2000 < rows < 2100
    for _ in range(4):
        browser.press("j")
    drawn = browser.evaluate("document.querySelectorAll('#stage .row').length")
    assert 2000 < drawn < 3 * rows
    assert browser.evaluate("document.querySelectorAll('*').length") < 12 * rows
    browser.click("document.querySelectorAll('#stage .row:not(.removed)')[1000]")
    assert browser.evaluate("document.querySelectorAll('#stage .row.selected').length") == 1
    keep(browser, "long")
