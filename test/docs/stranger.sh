#!/bin/sh
# The path of somebody who sees kopt for the first time: clone, demo, README, a notebook, a kernel of their own, an error,
# and a pass of their own with a lit test. Each step says what it does, and the first that fails ends the walk.
#
#   make stranger                                 a fresh clone with an environment of its own (minutes)
#   PY=/path/to/python sh test/docs/stranger.sh   the same with an environment that is there
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0

step() {
    number=$((number + 1))
    echo "[$number] $1"
}

step "clone"
git clone -q "$root" "$work/kopt"
cd "$work/kopt"

if [ -n "${PY:-}" ]; then
    step "the environment that is there: $PY"
    PYTHONPATH=$work/kopt
    export PYTHONPATH
else
    step "make demo"
    make demo > "$work/demo.txt"
    tail -n 30 "$work/demo.txt"
    PY=$work/kopt/.venv/bin/python
fi
kopt="$PY -m kopt.tools.main"

step "README's commands of the tool"
$kopt examples/ir/softmax.mlir --pass-pipeline='builtin.module(canonicalize,insert-masks)' > "$work/masks.mlir"
$kopt run examples/ir/softmax.mlir --target pallas:interpret --check
$kopt import examples/softmax.py:softmax 'f32[4096,2560]' > "$work/softmax.mlir"

mkdir "$work/own"
cd "$work/own"
step "notebook 1, and a kernel of one's own"
cat > walk.py << 'END'
import json
import sys
from pathlib import Path

import torch

import kopt
import kopt.language as hl

cells = json.loads(Path(sys.argv[1]).read_text())["cells"]
scope = {"__name__": "__main__"}
import linecache
for number, cell in enumerate(cells):
    if cell["cell_type"] == "code":
        text, name = "".join(cell["source"]), f"<cell {number}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), scope)


@kopt.kernel
def shifted_relu(x, by: float):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = torch.relu(x[i] - by)
    return out


x = torch.randn(1000)
torch.testing.assert_close(shifted_relu.on("pallas:interpret")(x, 0.5), torch.relu(x - 0.5))
print("own kernel: right")
END
$PY walk.py "$work/kopt/docs/tutorials/softmax.ipynb" > walk.txt
tail -n 1 walk.txt

step "an error says where and what to do"
cat > wrong.py << 'END'
import torch

import kopt
import kopt.language as hl


@kopt.kernel
def wrong(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = torch.linalg.svd(x[i])
    return out
END
if $kopt import wrong.py:wrong 'f32[1000]' 2> error.txt; then
    echo "a kernel that kopt cannot compile was taken" >&2
    exit 1
fi
cat error.txt
grep -q 'wrong.py:11:.* error:' error.txt
! grep -q Traceback error.txt

if [ -d "$work/kopt/kopt/explain" ]; then
    step "kopt explain"
    $kopt explain "$work/kopt/examples/ir/softmax.mlir" --target pallas:tpu7x -o explain.html
    test -s explain.html
fi

step "a pass of one's own, with a lit test, in another folder"
cp -r "$work/kopt/examples/plugin" plugin
mkdir installed
$PY -m pip install -q --disable-pip-version-check --no-deps --no-index --no-build-isolation --target installed ./plugin
mkdir lit
cat > lit/lit.cfg.py << 'END'
from kopt.testing.lit import configure

configure(config, __file__)
END
cat > lit/relu6.mlir << 'END'
// RUN: kopt %s -p lower-activation | filecheck %s

// CHECK-NOT: activation
// CHECK: tile.maximum
// CHECK: tile.minimum
END
cat plugin/relu6.mlir >> lit/relu6.mlir
PYTHONPATH="$work/own/installed:$work/kopt" $PY -c 'from lit.main import main; main()' -q lit
echo "the walk is done: $number steps"
