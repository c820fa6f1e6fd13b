"""The commands and programs of README.md and of the first pages do what they say, as they are printed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from .command_lines import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs/getting-started.md"]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def shell_lines() -> list[str]:
    """The commands of the pages' shell blocks, without comments."""
    text = "\n".join(body for page in PAGES for kind, body in _BLOCK.findall(page.read_text()) if kind == "sh")
    return [line.partition("  #")[0].strip() for line in text.splitlines()]


def lines(program: str) -> list[str]:
    """Those of a program."""
    return list(dict.fromkeys(line for line in shell_lines() if line.split()[:1] == [program]))


def programs() -> list[str]:
    """The Python programs of README.md, each a whole one."""
    return [body for kind, body in _BLOCK.findall(PAGES[0].read_text()) if kind == "python"]


@pytest.fixture
def shell(tmp_path):
    """Runs a line."""
    return lambda line: run(line, tmp_path)


def test_the_pages_have_commands():
    assert len(lines("kopt")) >= 5 and len(lines("make")) >= 3 and len(lines("pip")) >= 4


@pytest.mark.parametrize("line", [line for line in lines("kopt") if " report " not in line])
def test_commands_of_the_tool(shell, line):
    done = shell(line)
    assert done.code == 0 and done.out and not done.err, done.err


@pytest.mark.slow
@pytest.mark.parametrize("line", [line for line in lines("kopt") if " report " in line])
def test_reports(shell, line):
    done = shell(line)
    assert done.code == 0 and re.search(r"^legal +yes( +yes)+$", done.out, re.MULTILINE), done.err


@pytest.mark.parametrize("line", lines("make"))
def test_what_is_made_can_be_made(line):
    target = line.split()[1]
    assert re.search(rf"^{target}:.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("line", lines("pip"))
def test_extras_that_are_installed_exist(line):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.search(r"'\.\[(.*)\]'$", line)
    assert line.endswith(" .") or named and set(named[1].split(",")) <= set(extras)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program, says",
    [*zip(programs(), (r"^legal +yes$", r"^def feed_forward"), strict=True)],
    ids=["kernel", "program"],
)
def test_programs_of_the_first_page(shell, tmp_path, program, says):
    (tmp_path / "program.py").write_text(program)
    done = shell(f"python {tmp_path}/program.py")
    assert done.code == 0 and re.search(says, done.out, re.MULTILINE), done.err


@pytest.mark.slow
@pytest.mark.parametrize("line", re.findall(r"`(\.venv/bin/[^`]+)`", PAGES[0].read_text()))
def test_commands_beside_blocks(shell, line):
    """Of the environment that ``make`` sets up: here, of the one that runs the tests."""
    done = shell(line.removeprefix(".venv/bin/"))
    assert done.code == 0 and done.out and not done.err, done.err


def test_blocks_are_of_a_kind_that_is_run():
    kinds = [kind for kind, _ in _BLOCK.findall(PAGES[0].read_text())]
    commands = {line.split()[0] for line in shell_lines() if line}
    assert set(kinds) == {"sh", "python"} and commands == {"kopt", "make", "pip", "source"}


def test_links_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(
            r"\]\(([^)#:]+?)(?:#[^)]*)?\)", re.sub(r"`[^`\n]*`", "", _BLOCK.sub("", page.read_text()))
        ):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
