"""The TextMate grammar of kopt's IR, made of the dialects: what an editor colours without asking the server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from xdsl.ir import Dialect

from kopt.dtypes import BY_SPEC
from kopt.lsp import registered
from kopt.lsp.words import REST, SUFFIX

#: Types of MLIR's that are words, besides those of elements.
_BUILTIN_TYPES = ("memref", "tensor", "vector", "index", "none", "complex", "tuple")
_CONSTANTS = ("true", "false", "unit", "dense", "affine_map", "strided", "loc")
#: A number, and a size in a type: ``4x?x128xf32``.
_NUMBER = r"-?(?:\b0x[0-9A-Fa-f]+|\b\d+(?:\.\d*(?:[eE][-+]?\d+)?)?)|(?<=x)\d+(?=x)|\?(?=x)"
#: What ends a word before, and after.
_START, _STOP = r"(?<![\w$.%@!#^])", r"(?![\w$.])"


def grammar(dialects: Mapping[str, Dialect]) -> dict[str, Any]:
    """The grammar as data; its patterns are tried in their order, and the one that matches first in the line wins."""
    return {
        "name": "kopt IR",
        "scopeName": "source.kopt-mlir",
        "fileTypes": ["mlir"],
        "patterns": [
            _match("meta.separator", r"^// -----.*$"),
            _match("comment.line.double-slash", r"//.*$"),
            _match("string.quoted.double", r'"(?:[^"\\]|\\.)*"'),
            _match("variable.other", rf"%{SUFFIX}(?:#\d+)?"),
            _match("entity.name.label", rf"\^{SUFFIX}"),
            _match("entity.name.function", rf'@(?:[A-Za-z_]{REST}|"[^"]*")'),
            *(_ops(name, dialect) for name, dialect in sorted(dialects.items()) if [*dialect.operations]),
            _match("support.type.known", f"!{_one_of(name for name in registered.types_of(dialects.values()))}{_STOP}"),
            _match("support.type", f"!{SUFFIX}"),
            _match("constant.other.attribute", rf"#[A-Za-z_$.]{REST}"),
            _match("variable.parameter.axis", r"\b[A-Za-z_]\w*(?==\d)"),
            _match("storage.type", rf"(?:\b|(?<=\dx)|(?<=\?x))(?:[su]?i\d+|{_one_of([*BY_SPEC, *_BUILTIN_TYPES])})\b"),
            _match("constant.language", _START + _one_of(_CONSTANTS) + _STOP),
            _match("keyword.other", _START + _one_of(_keywords(dialects.values())) + _STOP),
            _match("constant.numeric", _NUMBER),
        ],
    }


def _match(scope: str, pattern: str) -> dict[str, str]:
    return {"name": f"{scope}.kopt-mlir", "match": pattern}


def _ops(name: str, dialect: Dialect) -> dict[str, str]:
    """The ops of one dialect."""
    ends = _one_of(op.name.removeprefix(f"{name}.") for op in dialect.operations)
    return _match(f"support.function.{name}", rf"{_START}{re.escape(name)}\.{ends}{_STOP}")


def _one_of(words: Iterable[str]) -> str:
    """A pattern for any of these words, longer ones first."""
    return f"(?:{'|'.join(re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word)))})"


def _keywords(dialects: Iterable[Dialect]) -> set[str]:
    """The words that assembly formats bring, and ``return`` and ``module``, which stand for ops."""
    formats = map(_format, registered.ops_of(dialects).values())
    found = {word for text in formats for word in re.findall(r"`([A-Za-z_]\w*)`", text)}
    return found | {"return", "module"}


def _format(op: Any) -> str:
    return op.get_irdl_definition().assembly_format or ""
