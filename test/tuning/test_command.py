"""``kopt tune`` on the command line, and compilations that Dask's workers do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kopt.tools.main import main
from test.tuning.test_files import KERNEL

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a kernel."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KOPT_CONFIGS")
    (tmp_path / "kernels_of_commands.py").write_text(KERNEL)
    return tmp_path


SUBJECT = ["tune", "kernels_of_commands.py:doubled", "f32[512,1024]"]


def test_it_prints_a_table_and_keeps_the_best(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the kernel's file, from where a report takes it; what the candidates are, as JSON."""
    assert main([*SUBJECT, "--target=pallas:v6e", "--effort=none", "--save", "--candidates=all.json"]) == 0
    out = capsys.readouterr().out
    assert "doubled(x: f32[512,1024]) for pallas:v6e\n" in out and "kept in" in out
    kept = json.loads((folder / "doubled.kopt.json").read_text())
    (only,) = json.loads((folder / "all.json").read_text())["candidates"]
    assert kept["entries"][0]["config"] == only["config"] and only["origin"] == "default"


def test_several_shapes_are_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Each has an entry of its own in the file that is named."""
    options = ["--target=pallas:v6e", "--effort=none", "--json=kept.json", "--shapes", "f32[64,128]", "f32[96,256]"]
    assert main([*SUBJECT, *options]) == 0
    assert "for all shapes: block_sizes=" in capsys.readouterr().out
    assert [entry["specs"] for entry in json.loads(Path("kept.json").read_text())["entries"]] == [
        ["x: f32[512,1024]"],
        ["x: f32[64,128]"],
        ["x: f32[96,256]"],
    ]


def test_nothing_legal_is_status_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The table says why each failed."""
    monkeypatch.setenv("KOPT_TEST_COMPILER", "refuses")
    assert main([*SUBJECT, "--target=triton:sm90"]) == 1
    assert "no legal configuration" in capsys.readouterr().out


HELION = {"block_sizes": [128], "num_warps": 8, "pid_type": "persistent_blocked"}


@pytest.mark.parametrize("content", [HELION, {"config": json.dumps(HELION), "key": {}}], ids=["config", "best_config"])
def test_helions_files_are_starts(content: object, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A configuration that was saved, and one that Helion's autotuner kept; a mistake in one is at its line."""
    (folder / "helion.json").write_text(json.dumps(content))
    options = ["--target=triton:sm90", "--effort=none"]
    assert main([*SUBJECT, *options, "--start=helion.json"]) == 0
    assert "block_sizes=[128] num_warps=8" in capsys.readouterr().out
    (folder / "wrong.json").write_text('{\n"block_sizes": ["a"]}')
    assert main([*SUBJECT, *options, "--start=wrong.json"]) == 1
    assert "wrong.json:2:1: error: config key 'block_sizes'" in capsys.readouterr().err


def test_ir_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its blocks have their sizes."""
    (folder / "f.mlir").write_text("func.func @f(%x: memref<8xf32>) { func.return }\n")
    assert main(["tune", "f.mlir", "--target=pallas:v6e"]) == 1
    assert "tune the Python kernel" in capsys.readouterr().err


@pytest.mark.slow
def test_dask_compiles() -> None:
    """An executor of Dask's does what threads do: a scheduler in a process of its own, where no test's filters are."""
    import subprocess

    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "[True, False]" in done.stdout, done.stderr[-2000:]


_PROGRAM = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parents[2]), str(Path(__file__).parent)]!r}
import compilers
from distributed import LocalCluster
from kopt.tuning import compiled

def run(job):
    return compilers.compile_module(job.source)

if __name__ == "__main__":
    compiled.run = run
    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        with compiled.executor(cluster.scheduler_address) as pool:
            kind = compiled.Compiler("a compiler", "compilers")
            jobs = [compiled.CompileJob(source, "f", (), "v6e", kind) for source in ("right", "refuses")]
            print([facts["legal"] for facts in compiled.compile_all(jobs, pool)])
"""
