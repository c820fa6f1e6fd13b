"""The files of the cache: whole or not there, private, bounded, and never in the way."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kopt.runtime.cache_folder import Folder, cache_folder


def test_a_text_is_found_again(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "root", "kernels")
    assert folder.find("a") is None and not list(folder.entries())
    folder.keep("a", "one\ntwo ü")
    folder.keep("b", "")
    assert folder.find("a") == "one\ntwo ü" and folder.find("b") == "" and folder.find("c") is None
    folder.keep("a", "other")
    assert folder.find("a") == "other"
    folder.remove("a")
    folder.remove("a")
    assert folder.find("a") is None and len(list(folder.entries())) == 1
    assert folder.clear() == 1 and folder.clear() == 0


def test_files_are_their_users_alone(tmp_path: Path) -> None:
    folder = Folder(tmp_path, "kernels")
    folder.keep("a", "text")
    path = folder.path / "a.json"
    assert path.stat().st_mode & 0o777 == 0o600 and folder.path.stat().st_mode & 0o777 == 0o700
    path.chmod(0o620)
    assert folder.find("a") is None and path.exists()
    path.chmod(0o600)
    folder.path.chmod(0o722)
    assert folder.find("a") is None
    folder.keep("b", "text")
    folder.path.chmod(0o700)
    assert folder.find("a") == "text" and folder.find("b") is None


def test_files_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder(tmp_path, "kernels")
    folder.keep("a", "text")
    monkeypatch.setattr(os, "getuid", lambda: os.stat(tmp_path).st_uid + 1)
    assert folder.find("a") is None


@pytest.mark.parametrize("content", [b"", b"text", b"0\ntext", b"\xff\n\xff"])
def test_what_was_not_written_so_is_removed(content: bytes, tmp_path: Path) -> None:
    folder = Folder(tmp_path, "kernels")
    folder.keep("a", "text")
    path = folder.path / "a.json"
    path.write_bytes(content)
    assert folder.find("a") is None and not path.exists()


@pytest.mark.parametrize("step", ["replace", "fdopen"])
def test_a_full_disk(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves what was there, and nothing under way."""
    folder = Folder(tmp_path, "kernels")
    folder.keep("a", "old")

    def full(*args, **kwargs):
        if step == "fdopen":
            os.close(args[0])
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, full)
        folder.keep("a", "new")
    assert folder.find("a") == "old"
    assert os.listdir(folder.path) == ["a.json"]


def test_a_cache_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = Folder(tmp_path / "file", "kernels")
    folder.keep("a", "text")
    assert folder.find("a") is None and folder.clear() == 0


def test_the_least_recently_used_go(tmp_path: Path) -> None:
    folder = Folder(tmp_path, "kernels", most=1000)
    for number in range(8):
        folder.keep(str(number), "x" * 60)  # 125 bytes with its hash
        os.utime(folder.path / f"{number}.json", (number, number))
    assert folder.find("0") is not None  # used now
    folder.keep("8", "y" * 60)
    left = {entry.path.stem for entry in folder.entries()}
    assert "0" in left and "8" in left and "1" not in left
    assert sum(entry.size for entry in folder.entries()) <= 750


def test_what_was_never_finished_goes(tmp_path: Path) -> None:
    folder = Folder(tmp_path, "kernels", most=100)
    folder.keep("a", "x")
    (folder.path / "a.tmp").write_text("")
    os.utime(folder.path / "a.tmp", (1, 1))
    (folder.path / "b.tmp").write_text("")
    folder.keep("b", "x" * 60)
    assert {"b.tmp"} <= {*os.listdir(folder.path)} and "a.tmp" not in os.listdir(folder.path)


def test_many_threads(tmp_path: Path) -> None:
    """Each finds a whole text, whoever wrote it."""
    folder = Folder(tmp_path, "kernels")
    texts = {str(number) * 10_000 for number in range(8)}

    def write_and_read(text: str) -> bool:
        found = []
        for _ in range(20):
            folder.keep("a", text)
            found.append(folder.find("a"))
        return all(one in texts for one in found)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write_and_read, sorted(texts)))
    assert len(os.listdir(folder.path)) == 1


def test_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOPT_CACHE_DIR", "/some/where")
    assert cache_folder() == Path("/some/where")
    monkeypatch.setenv("KOPT_CACHE_DIR", "")
    assert cache_folder() is None
    monkeypatch.delenv("KOPT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/cache")
    assert cache_folder() == Path("/home/cache/kopt")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "kopt"
