"""What bound kernels are used for: code of one configuration, functions of several, a configuration that is set."""

import helion
import helion.language as hl
import torch
from helion._testing import DEVICE, code_and_output

CONFIG = helion.Config(block_sizes=[4], num_warps=4, reduction_loops=[64], pid_type="persistent_blocked")


@helion.kernel(config=CONFIG, static_shapes=True)
def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        values = x[rows, :].to(torch.float32)
        scale = torch.rsqrt(torch.mean(values * values, dim=-1) + eps)
        out[rows, :] = (values * scale[:, None] * weight[:].to(torch.float32)).to(out.dtype)
    return out


x = torch.randn(24, 160, device=DEVICE, dtype=torch.bfloat16)
weight = torch.randn(160).to(DEVICE, torch.bfloat16)
expected = torch.nn.functional.rms_norm(x.float(), [160], weight.float(), 1e-5).to(torch.bfloat16)

bound = rms_norm.bind((x, weight))
assert "def rms_norm(" in bound.to_triton_code(CONFIG)
assert bound.kernel is rms_norm and bound.settings.static_shapes and bound.configs == [CONFIG]
results = [rms_norm(x, weight), rms_norm(x, weight=weight, eps=1e-5), bound(x, weight)]
for rows in (1, 8):
    compiled = bound.compile_config(helion.Config(block_sizes=[rows]))
    results.append(compiled(x, weight))
bound.set_config({"block_sizes": [2], "num_warps": 2})
results.append(rms_norm(x, weight))
code, result = code_and_output(rms_norm, (x, weight), block_sizes=[8])
for one in (*results, result):
    torch.testing.assert_close(one, expected, rtol=1e-2, atol=1e-2)
rms_norm.reset()
torch.cuda.synchronize()
print("bound: equal", rms_norm.name, len(rms_norm.configs))
