"""The files of the cache on disk: one text a key, found again in other processes.

A folder is its user's alone: what others own or may write is not read, for what it holds is run. A file is written
beside its place and then moved there, so that no reader sees a part of it; its first line is the hash of the rest, and
a file that does not keep to it is removed. Files that were not used for the longest time go where all take too much.
What fails, as writing to a full disk does, leaves no entry and says nothing.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: What all files of a folder may take.
MOST_BYTES = 256 * 2**20
#: How much is left of that where files go.
_KEPT = 0.75
_SUFFIX = ".json"
#: Files under way are older than this where whoever wrote them is gone.
_ABANDONED_SECONDS = 3600.0


def cache_folder() -> Path | None:
    """Where this process keeps what it compiled: ``KOPT_CACHE_DIR``, or the user's cache; None where that is empty."""
    named = os.environ.get("KOPT_CACHE_DIR")
    if named is not None:
        return Path(named) if named else None
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "kopt"


@dataclass(frozen=True)
class Entry:
    """One file: where it is, its bytes, and when it was used last."""

    path: Path
    size: int
    used: float


@dataclass(frozen=True)
class Folder:
    """The files of one kind, below a cache's root. ``most`` bounds their bytes."""

    root: Path
    kind: str
    most: int = MOST_BYTES

    @property
    def path(self) -> Path:
        """Where the files are."""
        return self.root / self.kind

    def find(self, key: str) -> str | None:
        """The text of a key; None where there is none, or it is not what was written."""
        path = self.path / f"{key}{_SUFFIX}"
        try:
            with path.open("rb") as file:
                if not (_is_private(os.fstat(file.fileno())) and _is_private(self.path.stat())):
                    return None
                digest, _, body = file.read().partition(b"\n")
        except OSError:
            return None
        with suppress(OSError):
            if hashlib.sha256(body).hexdigest().encode() == digest:
                os.utime(path)
                return body.decode()
            path.unlink()
        return None

    def keep(self, key: str, text: str) -> None:
        """Writes the text of a key, in place of one that is there."""
        body = text.encode()
        with suppress(OSError):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(self.path.stat()):
                return
            self._write(key, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            self._bound()

    def remove(self, key: str) -> None:
        """Forgets a key."""
        with suppress(OSError):
            (self.path / f"{key}{_SUFFIX}").unlink()

    def entries(self) -> Iterator[Entry]:
        """All files."""
        with suppress(OSError), os.scandir(self.path) as found:
            for item in found:
                with suppress(OSError):
                    if item.name.endswith(_SUFFIX):
                        status = item.stat()
                        yield Entry(Path(item.path), status.st_size, status.st_mtime)

    def clear(self) -> int:
        """Removes all files; gives how many."""
        count = 0
        for entry in list(self.entries()):
            with suppress(OSError):
                entry.path.unlink()
                count += 1
        return count

    def _write(self, key: str, content: bytes) -> None:
        handle, name = tempfile.mkstemp(dir=self.path, prefix=f"{key[:8]}.")  # for its user alone
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(name, self.path / f"{key}{_SUFFIX}")
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise

    def _bound(self) -> None:
        """Removes what was not used for the longest time, and what was never finished."""
        found = sorted(self.entries(), key=lambda entry: entry.used)
        total = sum(entry.size for entry in found)
        if total > self.most:
            for entry in found:
                if total <= self.most * _KEPT:
                    break
                with suppress(OSError):
                    entry.path.unlink()
                total -= entry.size
            self._sweep(found[-1].used)

    def _sweep(self, now: float) -> None:
        with os.scandir(self.path) as found:
            for item in found:
                if not item.name.endswith(_SUFFIX) and item.stat().st_mtime < now - _ABANDONED_SECONDS:
                    os.unlink(item.path)


def _is_private(status: os.stat_result) -> bool:
    """Whether only this process's user may have written a file or folder."""
    return not hasattr(os, "getuid") or status.st_uid == os.getuid() and not status.st_mode & 0o022
