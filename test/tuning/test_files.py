"""Files of configurations: written whole or not at all, read with the place of what is wrong, found by calls."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from kopt.errors import ConfigError
from kopt.tuning import files
from kopt.tuning.files import KeptEntry, read, save
from kopt.tuning.results import Candidate, Tuned
from kopt.tuning.stored import distance, source_hash

ROWS, TARGET = "f32[512,1024]", "pallas:v6e"
KERNEL = """\
import torch
import kopt
import kopt.language as hl

@kopt.kernel
def doubled(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.shape[0]):
        out[rows, :] = x[rows, :] * 2
    return out
"""


def result(specs: str = ROWS, sizes: int = 64, source: str = "s", file: str | None = None) -> Tuned:
    """A result whose best has some block size."""
    best = Candidate({"block_sizes": [sizes]}, 0.123456, legal=True)
    return Tuned("doubled", TARGET, "v6e", (f"x: {specs}",), [best], {}, "quick", 0, source, file)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A file with a kernel, imported."""
    monkeypatch.delenv("KOPT_CONFIGS")
    path = tmp_path / "kernels_of_files.py"
    path.write_text(KERNEL)
    spec = importlib.util.spec_from_file_location("kernels_of_files", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def sizes(kernel: Any, specs: str = ROWS, target: str = TARGET, **options: Any) -> Any:
    """The block sizes that a call gets."""
    return kernel.lower(specs, target=target, **options).config.block_sizes


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Entries of the same chip and arguments are replaced, others stay."""
    path = tmp_path / "doubled.kopt.json"
    save([result(sizes=32), result("f32[8,8]", 8)], path)
    save([result(sizes=64)], path)
    found = read(path)
    assert found.kernel == "doubled" and [entry.config["block_sizes"] for entry in found.entries] == [[64], [8]]
    entry = found.entries[0]
    assert (entry.chip, entry.specs, entry.predicted_ms, entry.measured_ms) == ("v6e", (f"x: {ROWS}",), 0.1235, None)
    assert entry.versions["kopt"] and entry.location.line == 2
    assert len(path.read_text().splitlines()) == 4 and not list(tmp_path.glob(".*"))


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error, no half of a file, and nothing left beside it."""
    path = tmp_path / "doubled.kopt.json"
    save([result(sizes=32)], path)
    before = path.read_text()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match=r"cannot write '.*doubled.kopt.json': No space left on device"):
        save([result(sizes=64)], path)
    assert path.read_text() == before and [each.name for each in tmp_path.iterdir()] == ["doubled.kopt.json"]


def test_two_tunings_at_once_keep_both(tmp_path: Path) -> None:
    """Each merges into what the other has written, under a lock."""
    path = tmp_path / "doubled.kopt.json"
    every = [f"f32[{n},8]" for n in range(1, 17)]
    threads = [threading.Thread(target=save, args=([result(specs)], path)) for specs in every]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {entry.specs[0] for entry in read(path).entries} == {f"x: {specs}" for specs in every}


def test_a_lock_that_is_never_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is waited for so long and no longer."""
    monkeypatch.setattr(files, "_LOCK_SECONDS", 0.05)
    with files._locked(tmp_path), pytest.raises(ConfigError, match="another process has been writing in"):
        save([result()], tmp_path / "doubled.kopt.json")


def entry(**changes: Any) -> dict[str, Any]:
    """An entry of a file, as JSON."""
    config = {"block_sizes": [64]}
    whole = KeptEntry("v6e", (f"x: {ROWS}",), config, "s", 0.1, None, {}, None).json  # pyright: ignore[reportArgumentType]
    return {**whole, **changes}


def text(**changes: Any) -> str:
    """The text of a file with one entry in its second line."""
    return f'{{"format": 1, "kernel": "doubled", "entries": [\n{json.dumps(entry(**changes))}]}}'


HOSTILE = {
    "{": "1:2: error: no JSON: Expecting property name",
    "[]": "1:1: error: expected an object",
    "[" * 100_000: "error: no JSON that is read here: values are nested too deeply",
    '{"format": 2}': "1:2: error: 'format' is 2, and this kopt reads format 1",
    '{"format": 1}': "1:1: error: 'kernel' is the name of a kernel",
    '{"format": 1,\n"kernel": "doubled"}': "1:1: error: 'entries' is a list",
    '{"format": 1, "kernel": "doubled", "entries": [7]}': "error: an entry is an object, found 7",
    text(chip=3): "2:2: error: 'chip' of an entry is text, found 3",
    text(specs="x"): "error: 'specs' of an entry is a list of arguments",
    text(predicted_ms=-1): "error: 'predicted_ms' of an entry is a time in milliseconds, found -1",
    text(measured_ms="fast"): "error: 'measured_ms' of an entry is a time in milliseconds, found 'fast'",
    text(config=[]): "error: 'config' of an entry is an object",
    text(config={"block_sizes": [-64]}): "error: config key 'block_sizes' is a list of positive numbers",
    text(config={"num_warps": 3}): "error: config key 'num_warps' is a power of two, found 3",
    text(config={"loops": {"j": "resident ; import os"}}): "error: config key 'loops'",
    text(config={"output_only": "donate"}): "error: config key 'output_only' is not for a tuner to decide",
    text(config={"dot_precision": "bf16"}): "error: config key 'dot_precision' is not for a tuner to decide",
    text(config={"steps": {"a": 1}}): "error: the tunable 'steps' is a number or text",
    text(versions={"kopt": 1}): "error: 'versions' of an entry has the versions of packages",
    '{"format": 1, "kernel": "doubled", "entries": [{"predicted_ms": NaN}]}': "NaN is no number of JSON",
    "\ud800": "error: not UTF-8 text",
}


@pytest.mark.parametrize("content", HOSTILE, ids=[f"{number}" for number in range(len(HOSTILE))])
def test_hostile_files_are_errors_at_their_line(content: str, tmp_path: Path) -> None:
    """Never a traceback, and never a configuration that changes what a call means."""
    path = tmp_path / "doubled.kopt.json"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(ConfigError) as caught:
        read(path)
    assert HOSTILE[content] in str(caught.value) and str(path) in str(caught.value)


def test_calls_find_what_was_kept(module: Any, tmp_path: Path) -> None:
    """Beside the kernel's file; a configuration of the user's comes first, and so do files that are named."""
    kernel = module.doubled
    default = sizes(kernel)
    kept = result(sizes=64, source=source_hash(kernel.fn), file=module.__file__)
    path = kept.save()
    assert path == tmp_path / "doubled.kopt.json" and default != (64,) == sizes(kernel)
    remarks = [str(each) for each in kernel.lower(ROWS, target=TARGET).remarks]
    assert f"remark: the configuration is that of {path}:2:3" in remarks
    assert sizes(kernel, config={}) == default and sizes(kernel, target="pallas:v5e") != (64,)
    assert sizes(kernel._configured({"block_sizes": [32]})) == (32,)


def test_other_folders_come_first(module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``KOPT_CONFIGS`` names files and folders; where it is empty, none are looked for."""
    known = source_hash(module.doubled.fn)
    result(sizes=64, source=known, file=module.__file__).save()
    other = tmp_path / "others"
    other.mkdir()
    save([result(sizes=16, source=known)], other / "doubled.kopt.json")
    for named, wanted in (
        (str(other), (16,)),
        (str(other / "doubled.kopt.json"), (16,)),
        (str(tmp_path / "no"), (64,)),
    ):
        monkeypatch.setenv("KOPT_CONFIGS", named)
        assert sizes(module.doubled) == wanted
    monkeypatch.setenv("KOPT_CONFIGS", "")
    assert sizes(module.doubled) not in ((16,), (64,))


def test_the_nearest_shape_is_taken(module: Any) -> None:
    """Of the same ranks and dtypes, no extent more than four times another; a remark says of which."""
    known = source_hash(module.doubled.fn)
    every = [result(specs, size, known) for specs, size in (("f32[512,1024]", 64), ("f32[4096,1024]", 32))]
    save(every, Path(module.__file__).with_name("doubled.kopt.json"))
    assert sizes(module.doubled, "f32[640,1024]") == (64,) and sizes(module.doubled, "f32[3000,1024]") == (32,)
    assert sizes(module.doubled, "f32[100000,1024]") not in ((32,), (64,))
    assert sizes(module.doubled, "bf16[512,1024]") not in ((32,), (64,))
    remarks = [str(each) for each in module.doubled.lower("f32[640,1024]", target=TARGET).remarks]
    assert any("for x: f32[512,1024], the nearest of what was tuned" in each for each in remarks)


@pytest.mark.parametrize(
    "one, other, wanted",
    [
        (["x: f32[8,8]"], ["x: f32[8,8]"], 0.0),
        (["x: f32[8,8]"], ["x: f32[16,4]"], 2.0),
        (["x: f32[8,8]"], ["x: f32[64,8]"], None),
        (["x: f32[8,8]"], ["x: f32[8]"], None),
        (["x: f32[8]", "n: 3"], ["x: f32[8]", "n: 4"], None),
        (["x: f32[8]", "n: open"], ["x: f32[8]", "n: 4"], 0.0),
        (["x: f32[0]"], ["x: f32[8]"], None),
    ],
)
def test_distances(one: list[str], other: list[str], wanted: float | None) -> None:
    """The sum of what extents differ by, in powers of two."""
    assert distance(one, other) == wanted


def test_what_is_no_file_is_not_read(module: Any) -> None:
    """A pipe might never end."""
    os.mkfifo(Path(module.__file__).with_name("doubled.kopt.json"))
    assert sizes(module.doubled)


def test_what_is_stale_is_a_remark(module: Any) -> None:
    """What was tuned for another text of the kernel is not taken."""
    path = result(sizes=64, source="other", file=module.__file__).save()
    low = module.doubled.lower(ROWS, target=TARGET)
    said = f"remark: the configuration of {path}:2:3 is ignored: it was tuned for another text of the kernel"
    assert low.config.block_sizes != (64,) and said in [str(each) for each in low.remarks]


def test_what_is_refused_is_an_error_at_its_line(module: Any) -> None:
    """Of the very same call; of other shapes the defaults are taken, with a remark."""
    bad = result(source=source_hash(module.doubled.fn), file=module.__file__)
    bad.candidates[0].config = {"block_sizes": [64, 64]}
    path = bad.save()
    with pytest.raises(ConfigError, match="block_sizes has 2 entries for 1 open tiles") as caught:
        module.doubled.lower(ROWS, target=TARGET)
    assert str(caught.value.location) == f"{path}:2:3"
    low = module.doubled.lower("f32[600,1024]", target=TARGET)
    assert any("tuned for other shapes, is ignored" in str(each) for each in low.remarks)


def test_a_changed_file_is_another_kernel(module: Any) -> None:
    """In this process too, also where a guard knew the call."""
    kernel = module.doubled.on("pallas:interpret@v6e")
    x = torch.ones(512, 1024)
    known = source_hash(kernel.fn)
    result(sizes=64, source=known, file=module.__file__).save()
    for size in (64, 32):
        result(sizes=size, source=known, file=module.__file__).save()
        for _ in range(3):
            assert torch.equal(kernel(x), 2 * x)
        values = {"x": x}
        assert kernel._compiled_for(values, kernel._target(None)).executable.source.count(f"({size}, 1024)") > 0
