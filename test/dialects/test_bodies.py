"""The regions of loops and conditions without an op: their text is read again, and has no label."""

from __future__ import annotations

import pytest

import kopt

TEXT = """
func.func @f(%m: memref<8xf32>) {{
  tile.grid (%i: b0=4) in (8) {{
    {body}
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        "",
        "tile.for %k: b1=4 in (0, 8) {\n    }",
        "tile.when first(%i) {\n    }",
        "tile.for %k: b1=4 in (0, 8) {\n      tile.when first(%k) {\n      }\n    }",
    ],
)
def test_empty_bodies(body: str) -> None:
    text = str(kopt.parse(TEXT.format(body=body)))
    assert "^" not in text
    assert str(kopt.parse(text)) == text
