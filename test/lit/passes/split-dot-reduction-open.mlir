// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(split-dot-reduction{open-blocks=true})' | filecheck %s --check-prefixes=CHECK,OPEN
// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(split-dot-reduction)' | filecheck %s --check-prefixes=CHECK,SET
// RUN: kopt %s -p 'choose-block-sizes{chip=gfx942}' | filecheck %s --check-prefix=GFX942

// While blocks are open, so is the part of a product that is a loop at any sizes; nothing is left of what was whole.
// Blocks of a grid are chosen for the loop: as if both whole blocks were shared they had 16 columns.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: tile.load %x[%i, :]
// OPEN: tile.for %k: [[T:b[0-9]+]]={{[0-9]+}} in (0, 1024) {{.*}} attributes {tile.open = [#tile.open<[[T]] : least 32 most 128>]} {
// SET: tile.for %k: {{b[0-9]+}}=128 in (0, 1024)
// SET-NOT: tile.open
// SET: tile.dot
// GFX942: tile.grid (%i: b0=16, %j: b1=32) in (1024, 256)
func.func @whole(%x: memref<1024x1024xbf16>, %w: memref<1024x256xbf16>, %out: memref<1024x256xf32>) attributes {tile.open = [#tile.open<b0>, #tile.open<b1>]} {
  tile.grid (%i: b0=32, %j: b1=32) in (1024, 256) {
    %l = tile.load %x[%i, :] : memref<1024x1024xbf16> -> !tile.tile<b0=32 x 1024 x bf16>
    %r = tile.load %w[:, %j] : memref<1024x256xbf16> -> !tile.tile<1024 x b1=32 x bf16>
    %d = tile.dot %l, %r : !tile.tile<b0=32 x 1024 x bf16>, !tile.tile<1024 x b1=32 x bf16> -> !tile.tile<b0=32 x b1=32 x f32>
    tile.store %d, %out[%i, %j] : !tile.tile<b0=32 x b1=32 x f32>, memref<1024x256xf32>
  }
  func.return
}

// What smaller blocks would not need a loop for stays whole until they are chosen.
// CHECK-LABEL: func.func @batches
// OPEN-NOT: tile.for
// SET: tile.for
// CHECK: tile.dot
func.func @batches(%x: memref<64x16x500xf32>, %w: memref<64x500x32xf32>, %out: memref<64x16x32xf32>) {
  tile.grid (%b: b0=16) in (64) {
    %l = tile.load %x[%b, :, :] : memref<64x16x500xf32> -> !tile.tile<b0=16 x 16 x 500 x f32>
    %r = tile.load %w[%b, :, :] : memref<64x500x32xf32> -> !tile.tile<b0=16 x 500 x 32 x f32>
    %d = tile.dot %l, %r : !tile.tile<b0=16 x 16 x 500 x f32>, !tile.tile<b0=16 x 500 x 32 x f32> -> !tile.tile<b0=16 x 16 x 32 x f32>
    tile.store %d, %out[%b, :, :] : !tile.tile<b0=16 x 16 x 32 x f32>, memref<64x16x32xf32>
  }
  func.return
}
