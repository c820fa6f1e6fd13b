// RUN: kopt %s -p 'pad-to-power-of-two,insert-masks{fold-loads=true},convert-tile-to-triton' -t triton-py | filecheck %s

// CHECK:      import torch
// CHECK-NEXT: import triton
// CHECK-NEXT: import triton.language as tl
// CHECK:      @triton.jit
// CHECK-NEXT: def _nan_max(a, b):
// CHECK-NEXT:     return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
// CHECK:      @triton.jit
// CHECK-NEXT: def softmax_0_kernel(x, out, BLOCK_0: tl.constexpr):
// CHECK-NEXT:     # only written: out
// CHECK-NEXT:     # softmax.mlir:{{[0-9]+}}: tile.grid (%i: b0=4) in (10) {
// CHECK-NEXT:     pid = tl.program_id(0)
// CHECK-NEXT:     i = pid * BLOCK_0 + tl.arange(0, BLOCK_0)
// CHECK-NEXT:     i_mask = i < 10
// CHECK-NEXT:     lanes = tl.arange(0, 128)
// CHECK-NEXT:     lanes_mask = lanes < 100
// CHECK-NEXT:     # softmax.mlir:{{[0-9]+}}: %v = tile.load
// CHECK-NEXT:     v = tl.load(
// CHECK-NEXT:         x + (i[:, None] * 100 + lanes[None, :]), mask=i_mask[:, None] & lanes_mask[None, :], other=float("-inf")
// CHECK-NEXT:     )
// CHECK:          e = tl.exp(v - tl.reduce(v, 1, _nan_max)[:, None])
// CHECK:          s = tl.sum(e, axis=1)
// CHECK:          r = tl.div_rn(e, s[:, None])
// CHECK:          tl.store(out + (i[:, None] * 100 + lanes[None, :]), r, mask=i_mask[:, None] & lanes_mask[None, :])
// CHECK:      def softmax(x):
// CHECK:          out = torch.empty((10, 100), dtype=torch.float32, device=x.device)
// CHECK:          softmax_0_kernel[(3,)](x, out, BLOCK_0=4, num_warps=4, num_stages=1)
// CHECK-NEXT:     return out
func.func @softmax(%x: memref<10x100xf32>) -> memref<10x100xf32> {
  %out = host.alloc : memref<10x100xf32>
  tile.grid (%i: b0=4) in (10) {
    %v = tile.load %x[%i, :] : memref<10x100xf32> -> !tile.tile<b0=4 x 100 x f32>
    %0 = tile.reduce max %v [1] : !tile.tile<b0=4 x 100 x f32>
    %1 = tile.broadcast %0 dims [0] : !tile.tile<b0=4 x f32> to !tile.tile<b0=4 x 100 x f32>
    %2 = tile.sub %v, %1 : !tile.tile<b0=4 x 100 x f32>
    %e = tile.exp %2 : !tile.tile<b0=4 x 100 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=4 x 100 x f32>
    %sb = tile.broadcast %s dims [0] : !tile.tile<b0=4 x f32> to !tile.tile<b0=4 x 100 x f32>
    %r = tile.div %e, %sb : !tile.tile<b0=4 x 100 x f32>
    tile.store %r, %out[%i, :] : !tile.tile<b0=4 x 100 x f32>, memref<10x100xf32>
  }
  func.return %out : memref<10x100xf32>
}
