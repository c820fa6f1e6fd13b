"""Writes the reference pages from the code: one page a dialect, one of the passes, of the language and of plans.

python docs/generate.py            writes docs/dialects/*.md, passes, language, plans, diagnostics.md and images/*.svg,
                                   and the grammar of editors/vscode
python docs/generate.py --check    says which pages are out of date, exit 1 where one is
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

DOCS = Path(__file__).resolve().parent
GRAMMAR = DOCS.parent / "editors/vscode/syntaxes/kopt-mlir.tmLanguage.json"
sys.path.insert(0, str(DOCS.parent))

from language_page import language_page  # noqa: E402
from pictures import pictures  # noqa: E402
from plans_page import plans_page  # noqa: E402

from kopt.catalogue import CALLS, IR, KERNELS  # noqa: E402
from kopt.dialects import DIALECTS  # noqa: E402
from kopt.dialects.documentation import markdown, parts_of, summary  # noqa: E402
from kopt.lsp.grammar import grammar  # noqa: E402
from kopt.passes import PASSES  # noqa: E402
from kopt.registry import load  # noqa: E402

NOTE = "<!-- written by docs/generate.py from the docstrings: edit those -->"
TABLE_NOTE = "<!-- written by docs/generate.py from test/conformance/table.py and kopt/language: edit those -->"
PLANS_NOTE = (
    "<!-- written by docs/generate.py from docs/plans_page.py, kopt/plans/kinds.py and a lit test: edit those -->"
)
DIAGNOSTICS_NOTE = "<!-- written by docs/generate.py from kopt/catalogue.py: edit that -->"


def dialect_page(name: str) -> str:
    """The page of a dialect: its thesis, its types, and its ops by the file that defines them."""
    path = DIALECTS[name]
    dialect = load(path)
    module = sys.modules[path.partition(":")[0]]
    parts = [NOTE, f"# The `{name}` dialect", markdown(module.__doc__)]
    types = sorted(dialect.attributes, key=lambda attr: attr.name)
    if types:
        parts += ["## Types and attributes", *(f"### `{attr.name}`\n\n{markdown(attr.__doc__)}" for attr in types)]
    for home, ops in _by_home(dialect.operations):
        parts += _op_group(name, module, home, ops)
    return "\n\n".join(parts) + "\n"


def _by_home(ops: Iterable[Any]) -> list[tuple[ModuleType, list[Any]]]:
    """Ops grouped by the module that defines them, in the order in which the dialect lists them."""
    groups: dict[str, list[Any]] = {}
    for op in ops:
        groups.setdefault(op.__module__, []).append(op)
    return [(sys.modules[home], members) for home, members in groups.items()]


def _op_group(dialect: str, package: ModuleType, home: ModuleType, ops: list[Any]) -> Iterator[str]:
    title = home.__name__.rpartition(".")[2].replace("_", " ").capitalize()
    yield "## Ops" if home is package else f"## {title}"
    if home is not package:
        yield markdown(home.__doc__)
    short = [op for op in ops if _is_short(op)]
    if len(short) > 8:
        yield "\n".join(["| op | meaning |", "|---|---|", *(f"| `{op.name}` | {_cell(op.__doc__)} |" for op in short)])
    for op in ops:
        if len(short) <= 8 or op not in short:
            yield f"### `{op.name}`\n\n{markdown(op.__doc__)}\n\n{parts_of(op)}".rstrip()


def _is_short(op: Any) -> bool:
    return "\n" not in inspect.cleandoc(op.__doc__ or "") and "```" not in markdown(op.__doc__)


def _cell(doc: str | None) -> str:
    return summary(doc).replace("|", "\\|")


def passes_page() -> str:
    """The page of the passes, with their options."""
    own = {name: path for name, path in PASSES.items() if path.startswith("kopt.")}
    theirs = sorted(set(PASSES) - set(own))
    intro = (
        "Every pass, with the IR before and after it, and its options. A pipeline names passes:\n"
        "`kopt FILE.mlir --pass-pipeline='builtin.module(canonicalize,insert-masks)'`.\n"
        "`kopt/passes/pipelines.py` says which run for each target, in which order and why."
    )
    parts = [NOTE, "# Passes", intro, *(_pass_section(name, load(path)) for name, path in sorted(own.items()))]
    if theirs:
        parts += ["## From xDSL", ", ".join(f"`{name}`" for name in theirs) + "."]
    return "\n\n".join(parts) + "\n"


def _pass_section(name: str, cls: Any) -> str:
    options = [_option(field) for field in dataclasses.fields(cls)]
    table = ["| option | type | default |", "|---|---|---|", *options] if options else []
    return "\n\n".join(part for part in (f"## `{name}`", markdown(cls.__doc__), "\n".join(table)) if part)


def _option(field: dataclasses.Field[Any]) -> str:
    kind = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    default = "required" if field.default is dataclasses.MISSING else f"`{_spelt(field.default)}`"
    return f"| `{field.name.replace('_', '-')}` | `{kind}` | {default} |".replace(" | None`", "`")


def _spelt(default: Any) -> str:
    return str(default).lower() if isinstance(default, bool) else "not set" if default is None else str(default)


def diagnostics_page() -> str:
    """The page of the catalogue of diagnostics: an anchor an id."""
    intro = (
        "Errors, and some warnings and remarks, end in the id of their kind: `error: … [unknown-name]`. "
        "`error.id` has it in Python, and `kopt diagnostics ID` prints an entry of this page."
    )
    parts = [DIAGNOSTICS_NOTE, "# Diagnostics by id", intro]
    groups = {"Kernels": KERNELS, "Calls, targets and configurations": CALLS, "IR, lowerings and runs": IR}
    for title, kinds in groups.items():
        parts.append(f"## {title}")
        for id, kind in kinds.items():
            parts.append(f"### {id}\n\n{kind.what}\n\n*Why:* {kind.why}\n\n*Fix:* {kind.fix}")
    return "\n\n".join(parts) + "\n"


def pages() -> dict[Path, str]:
    """Every generated page and its text."""
    own = [name for name, path in DIALECTS.items() if path.startswith("kopt.")]
    texts = {DOCS / "dialects" / f"{name}.md": dialect_page(name) for name in own}
    language = f"{TABLE_NOTE}\n\n{language_page()}"
    plans = f"{PLANS_NOTE}\n\n{plans_page()}"
    texts |= {DOCS / "images" / name: text for name, text in pictures().items()}
    texts[GRAMMAR] = json.dumps(grammar({name: load(path) for name, path in DIALECTS.items()}), indent=2) + "\n"
    texts[DOCS / "diagnostics.md"] = diagnostics_page()
    return {**texts, DOCS / "passes.md": passes_page(), DOCS / "language.md": language, DOCS / "plans.md": plans}


def out_of_date() -> list[Path]:
    """The pages whose text on disk is not what the code says, and pages of dialects that are gone."""
    wanted = pages()
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    return stale + [path for path in (DOCS / "dialects").glob("*.md") if path not in wanted]


def main() -> int:
    stale = out_of_date()
    if "--check" in sys.argv[1:]:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(DOCS.parent)} is out of date: run python docs/generate.py\n")
        return 1 if stale else 0
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
