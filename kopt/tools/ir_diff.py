"""The IR before and after a pass, word by word: ``[-word-]`` is gone, ``{+word+}`` is new; on a terminal in colours."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.pass_manager import Instrumentation
from kopt.tools.command_line import shows_colours

#: Lines that are shown around those that differ.
_AROUND = 2
_WORD = re.compile(r"[%@!#]?[\w.$]+|\s+|.")
#: Before and behind what is gone, and what is new.
_MARKS = {"-": ("[-", "-]"), "+": ("{+", "+}")}
_COLOURS = {"-": ("\033[31m", "\033[0m"), "+": ("\033[32m", "\033[0m")}
#: Lines as alike as this are one line that changed.
_ALIKE = 0.4
#: How far behind the last one a line's counterpart is looked for.
_NEAR = 16


class DiffPrinter(Instrumentation):
    """Prints on stderr how each pass changed the module, and nothing of those that did not."""

    def __init__(self) -> None:
        self._before = ""

    def before(self, pass_: ModulePass, module: ModuleOp) -> None:
        self._before = str(module)

    def after(self, pass_: ModulePass, module: ModuleOp) -> None:
        if (text := str(module)) != self._before:
            print(f"// -----// IR Diff After {pass_.name} //----- //", file=sys.stderr)
            print(difference(self._before, text, shows_colours(sys.stderr)), file=sys.stderr)


def difference(old: str, new: str, coloured: bool = False) -> str:
    """The lines that differ, with some around them; ``...`` stands for the others."""
    marks = _COLOURS if coloured else _MARKS
    return "\n".join(_lines(old.splitlines(), new.splitlines(), marks))


def _lines(old: Sequence[str], new: Sequence[str], marks: dict[str, tuple[str, str]]) -> Iterator[str]:
    end = 0
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND):
        if group[0][3] > end:
            yield "  ..."
        for kind, i, j, m, n in group:
            if kind == "equal":
                yield from (f"  {line}" for line in new[m:n])
            else:
                yield from _changed(old[i:j], new[m:n], marks)
        end = group[-1][4]
    if end < len(new):
        yield "  ..."


def _changed(old: Sequence[str], new: Sequence[str], marks: dict[str, tuple[str, str]]) -> Iterator[str]:
    """Lines in place of others: each with its likeliest counterpart, in order; the rest as a whole."""
    left = 0
    for line in new:
        alike = [(_likeness(before, line), -number) for number, before in enumerate(old[left : left + _NEAR], left)]
        likeness, number = max(alike, default=(0.0, 0))
        if likeness < _ALIKE:
            yield f"+ {_marked(line, '+', marks)}"
            continue
        yield from (f"- {_marked(gone, '-', marks)}" for gone in old[left:-number])
        yield f"~ {_words(old[-number], line, marks)}"
        left = 1 - number
    yield from (f"- {_marked(gone, '-', marks)}" for gone in old[left:])


def _likeness(old: str, new: str) -> float:
    matcher = SequenceMatcher(None, _WORD.findall(old.strip()), _WORD.findall(new.strip()), autojunk=False)
    return matcher.ratio() if min(matcher.real_quick_ratio(), matcher.quick_ratio()) >= _ALIKE else 0.0


def _words(old: str, new: str, marks: dict[str, tuple[str, str]]) -> str:
    """One line in which words that are gone and new stand beside each other."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    parts = []
    for kind, i, j, m, n in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append("".join(after[m:n]))
        else:
            parts += [_marked("".join(before[i:j]), "-", marks), _marked("".join(after[m:n]), "+", marks)]
    return "".join(parts)


def _marked(text: str, sign: str, marks: dict[str, tuple[str, str]]) -> str:
    """A text between its marks; the spaces before it stand outside."""
    body = text.lstrip()
    first, last = marks[sign]
    return f"{text[: len(text) - len(body)]}{first}{body}{last}" if body else text
