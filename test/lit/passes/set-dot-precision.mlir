// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(set-dot-precision{precision=tf32})' | filecheck %s
// RUN: not kopt %s --pass-pipeline='builtin.module(set-dot-precision{precision=fast})' 2>&1 | filecheck %s --check-prefix=BAD

// BAD: error: option 'precision' of pass 'set-dot-precision' takes one of ieee, tf32, bf16, tf32x3, bf16x3, not fast

// CHECK: tile.dot %l, %l precision tf32 :
// CHECK-NEXT: tile.dot %l, %l precision ieee :
// CHECK-NEXT: tile.dot %n, %n : !tile.tile<8 x 8 x bf16>
func.func @f(%x: memref<8x8xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %l = tile.load %x[:, :] : memref<8x8xf32> -> !tile.tile<8 x 8 x f32>
    %n = tile.cast %l : !tile.tile<8 x 8 x f32> to !tile.tile<8 x 8 x bf16>
    %a = tile.dot %l, %l : !tile.tile<8 x 8 x f32>, !tile.tile<8 x 8 x f32> -> !tile.tile<8 x 8 x f32>
    %b = tile.dot %l, %l precision ieee : !tile.tile<8 x 8 x f32>, !tile.tile<8 x 8 x f32> -> !tile.tile<8 x 8 x f32>
    %c = tile.dot %n, %n : !tile.tile<8 x 8 x bf16>, !tile.tile<8 x 8 x bf16> -> !tile.tile<8 x 8 x f32>
  }
  func.return
}
