// RUN: not kopt %s -t triton-py 2>&1 | filecheck %s

// Launches that no pipeline has checked are checked before they are printed.
// CHECK: refused.mlir:9:10: error: 'tile.concat' has no Triton form: run convert-slices-to-gathers first
func.func @f(%x: memref<16xf32>) {
  triton.launch @f_0 (%y = %x) grid (1) num_warps 4 num_stages 1 {
    %v = tile.load %y[:] : memref<16xf32> -> !tile.tile<16 x f32>
    %r = tile.reduce add %v [0] : !tile.tile<16 x f32>
    %c = tile.concat %v, %v dim 0 : !tile.tile<16 x f32>, !tile.tile<16 x f32> to !tile.tile<32 x f32>
  }
  func.return
}
