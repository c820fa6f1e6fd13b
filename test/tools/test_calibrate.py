"""``kopt calibrate``: constants from times that were measured, here by a model with other constants."""

import json
from dataclasses import replace

import pytest

from kopt.planned import planned_launches
from kopt.planning.cost import cost
from kopt.targets.chips import TPU_CHIPS
from kopt.targets.costs import tpu_costs
from kopt.tools.main import main

V5E = TPU_CHIPS["v5e"]
KERNEL = """import torch
import kopt
import kopt.language as hl


@kopt.kernel
def product(x, y):
    m, k = x.size()
    out = torch.empty([m, y.size(1)], dtype=x.dtype)
    for i, j in hl.tile([m, y.size(1)]):
        acc = hl.zeros([i, j], dtype=torch.float32)
        for c in hl.tile(k):
            acc = torch.addmm(acc, x[i, c], y[c, j])
        out[i, j] = acc.to(x.dtype)
    return out
"""
SHAPES = [(512, 512, 512), (1024, 4096, 1024), (4096, 256, 4096), (2048, 2048, 2048)]


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "products.py"
    path.write_text(KERNEL)
    return path


def seconds(kernel, m, k, n, chip) -> float:
    from kopt.tools.subject import load_python_kernel

    low = load_python_kernel(str(kernel), "product").lower(
        [f"bf16[{m},{k}]", f"bf16[{k},{n}]"], "pallas:v5e", {"block_sizes": [256, 256, 256]}
    )
    return sum(float(cost(model, {}, plan, chip).seconds) for model, plan in planned_launches(low))


def test_constants_are_found_again(kernel, tmp_path, capsys):
    other = replace(V5E, costs=replace(tpu_costs(V5E), mxu_share=0.6, hbm_share=0.5))
    lines = ["kernel,specs,config,ms"]
    for m, k, n in SHAPES:
        specs = f'"bf16[{m},{k}] bf16[{k},{n}]"'
        lines.append(f'{kernel}:product,{specs},"block_sizes=[256,256,256]",{1e3 * seconds(kernel, m, k, n, other)}')
    measured, written = tmp_path / "measured.csv", tmp_path / "ours.json"
    measured.write_text("\n".join(lines) + "\n")
    assert main(["calibrate", str(measured), "--target", "pallas:v5e", "--write", str(written)]) == 0
    assert "after" in capsys.readouterr().out
    found = json.loads(written.read_text())["v5e"]
    assert found["costs"]["mxu_share"] == pytest.approx(0.6, rel=0.1)
    fitted = replace(V5E, costs=replace(tpu_costs(V5E), **found["costs"]))
    for shape in SHAPES:
        assert seconds(kernel, *shape, fitted) == pytest.approx(seconds(kernel, *shape, other), rel=0.05)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kernel,ms\n", "there is no column 'specs'"),
        ("kernel,specs,ms\nk.py:f,f32[8],soon\n", "'ms' is a number, found 'soon'"),
        ("kernel,specs,ms,target\nk.py:f,f32[8],1,pallas:v9\n", "unknown target 'pallas:v9'"),
        ("kernel,specs,ms\nk.py:f,f32[8],1\n", "nothing says what chip"),
        ("kernel,specs,ms,target\nk.py:f,f32[8],1,reference\n", "'reference' is no chip"),
    ],
)
def test_mistakes_are_shown_at_their_lines(text, said, tmp_path, capsys):
    path = tmp_path / "measured.csv"
    path.write_text(text)
    assert main(["calibrate", str(path)]) == 1
    shown = capsys.readouterr().err
    assert said in shown and f"{path}:" in shown
