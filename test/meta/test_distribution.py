"""The source distribution builds, the wheel builds from it, and both serve every supported Python that is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SUPPORTED = re.findall(r"Python :: (\d\.\d+)", "\n".join(PROJECT["classifiers"]))
BUILT = ("kopt", "pyproject.toml", "README.md", "LICENSE")
#: What pip says where it reaches no index.
UNREACHED = ("No matching distribution", "Failed to establish a new connection")

pytestmark = pytest.mark.slow


def run(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    words, settings = [*map(str, command)], {**os.environ, "PYTHONPATH": "", **environment}
    return subprocess.run(words, cwd=cwd, env=settings, capture_output=True, text=True, timeout=300)


def installed(version: str) -> str | None:
    """A Python that is on the path. pyenv's runs where a variable names the version."""
    if (found := shutil.which(f"python{version}")) is None:
        return None
    asked = run(found, "-c", "import sys; print(sys.executable)", cwd=ROOT, PYENV_VERSION=version)
    return asked.stdout.strip() or None


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from the source distribution, which is built from the tree."""
    work = tmp_path_factory.mktemp("distribution")
    tree = work / "tree"
    tree.mkdir()
    for name in BUILT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    built = run(sys.executable, "-c", "from setuptools.build_meta import build_sdist as b; b('dist')", cwd=tree)
    assert built.returncode == 0, built.stderr
    (archive,) = (tree / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(work / "unpacked", filter="data")
    (unpacked,) = (work / "unpacked").iterdir()
    built = run(sys.executable, "-c", "from setuptools.build_meta import build_wheel as b; b('dist')", cwd=unpacked)
    assert built.returncode == 0, built.stderr
    (found,) = (unpacked / "dist").glob("*.whl")
    return found


def test_the_wheel_has_the_package_and_nothing_else(wheel: Path):
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if ".dist-info/" not in name}
    wanted = {str(path.relative_to(ROOT)) for path in (ROOT / "kopt").rglob("*") if path.is_file()}
    assert names == {name for name in wanted if "__pycache__" not in name}


def test_make_picks_the_supported_pythons():
    (line,) = re.findall(r"^SUPPORTED := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert line.split() == [f"python{version}" for version in SUPPORTED]


@pytest.mark.parametrize("version", SUPPORTED)
def test_the_wheel_is_installed_and_works(wheel: Path, version: str, tmp_path: Path):
    """With what pip finds for it: for a Python without kopt's packages."""
    python = installed(version)
    if python is None:
        pytest.skip(f"there is no Python {version}")
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-q",
        "--no-compile",
        "--disable-pip-version-check",
    )
    done = run(*pip, "-c", ROOT / "constraints.txt", "--target", tmp_path / "site", wheel, cwd=tmp_path)
    if done.returncode and any(words in done.stderr for words in UNREACHED):
        pytest.skip(f"pip reaches no packages for Python {version}")
    assert done.returncode == 0, done.stderr
    site = {"cwd": tmp_path, "PYTHONPATH": str(tmp_path / "site")}
    softmax = ROOT / "examples/ir/softmax.mlir"
    ran = run(python, "-m", "kopt.tools.main", "run", softmax, "--target", "reference", "--check", **site)
    assert ran.returncode == 0, ran.stderr
    emitted = run(python, "-m", "kopt.tools.main", softmax, "-p", "pallas-tpu7x", "-t", "pallas-py", **site)
    assert "pl.pallas_call" in emitted.stdout, emitted.stderr
