"""JSON whose objects know where they begin, so that what is wrong in a file is said at its line."""

from __future__ import annotations

import json
from json.decoder import JSONObject  # pyright: ignore[reportAttributeAccessIssue]
from json.scanner import py_make_scanner  # pyright: ignore[reportAttributeAccessIssue]
from pathlib import Path
from typing import Any, NoReturn

from kopt.errors import ConfigError, Location

#: More than this is no file of configurations.
_MOST_BYTES = 4 * 2**20


class PlacedObject(dict[str, Any]):
    """A JSON object, and the offset at which it begins."""

    begin = 0


class _Decoder(json.JSONDecoder):
    def __init__(self) -> None:
        super().__init__(parse_constant=self._refuse)
        self.parse_object = self._object
        self.scan_once = py_make_scanner(self)

    def _object(self, place: Any, *rest: Any) -> tuple[PlacedObject, int]:
        pairs, end = JSONObject(place, *rest)
        found = PlacedObject(pairs)
        found.begin = place[1] - 1
        return found, end

    @staticmethod
    def _refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is no number of JSON")


class PlacedJson:
    """The object that a file holds. Raises `ConfigError` at the file's own line."""

    def __init__(self, path: Path):
        self.path = path
        try:
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                self.fail(f"more than {_MOST_BYTES} bytes: this is no file of configurations")
            self.text = data.decode()
        except OSError as error:
            raise ConfigError(f"cannot read '{path}': {error.strerror or error}", id="file") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"not UTF-8 text: {error.reason}", Location(str(path), 1), id="file") from error
        try:
            self.content = _Decoder().decode(self.text)
        except json.JSONDecodeError as error:
            raise ConfigError(
                f"no JSON: {error.msg}", Location(str(path), error.lineno, error.colno), id="file"
            ) from None
        except (ValueError, RecursionError) as error:
            message = "values are nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise ConfigError(f"no JSON that is read here: {message}", Location(str(path), 1), id="file") from None
        if not isinstance(self.content, PlacedObject):
            self.fail("expected an object")

    def fail(self, message: str, at: Any = None, key: str = "") -> NoReturn:
        """Raises the error at an object of the file, or at one of its keys."""
        raise ConfigError(message, self.place(at, key))

    def place(self, at: Any = None, key: str = "") -> Location:
        """Where an object of the file begins, or one of its keys."""
        text = getattr(self, "text", "")
        begin = getattr(at, "begin", 0)
        if key and (found := text.find(json.dumps(key), begin)) >= 0:
            begin = found
        line = text.count("\n", 0, begin) + 1
        return Location(str(self.path), line, begin - text.rfind("\n", 0, begin))
