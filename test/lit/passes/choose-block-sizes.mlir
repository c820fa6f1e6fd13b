// RUN: kopt %s --verify-each -p 'choose-block-sizes{chip=v6e}' | filecheck %s --check-prefixes=CHECK,TPU
// RUN: kopt %s --verify-each -p 'choose-block-sizes{chip=sm90}' | filecheck %s --check-prefixes=CHECK,GPU
// RUN: kopt %s --verify-each -p 'choose-block-sizes' | filecheck %s --check-prefixes=CHECK,NONE
// RUN: kopt %s --remarks -p 'choose-block-sizes{chip=sm90}' 2>&1 | filecheck %s --check-prefix=REMARK

// Rows and lanes: a TPU takes large blocks, a GPU what fills its threads. Nothing is open then.
// CHECK-LABEL: func.func @exp
// CHECK-NOT: tile.open
// TPU: tile.grid (%i: b0=4096, %j: b1=512) in (4096, 2560) {
// TPU-NEXT: tile.load {{.*}} -> !tile.tile<b0=4096 x b1=512 x f32>
// GPU: tile.grid (%i: b0=8, %j: b1=512) in (4096, 2560) {
// NONE: tile.grid (%i: b0=2048, %j: b1=512) in (4096, 2560) {
func.func @exp(%x: memref<4096x2560xf32>, %out: memref<4096x2560xf32>)
    attributes {tile.open = [#tile.open<b0>, #tile.open<b1>]} {
  tile.grid (%i: b0=32, %j: b1=32) in (4096, 2560) {
    %v = tile.load %x[%i, %j] : memref<4096x2560xf32> -> !tile.tile<b0=32 x b1=32 x f32>
    %e = tile.exp %v : !tile.tile<b0=32 x b1=32 x f32>
    tile.store %e, %out[%i, %j] : !tile.tile<b0=32 x b1=32 x f32>, memref<4096x2560xf32>
  }
  func.return
}

// Ranges that share a size get one; bounds hold; what the mark does not name stays as it is.
// CHECK-LABEL: func.func @shared
// TPU: tile.grid (%i: b0=64) in (4096)
// TPU: tile.grid (%j: b1=64, %k: b2=128) in (4096, 128)
// GPU: tile.grid (%i: b0=64) in (4096)
// GPU: tile.grid (%j: b1=64, %k: b2=128) in (4096, 128)
func.func @shared(%x: memref<4096x128xf32>) attributes {tile.open = [#tile.open<b0, b1 : least 64 most 64>]} {
  tile.grid (%i: b0=32) in (4096) {
    %v = tile.load %x[%i, :] : memref<4096x128xf32> -> !tile.tile<b0=32 x 128 x f32>
    %w = tile.add %v, %v : !tile.tile<b0=32 x 128 x f32>
    tile.store %w, %x[%i, :] : !tile.tile<b0=32 x 128 x f32>, memref<4096x128xf32>
  }
  tile.grid (%j: b1=32, %k: b2=128) in (4096, 128) {
    %v = tile.load %x[%j, %k] : memref<4096x128xf32> -> !tile.tile<b1=32 x b2=128 x f32>
    %w = tile.mul %v, %v : !tile.tile<b1=32 x b2=128 x f32>
    tile.store %w, %x[%j, %k] : !tile.tile<b1=32 x b2=128 x f32>, memref<4096x128xf32>
  }
  func.return
}

// A pinned size is what the configuration says: whole tiles of a TPU's memory, and only where no result depends on it.
// CHECK-LABEL: func.func @pinned
// TPU: tile.grid (%i: b0=8, %j: b1=20) in (100, 1000)
// GPU: tile.grid (%i: b0=5, %j: b1=20) in (100, 1000)
// NONE: tile.grid (%i: b0=5, %j: b1=20) in (100, 1000)
func.func @pinned(%x: memref<100x1000xf32>)
    attributes {tile.open = [#tile.open<b0 : pinned>, #tile.open<b1 : observed pinned>]} {
  tile.grid (%i: b0=5, %j: b1=20) in (100, 1000) {
    %v = tile.load %x[%i, %j] : memref<100x1000xf32> -> !tile.tile<b0=5 x b1=20 x f32>
    tile.store %v, %x[%i, %j] : !tile.tile<b0=5 x b1=20 x f32>, memref<100x1000xf32>
  }
  func.return
}

// Sizes that the kernel's Python computed with cannot be substituted: whoever imports does so again.
// CHECK-LABEL: func.func @read
// GPU-SAME: tile.open = [#tile.open<b0 : wanted 256 sized>]
// GPU: tile.grid (%i: b0=8) in (4096)
// REMARK: choose-block-sizes.mlir:[[# @LINE + 1]]:{{.*}} remark: the block sizes b0=256 would be chosen: import the kernel again with them
func.func @read(%x: memref<4096xf32>) attributes {tile.open = [#tile.open<b0 : sized>], tile.read_sizes = ["b0"]} {
  tile.grid (%i: b0=8) in (4096) {
    %v = tile.load %x[%i] : memref<4096xf32> -> !tile.tile<b0=8 x f32>
    %s = tile.full 8.0 : !tile.tile<b0=8 x f32>
    %w = tile.div %v, %s : !tile.tile<b0=8 x f32>
    tile.store %w, %x[%i] : !tile.tile<b0=8 x f32>, memref<4096xf32>
  }
  func.return
}

// Blocks that the function has no longer leave nothing to choose.
// CHECK-LABEL: func.func @without_blocks()
// CHECK-NOT: tile.open
// CHECK: return
func.func @without_blocks() attributes {tile.open = [#tile.open<b0>, #tile.open<b1, b3 : observed least 16 sized most 4096>]} {
  func.return
}

// So do blocks of loops that have no effect, which are gone where gathers are looked at: they keep their sizes.
// CHECK-LABEL: func.func @without_effect(
// CHECK: tile.grid (%i: b0=16) in (4096)
// TPU: tile.grid (%j: b1=32) in (4096)
// GPU: tile.grid (%j: b1=1) in (4096)
func.func @without_effect(%x: memref<100000x8192xbf16>, %at: memref<4096xi32>, %out: memref<4096x8192xbf16>)
    attributes {tile.open = [#tile.open<b0>, #tile.open<b1>]} {
  tile.grid (%i: b0=16) in (4096) {
    %r = tile.load %at[%i] : memref<4096xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%r, :] : memref<100000x8192xbf16> -> !tile.tile<b0=16 x 8192 x bf16>
  }
  tile.grid (%j: b1=16) in (4096) {
    %r = tile.load %at[%j] : memref<4096xi32> -> !tile.tile<b1=16 x i32>
    %v = tile.load %x[%r, :] : memref<100000x8192xbf16> -> !tile.tile<b1=16 x 8192 x bf16>
    tile.store %v, %out[%j, :] : !tile.tile<b1=16 x 8192 x bf16>, memref<4096x8192xbf16>
  }
  func.return
}

// DMAs bring computed rows that fill one sublane of a word each: what they take is seen once the block has its size.
// CHECK-LABEL: func.func @rows
// TPU: tile.grid (%i: b0=32) in (4096)
func.func @rows(%x: memref<100000x8192xbf16>, %at: memref<4096xi32>, %out: memref<4096x8192xbf16>)
    attributes {tile.open = [#tile.open<b0>]} {
  tile.grid (%i: b0=16) in (4096) {
    %r = tile.load %at[%i] : memref<4096xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%r, :] : memref<100000x8192xbf16> -> !tile.tile<b0=16 x 8192 x bf16>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 8192 x bf16>, memref<4096x8192xbf16>
  }
  func.return
}

// Columns are walked, and few cells share them: the best size is that of a walk that is dealt out to more cells.
// CHECK-LABEL: func.func @columns
// GPU: tile.grid (%j: b0=32) in (2560)
func.func @columns(%x: memref<4096x2560xbf16>, %out: memref<2560xf32>) attributes {tile.open = [#tile.open<b0>]} {
  tile.grid (%j: b0=16) in (2560) {
    %v = tile.load %x[:, %j] : memref<4096x2560xbf16> -> !tile.tile<4096 x b0=16 x bf16>
    %f = tile.cast %v : !tile.tile<4096 x b0=16 x bf16> to !tile.tile<4096 x b0=16 x f32>
    %s = tile.reduce add %f [0] : !tile.tile<4096 x b0=16 x f32>
    tile.store %s, %out[%j] : !tile.tile<b0=16 x f32>, memref<2560xf32>
  }
  func.return
}
