"""What other packages add to kopt by entry points: dialects, passes and chips.

    [project.entry-points."kopt.passes"]
    my-pass = "my_package.passes:MyPass"

kopt's own names come first, so that nothing is looked for, let alone imported, until a name is not kopt's. What is
wrong with a package is an error where one of its names is used, and listed by ``kopt --show-plugins``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kopt.errors import ConfigError
from kopt.registry import load

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Plugins:
    """The entry points of one group.

    Args: ``noun`` what each of them is; ``own`` the names that are kopt's; ``problem`` says what is wrong with what
    an entry point of a name gave, or None.
    """

    def __init__(self, group: str, noun: str, own: Collection[str], problem: Callable[[str, Any], str | None]):
        self.group = group
        self.noun = noun
        self._own = own
        self._problem = problem
        self._path: list[str] | None = None
        self._entries: dict[str, list[EntryPoint]] = {}
        self._loaded: dict[str, Any] = {}

    def entries(self) -> Mapping[str, list[EntryPoint]]:
        """The entry points by name: looked for when first asked for, and where ``sys.path`` has changed."""
        if self._path != sys.path:
            from importlib.metadata import entry_points

            self._path, self._entries, self._loaded = list(sys.path), {}, {}
            for entry in entry_points(group=self.group):
                same = self._entries.setdefault(entry.name, [])
                if all((entry.value, package_of(entry)) != (other.value, package_of(other)) for other in same):
                    same.append(entry)
        return self._entries

    def names(self) -> list[str]:
        """Those that are not kopt's own."""
        return [name for name in self.entries() if name not in self._own]

    def load(self, name: str) -> Any:
        """The object that the package brings. Raises `ConfigError` for clashes, and for what does not load."""
        entries = self.entries()[name]
        if name not in self._loaded:
            for entry in entries:
                self._refuse_clashes(entry)
            self._loaded[name] = self._load(entries[0])
        return self._loaded[name]

    def _load(self, entry: EntryPoint) -> Any:
        try:
            found = entry.load()
            problem = self._problem(entry.name, found)
        except (Exception, SystemExit) as error:
            problem = f"{type(error).__name__}: {error}"
        if problem is None:
            return found
        message = f"the {self.noun} '{entry.name}' of package '{package_of(entry)}' does not load: {problem}"
        raise ConfigError(message, notes=[f"its entry point of '{self.group}' is {entry.name} = {entry.value}"])

    def _refuse_clashes(self, entry: EntryPoint) -> None:
        """Refuses a name that several packages bring, and packages that bring a name of kopt's own."""
        package = package_of(entry)
        others = [package_of(other) for other in self.entries()[entry.name] if other is not entry]
        if others:
            raise ConfigError(
                f"the {self.noun} '{entry.name}' is brought by package '{package}' and by '{others[0]}'",
                notes=["uninstall one of them, or rename it in one"],
            )
        for name, entries in self.entries().items():
            if name in self._own and package in map(package_of, entries):
                raise ConfigError(
                    f"package '{package}' brings a {self.noun} '{name}', which is a name of kopt's own",
                    notes=[f"rename it: nothing of the package's is used, here its {self.noun} '{entry.name}'"],
                )

    def states(self) -> Iterator[tuple[str, str, ConfigError | None]]:
        """Name, package, and what is wrong, of each entry point; all are loaded."""
        for name, entries in sorted(self.entries().items()):
            for entry in entries:
                try:
                    self._refuse_clashes(entry)
                    self._load(entry)
                    yield name, package_of(entry), None
                except ConfigError as error:
                    yield name, package_of(entry), error


def package_of(entry: EntryPoint) -> str:
    """The distribution that an entry point is of."""
    return entry.dist.name if entry.dist is not None else "?"


class PluginTable(Mapping[str, Any]):
    """kopt's own table of paths (``"module:attribute"``) and what packages add, as the objects that they name."""

    def __init__(self, group: str, noun: str, own: Mapping[str, str], problem: Callable[[str, Any], str | None]):
        self._own = own
        self.plugins = Plugins(group, noun, own.keys(), problem)

    def __getitem__(self, name: str) -> Any:
        return load(self._own[name]) if name in self._own else self.plugins.load(name)

    def module(self, name: str) -> str:
        """The module that has what a name names."""
        path = self._own[name] if name in self._own else self.plugins.entries()[name][0].value
        return path.partition(":")[0]

    def package(self, name: str) -> str | None:
        """The package that brings a name, None for those that are kopt's own or nobody's."""
        found = [] if name in self._own else self.plugins.entries().get(name, [])
        return package_of(found[0]) if found else None

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self.plugins.entries()

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self.plugins.names()

    def __len__(self) -> int:
        return len(self._own) + len(self.plugins.names())
