"""Machine code, and where its lines come from: that of real compilers, with no chip there."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import pytest

import kopt.explain.compiled as explain_compiled
from kopt.lowered import Lowered
from kopt.runtime.emitted import file_name

_SASS = """\
\t.target\tsm_90a
//--------------------- .text.kernel --------------------------
\t.section\t.text.kernel,"ax",@progbits
kernel:
\t//## File "{file}", line 3
        /*0000*/  LDC R1, c[0x0][0x28] ;
\t//## File "standard.py", line 287 inlined at "standard.py", line 314
\t//## File "standard.py", line 314 inlined at "{file}", line 5
\t//## File "{file}", line 5
        /*0010*/  FADD R2, R2, R1 ;
        /*0020*/  EXIT ;
"""


def test_lines_of_inlined_calls_are_those_of_the_kernel(monkeypatch: pytest.MonkeyPatch, lowered):
    low = lowered("triton")
    text = _SASS.format(file=file_name(low.source, low.function))
    monkeypatch.setattr(explain_compiled, "machine_code", lambda *args: {"kernel": text})
    found = low.machine_code
    assert found["kind"] == "SASS" and len(found["lines"]) == len(found["emitted"])
    assert [line.split()[-2] for line in found["lines"][2:]] == ["c[0x0][0x28]", "R1", "EXIT"]
    assert found["lines"][:2] == ["// kernel", "kernel:"] and found["emitted"] == [None, None, 3, 5, 5]


def test_long_listings_are_cut(monkeypatch: pytest.MonkeyPatch, lowered):
    monkeypatch.setattr(explain_compiled, "machine_code", lambda *args: {"kernel": "x" * 999 + "\nNOP" * 9000})
    found = lowered("matmul").machine_code
    assert found["kind"] == "bundles of libtpu" and len(found["lines"]) == len(found["emitted"]) == 8001
    assert found["lines"][-1] == "… 1,002 more lines" and len(found["lines"][1]) == 300


@pytest.mark.slow
@pytest.mark.parametrize("name, package, word", [("softmax", "libtpu", "vmax.f32"), ("triton", "triton", "HGMMA")])
def test_what_compilers_make(name: str, package: str, word: str, lowered: Callable[[str], Lowered]):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    found = lowered(name).machine_code
    lines = [(text, line) for text, line in zip(found["lines"], found["emitted"], strict=True) if word in text]
    assert lines
    if package == "libtpu":
        assert any(text.rstrip().endswith("{}") for text in found["lines"])  # cycles in which the program waits
    if name == "triton":
        emitted = lowered(name).source.splitlines()
        places = [emitted[line - 1] for _, line in lines if line is not None]
        assert len(places) == len(lines)
        assert any("tl.dot(" in place for place in places)  # the pipeliner puts some where blocks come
