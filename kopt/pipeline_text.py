"""The text of a pass pipeline: ``builtin.module(canonicalize,foo{mode=x sizes="b0=64"},func.func(cse))``.

    pipeline := element ("," element)*
    element  := anchor "(" pipeline? ")" | pass-name options?
    options  := "{" (key ("=" value ("," value)*)?)* "}"     separated by white space

A pass-name without options may be a pipeline's, which stands for its passes (`kopt.passes.named_pipelines`).
An anchor is ``builtin.module``, ``func.func`` or ``any``; every pass rewrites a whole module, so anchors group but do
not restrict. Errors are ``kopt.ConfigError``s that point into the pipeline's text.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.hints import isa, type_repr

from kopt.errors import ConfigError, Location
from kopt.passes import ALL_PASSES
from kopt.passes.named_pipelines import NAMED_PIPELINES
from kopt.registry import did_you_mean

ANCHORS = ("builtin.module", "func.func", "any")

_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"[^"\n]*"|'[^'\n]*')|(?P<word>[^\s"'(){},=]+)|(?P<punct>[(){},=])|(?P<bad>["']))"""
)


def parse_pipeline(text: str) -> list[ModulePass]:
    """The passes that ``text`` names, in order, with their options checked against their fields' types."""
    return list(_PipelineParser(text).pipeline())


def pipeline_text(passes: Sequence[ModulePass]) -> str:
    """The text that `parse_pipeline` reads as these passes; options have their values where these are no defaults."""
    return f"builtin.module({','.join(map(_pass_text, passes))})"


def _pass_text(pass_: ModulePass) -> str:
    fields = [field for field in dataclasses.fields(pass_) if field.init]
    given = {field.name: getattr(pass_, field.name) for field in fields}
    defaults = {field.name: _default(field) for field in fields}
    texts = [_option_text(key, value) for key, value in given.items() if value != defaults[key]]
    return f"{pass_.name}{{{' '.join(texts)}}}" if texts else pass_.name


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _option_text(key: str, value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return "=".join(filter(None, (key.replace("_", "-"), ",".join(map(_value_text, values)))))


def _value_text(value: Any) -> str:
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    found = _TOKEN.fullmatch(value)
    if found is not None and found.lastgroup == "word" and _typed(_token(found)) == value == found["word"]:
        return value
    return f"'{value}'" if '"' in value else f'"{value}"'


@dataclasses.dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int

    @property
    def value(self) -> str:
        return self.text[1:-1] if self.kind == "string" else self.text


class _PipelineParser:
    """Recursive descent over the tokens; every failure names its place."""

    def __init__(self, text: str):
        self.text = text
        self.tokens = [_token(match) for match in _TOKEN.finditer(text)]
        self.tokens.append(_Token("end", "", len(text)))
        self.index = 0

    @property
    def current(self) -> _Token:
        return self.tokens[self.index]

    def advance(self) -> _Token:
        token = self.current
        self.index += 1
        return token

    def accept(self, punct: str) -> bool:
        if self.current.kind != "punct" or self.current.text != punct:
            return False
        self.index += 1
        return True

    def expect(self, punct: str) -> None:
        if not self.accept(punct):
            self.fail(f"expected '{punct}' here", self.current)

    def fail(self, message: str, token: _Token, notes: Sequence[str] = ()) -> NoReturn:
        col = token.start + 1
        where = Location("<pass-pipeline>", 1, col, col + max(1, len(token.text)))
        raise ConfigError(message, where, notes, source=self.text.replace("\n", " "), id="unknown-pass")

    def pipeline(self) -> Iterator[ModulePass]:
        """The whole text; nothing may follow it."""
        if self.current.kind != "end":
            yield from self.elements()
        if self.current.kind != "end":
            self.fail("expected ',' or the end of the pipeline here", self.current)

    def elements(self) -> Iterator[ModulePass]:
        yield from self.element()
        while self.accept(","):
            yield from self.element()

    def element(self) -> Iterator[ModulePass]:
        name = self.advance()
        if name.kind != "word":
            self.fail("expected the name of a pass here", name)
        if self.accept("("):
            yield from self.anchored(name)
            return
        options = self.options()
        if name.text in ALL_PASSES or name.text not in NAMED_PIPELINES:
            yield self.make_pass(name, options)
            return
        for key, _ in options.values():
            self.fail(f"pipeline '{name.text}' has no options; only its passes have", key)
        yield from NAMED_PIPELINES[name.text]

    def anchored(self, anchor: _Token) -> Iterator[ModulePass]:
        if anchor.text not in ANCHORS:
            self.fail(f"passes cannot be anchored on '{anchor.text}'; anchors are {', '.join(ANCHORS)}", anchor)
        if self.accept(")"):
            return
        yield from self.elements()
        self.expect(")")

    def options(self) -> dict[str, tuple[_Token, list[_Token]]]:
        """``{key=value,value key}`` as key → (the key's token, the values' tokens)."""
        options: dict[str, tuple[_Token, list[_Token]]] = {}
        if not self.accept("{"):
            return options
        while not self.accept("}"):
            key = self.advance()
            if key.kind != "word":
                self.fail("expected the name of an option or '}' here", key)
            options[key.text] = (key, self.values() if self.accept("=") else [])
        return options

    def values(self) -> list[_Token]:
        values = [self.value()]
        while self.accept(","):
            values.append(self.value())
        return values

    def value(self) -> _Token:
        token = self.advance()
        if token.kind not in ("word", "string"):
            self.fail('expected a value here; quote values that are not plain words: key="…"', token)
        return token

    def make_pass(self, name: _Token, options: dict[str, tuple[_Token, list[_Token]]]) -> ModulePass:
        """An instance of the pass with its options set."""
        if name.text not in ALL_PASSES:
            known = [*ALL_PASSES, *NAMED_PIPELINES]
            self.fail(f"unknown pass or pipeline '{name.text}'{did_you_mean(name.text, known)}", name)
        try:
            pass_type: type[ModulePass] = ALL_PASSES[name.text]
        except ConfigError as error:
            self.fail(error.message, name, error.notes)
        fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(pass_type) if field.init}
        hints = get_type_hints(pass_type)
        arguments: dict[str, Any] = {}
        for key, (token, values) in options.items():
            field = fields.get(key.replace("_", "-"))
            if field is None:
                self.fail(_unknown_option(name.text, key, list(fields)), token)
            value = arguments[field.name] = self.convert(name.text, token, values, hints[field.name])
            self.check_names(f"option '{key}' of pass '{name.text}'", token, value, field.metadata.get("one of"))
        missing = [key for key, field in fields.items() if field.name not in arguments and _is_required(field)]
        if missing:
            self.fail(f"pass '{name.text}' needs the option '{missing[0]}'", name)
        try:
            return pass_type(**arguments)
        except (ValueError, ConfigError) as error:
            self.fail(f"pass '{name.text}': {getattr(error, 'message', error)}", name)

    def check_names(self, what: str, key: _Token, value: Any, names: Sequence[str] | None) -> None:
        """Refuses an option's value, or one of its values, that is none of its names, where it has some."""
        values = value if isinstance(value, tuple) else (value,)
        wrong = [each for each in values if each is not None and each not in names] if names is not None else []
        if wrong and names is not None:
            self.fail(
                f"{what} takes one of {', '.join(names)}, not {wrong[0]}{did_you_mean(str(wrong[0]), names)}", key
            )

    def convert(self, pass_name: str, key: _Token, values: list[_Token], hint: Any) -> Any:
        """The option's values as its field's type wants them."""
        for candidate in _candidates(values):
            if _fits(candidate, hint):
                return candidate
        given = ",".join(value.text for value in values)
        takes = f"takes {_describe_type(hint)}"
        self.fail(f"option '{key.text}' of pass '{pass_name}' {takes}{f', not {given}' if given else ''}", key)


def _token(match: re.Match[str]) -> _Token:
    kind = match.lastgroup or "bad"
    return _Token(kind, match.group(kind), match.start(kind))


def _candidates(values: list[_Token]) -> Iterator[Any]:
    """What the values may mean: a bare key is ``true``; words are numbers and booleans before they are strings."""
    if not values:
        yield True
        yield ()
        return
    typed = tuple(_typed(value) for value in values)
    words = tuple(value.value for value in values)
    for items in (typed, words):
        if len(items) == 1:
            yield items[0]
        yield items
    if len(typed) == 1 and isinstance(typed[0], int):
        yield float(typed[0])


def _typed(token: _Token) -> Any:
    if token.kind == "string":
        return token.value
    if token.text in ("true", "false"):
        return token.text == "true"
    for number in (int, float):
        try:
            return number(token.text)
        except ValueError:
            continue
    return token.text


def _fits(candidate: Any, hint: Any) -> bool:
    """``isa``, except that ``true`` is no number although Python's booleans are."""
    if isinstance(candidate, bool) and bool not in (hint, *get_args(hint)):
        return False
    return isa(candidate, hint)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _unknown_option(pass_name: str, key: str, known: list[str]) -> str:
    if not known:
        return f"pass '{pass_name}' has no options, but '{key}' was given"
    hint = did_you_mean(key, known) or f"; it has {', '.join(known)}"
    return f"pass '{pass_name}' has no option '{key}'{hint}"


def _describe_type(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(str, get_args(hint)))
    return type_repr(hint)
