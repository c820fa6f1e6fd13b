"""What is distributed: the licence, the types' marker, and metadata that agree."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_licence_is_the_one_that_the_metadata_name():
    text, project = (ROOT / "LICENSE").read_text(), PYPROJECT["project"]
    assert project["license"] == "Apache-2.0 WITH LLVM-exception" and project["license-files"] == ["LICENSE"]
    for part in (
        "Version 2.0, January 2004",
        "END OF TERMS AND CONDITIONS",
        "LLVM Exceptions to the Apache 2.0 License",
    ):
        assert part in text
    assert [f"   {number}. " in text for number in range(1, 10)] == [True] * 9


def test_everything_in_the_package_is_distributed():
    data = PYPROJECT["tool"]["setuptools"]["package-data"]["kopt"]
    others = [path for path in (ROOT / "kopt").rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]
    found = sorted(str(path.relative_to(ROOT / "kopt")) for path in others)
    assert found == sorted({str(path.relative_to(ROOT / "kopt")) for one in data for path in (ROOT / "kopt").glob(one)})
    assert "py.typed" in found and {path.split("/")[0] for path in found} == {"explain", "py.typed", "targets"}


def test_the_versions_agree():
    import kopt

    assert kopt.__version__ == PYPROJECT["project"]["version"]


def test_the_light_core_is_all_that_is_required():
    names = [need.split(">")[0] for need in PYPROJECT["project"]["dependencies"]]
    assert sorted(names) == ["numpy", "xdsl"]
