// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(narrow-floats{chip=v6e},dce)' | filecheck %s
// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(narrow-floats{chip=v5e},dce)' | filecheck %s --check-prefix=V5E

// A gated product: both factors were rounded to bf16, and the product is.
// CHECK-LABEL: @gated
// CHECK: tile.exp
// CHECK-NEXT: %[[R:.*]] = tile.cast
// CHECK-NEXT: %p = tile.mul %[[R]], %b : !tile.tile<b0=32 x b1=128 x bf16>
// CHECK-NEXT: tile.store %p
// A chip that computes with f32 in the place of bf16 keeps it.
// V5E-LABEL: @gated
// V5E: tile.mul %{{.*}}, %{{.*}} : !tile.tile<b0=32 x b1=128 x f32>
func.func @gated(%x: memref<64x256xbf16>, %y: memref<64x256xbf16>, %o: memref<64x256xbf16>) -> memref<64x256xbf16> {
  %q = host.launch @gated (%a0 = %x, %b0 = %y, %c0 = %o) writes [2] : (memref<64x256xbf16>, memref<64x256xbf16>, memref<64x256xbf16>) -> (memref<64x256xbf16>) {
    tile.grid (%i: b0=32, %j: b1=128) in (64, 256) {
      %a = tile.load %a0[%i, %j] : memref<64x256xbf16> -> !tile.tile<b0=32 x b1=128 x bf16>
      %b = tile.load %b0[%i, %j] : memref<64x256xbf16> -> !tile.tile<b0=32 x b1=128 x bf16>
      %wide = tile.cast %a : !tile.tile<b0=32 x b1=128 x bf16> to !tile.tile<b0=32 x b1=128 x f32>
      %half = tile.exp %wide : !tile.tile<b0=32 x b1=128 x f32>
      %r = tile.cast %half : !tile.tile<b0=32 x b1=128 x f32> to !tile.tile<b0=32 x b1=128 x bf16>
      %s = tile.cast %r : !tile.tile<b0=32 x b1=128 x bf16> to !tile.tile<b0=32 x b1=128 x f32>
      %t = tile.cast %b : !tile.tile<b0=32 x b1=128 x bf16> to !tile.tile<b0=32 x b1=128 x f32>
      %v = tile.mul %s, %t : !tile.tile<b0=32 x b1=128 x f32>
      %p = tile.cast %v : !tile.tile<b0=32 x b1=128 x f32> to !tile.tile<b0=32 x b1=128 x bf16>
      tile.store %p, %c0[%i, %j] : !tile.tile<b0=32 x b1=128 x bf16>, memref<64x256xbf16>
    }
  }
  func.return %q : memref<64x256xbf16>
}

// -----

// Constants that bf16 has are narrow too, and what is computed of narrow results.
// CHECK-LABEL: @chain
// CHECK: %[[ONE:.*]] = tile.full 1.0 : !tile.tile<b0=32 x b1=128 x bf16>
// CHECK: tile.sub %a, %[[ONE]] : !tile.tile<b0=32 x b1=128 x bf16>
// CHECK-NEXT: tile.maximum %{{.*}}, %a : !tile.tile<b0=32 x b1=128 x bf16>
// Those that it has not stay; and so do values that others need, few rows, and quotients.
// CHECK: tile.mul %{{.*}}, %tenth : !tile.tile<b0=32 x b1=128 x f32>
// CHECK: tile.add %{{.*}} : !tile.tile<b0=32 x b1=128 x f32>
// CHECK: tile.div %{{.*}} : !tile.tile<b0=32 x b1=128 x f32>
// CHECK: tile.add %{{.*}} : !tile.tile<8 x b1=128 x f32>
func.func @chain(%x: memref<64x256xbf16>, %y: memref<8x256xbf16>, %o: memref<64x256xbf16>, %p: memref<8x256xbf16>, %w: memref<64x256xf32>) -> (memref<64x256xbf16>, memref<8x256xbf16>, memref<64x256xf32>) {
  %q:3 = host.launch @chain (%a0 = %x, %b0 = %y, %c0 = %o, %d0 = %p, %e0 = %w) writes [2, 3, 4] : (memref<64x256xbf16>, memref<8x256xbf16>, memref<64x256xbf16>, memref<8x256xbf16>, memref<64x256xf32>) -> (memref<64x256xbf16>, memref<8x256xbf16>, memref<64x256xf32>) {
    tile.grid (%i: b0=32, %j: b1=128) in (64, 256) {
      %a = tile.load %a0[%i, %j] : memref<64x256xbf16> -> !tile.tile<b0=32 x b1=128 x bf16>
      %wide = tile.cast %a : !tile.tile<b0=32 x b1=128 x bf16> to !tile.tile<b0=32 x b1=128 x f32>
      %one = tile.full 1.0 : !tile.tile<b0=32 x b1=128 x f32>
      %less = tile.sub %wide, %one : !tile.tile<b0=32 x b1=128 x f32>
      %r = tile.cast %less : !tile.tile<b0=32 x b1=128 x f32> to !tile.tile<b0=32 x b1=128 x bf16>
      %s = tile.cast %r : !tile.tile<b0=32 x b1=128 x bf16> to !tile.tile<b0=32 x b1=128 x f32>
      %top = tile.maximum %s, %wide : !tile.tile<b0=32 x b1=128 x f32>
      %t = tile.cast %top : !tile.tile<b0=32 x b1=128 x f32> to !tile.tile<b0=32 x b1=128 x bf16>
      %u = tile.cast %t : !tile.tile<b0=32 x b1=128 x bf16> to !tile.tile<b0=32 x b1=128 x f32>
      %tenth = tile.full 0.1 : !tile.tile<b0=32 x b1=128 x f32>
      %part = tile.mul %u, %tenth : !tile.tile<b0=32 x b1=128 x f32>
      %v = tile.cast %part : !tile.tile<b0=32 x b1=128 x f32> to !tile.tile<b0=32 x b1=128 x bf16>
      %vw = tile.cast %v : !tile.tile<b0=32 x b1=128 x bf16> to !tile.tile<b0=32 x b1=128 x f32>
      %both = tile.add %vw, %wide : !tile.tile<b0=32 x b1=128 x f32>
      tile.store %both, %e0[%i, %j] : !tile.tile<b0=32 x b1=128 x f32>, memref<64x256xf32>
      %z = tile.cast %both : !tile.tile<b0=32 x b1=128 x f32> to !tile.tile<b0=32 x b1=128 x bf16>
      %zw = tile.cast %z : !tile.tile<b0=32 x b1=128 x bf16> to !tile.tile<b0=32 x b1=128 x f32>
      %quotient = tile.div %zw, %wide : !tile.tile<b0=32 x b1=128 x f32>
      %k = tile.cast %quotient : !tile.tile<b0=32 x b1=128 x f32> to !tile.tile<b0=32 x b1=128 x bf16>
      tile.store %k, %c0[%i, %j] : !tile.tile<b0=32 x b1=128 x bf16>, memref<64x256xbf16>
      %few = tile.load %b0[:, %j] : memref<8x256xbf16> -> !tile.tile<8 x b1=128 x bf16>
      %fw = tile.cast %few : !tile.tile<8 x b1=128 x bf16> to !tile.tile<8 x b1=128 x f32>
      %fs = tile.add %fw, %fw : !tile.tile<8 x b1=128 x f32>
      %fn = tile.cast %fs : !tile.tile<8 x b1=128 x f32> to !tile.tile<8 x b1=128 x bf16>
      tile.store %fn, %d0[:, %j] : !tile.tile<8 x b1=128 x bf16>, memref<8x256xbf16>
    }
  }
  func.return %q#0, %q#1, %q#2 : memref<64x256xbf16>, memref<8x256xbf16>, memref<64x256xf32>
}
