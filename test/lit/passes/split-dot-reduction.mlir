// RUN: kopt %s --verify-each --remarks --pass-pipeline='builtin.module(split-dot-reduction,canonicalize,dce)' 2>&1 | filecheck %s

// A sum over 8000 numbers, of both blocks scaled, transposed or cast, in parts of 128; the rest of the last one is no one's.
// CHECK: remark: a product over a whole dimension goes in parts of 128
// CHECK-LABEL: func.func @whole
// CHECK: [[D:%.+]] = tile.for %k: [[T:b[0-9]+]]=128 in (0, 8000) iter([[A:%.+]] = [[Z:%.+]]) -> (!tile.tile<b0=16 x b1=32 x f32>) {
// CHECK: [[L:%.+]] = tile.load %x[%i, %k] : memref<64x8000xf32> -> !tile.tile<b0=16 x [[T]]=128 x f32>
// CHECK: [[S:%.+]] = tile.load %s[%k] : memref<8000xf32> -> !tile.tile<[[T]]=128 x f32>
// CHECK: [[B:%.+]] = tile.broadcast [[S]] dims [1] : !tile.tile<[[T]]=128 x f32> to !tile.tile<b0=16 x [[T]]=128 x f32>
// CHECK: [[M:%.+]] = tile.mul [[L]], [[B]]
// CHECK: [[H:%.+]] = tile.cast [[M]] : !tile.tile<b0=16 x [[T]]=128 x f32> to !tile.tile<b0=16 x [[T]]=128 x f16>
// CHECK: [[R:%.+]] = tile.load %w[%j, %k] : memref<64x8000xf16> -> !tile.tile<b1=32 x [[T]]=128 x f16>
// CHECK: [[U:%.+]] = tile.transpose [[R]] [1, 0]
// CHECK: [[P:%.+]] = tile.dot [[H]], [[U]], [[A]]
// CHECK: tile.yield [[P]]
// CHECK: tile.store [[D]], %out[%i, %j]
func.func @whole(%x: memref<64x8000xf32>, %s: memref<8000xf32>, %w: memref<64x8000xf16>, %out: memref<64x64xf32>) {
  tile.grid (%i: b0=16, %j: b1=32) in (64, 64) {
    %l = tile.load %x[%i, :] : memref<64x8000xf32> -> !tile.tile<b0=16 x 8000 x f32>
    %a = tile.load %s[:] : memref<8000xf32> -> !tile.tile<8000 x f32>
    %b = tile.broadcast %a dims [1] : !tile.tile<8000 x f32> to !tile.tile<b0=16 x 8000 x f32>
    %m = tile.mul %l, %b : !tile.tile<b0=16 x 8000 x f32>
    %h = tile.cast %m : !tile.tile<b0=16 x 8000 x f32> to !tile.tile<b0=16 x 8000 x f16>
    %r = tile.load %w[%j, :] : memref<64x8000xf16> -> !tile.tile<b1=32 x 8000 x f16>
    %u = tile.transpose %r [1, 0] : !tile.tile<b1=32 x 8000 x f16>
    %d = tile.dot %h, %u : !tile.tile<b0=16 x 8000 x f16>, !tile.tile<8000 x b1=32 x f16> -> !tile.tile<b0=16 x b1=32 x f32>
    tile.store %d, %out[%i, %j] : !tile.tile<b0=16 x b1=32 x f32>, memref<64x64xf32>
  }
  func.return
}

// What fits is left alone, and so is what is summed, or read while it changes.
// CHECK-LABEL: func.func @left
// CHECK-NOT: tile.for
func.func @left(%x: memref<64x8000xf32>, %w: memref<8000x64xf32>, %v: memref<500x64xf32>, %out: memref<64x64xf32>, %y: memref<64x8000xf32>) {
  tile.grid (%i: b0=16, %j: b1=32) in (64, 64) {
    %l = tile.load %x[%i, :] : memref<64x8000xf32> -> !tile.tile<b0=16 x 8000 x f32>
    %t = tile.scan add %l dim 1 : !tile.tile<b0=16 x 8000 x f32>
    %r = tile.load %w[:, %j] : memref<8000x64xf32> -> !tile.tile<8000 x b1=32 x f32>
    %d = tile.dot %t, %r : !tile.tile<b0=16 x 8000 x f32>, !tile.tile<8000 x b1=32 x f32> -> !tile.tile<b0=16 x b1=32 x f32>
    tile.store %l, %y[%i, :] : !tile.tile<b0=16 x 8000 x f32>, memref<64x8000xf32>
    %n = tile.load %y[%i, :] : memref<64x8000xf32> -> !tile.tile<b0=16 x 8000 x f32>
    %e = tile.dot %n, %r, %d : !tile.tile<b0=16 x 8000 x f32>, !tile.tile<8000 x b1=32 x f32> -> !tile.tile<b0=16 x b1=32 x f32>
    %p = tile.load %x[%i, 0:500] : memref<64x8000xf32> -> !tile.tile<b0=16 x 500 x f32>
    %q = tile.load %v[:, %j] : memref<500x64xf32> -> !tile.tile<500 x b1=32 x f32>
    %f = tile.dot %p, %q, %e : !tile.tile<b0=16 x 500 x f32>, !tile.tile<500 x b1=32 x f32> -> !tile.tile<b0=16 x b1=32 x f32>
    tile.store %f, %out[%i, %j] : !tile.tile<b0=16 x b1=32 x f32>, memref<64x64xf32>
  }
  func.return
}

// Batches count: a product of 16 of them holds as much as 16 products.
// CHECK-LABEL: func.func @batches
// CHECK: tile.for
func.func @batches(%x: memref<64x16x500xf32>, %w: memref<64x500x32xf32>, %out: memref<64x16x32xf32>) {
  tile.grid (%b: b0=16) in (64) {
    %l = tile.load %x[%b, :, :] : memref<64x16x500xf32> -> !tile.tile<b0=16 x 16 x 500 x f32>
    %r = tile.load %w[%b, :, :] : memref<64x500x32xf32> -> !tile.tile<b0=16 x 500 x 32 x f32>
    %d = tile.dot %l, %r : !tile.tile<b0=16 x 16 x 500 x f32>, !tile.tile<b0=16 x 500 x 32 x f32> -> !tile.tile<b0=16 x 16 x 32 x f32>
    tile.store %d, %out[%b, :, :] : !tile.tile<b0=16 x 16 x 32 x f32>, memref<64x16x32xf32>
  }
  func.return
}

// A program shares both blocks of 1024 numbers, and has loads of other parts under way in a loop; four parts are enough.
// CHECK-LABEL: func.func @ahead
// CHECK: tile.for %k: {{b[0-9]+}}=128 in (0, 512)
func.func @ahead(%x: memref<64x512xf16>, %w: memref<512x64xf16>, %out: memref<64x64xf32>) {
  tile.grid (%i: b0=16, %j: b1=32) in (64, 64) {
    %l = tile.load %x[%i, :] : memref<64x512xf16> -> !tile.tile<b0=16 x 512 x f16>
    %r = tile.load %w[:, %j] : memref<512x64xf16> -> !tile.tile<512 x b1=32 x f16>
    %d = tile.dot %l, %r : !tile.tile<b0=16 x 512 x f16>, !tile.tile<512 x b1=32 x f16> -> !tile.tile<b0=16 x b1=32 x f32>
    tile.store %d, %out[%i, %j] : !tile.tile<b0=16 x b1=32 x f32>, memref<64x64xf32>
  }
  func.return
}

// Three parts stay whole, and so does what stands in a loop, whose visits have loads under way already.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: =128 in (0, 384)
// CHECK: tile.dot
// CHECK: tile.for %j
// CHECK-NOT: tile.for
// CHECK: tile.dot
func.func @stays(%x: memref<64x384xf16>, %y: memref<64x512xf16>, %w: memref<384x32xf16>, %v: memref<512x64xf16>, %o: memref<64x32xf32>, %p: memref<64x64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %l = tile.load %x[%i, :] : memref<64x384xf16> -> !tile.tile<b0=16 x 384 x f16>
    %r = tile.load %w[:, :] : memref<384x32xf16> -> !tile.tile<384 x 32 x f16>
    %d = tile.dot %l, %r : !tile.tile<b0=16 x 384 x f16>, !tile.tile<384 x 32 x f16> -> !tile.tile<b0=16 x 32 x f32>
    tile.store %d, %o[%i, :] : !tile.tile<b0=16 x 32 x f32>, memref<64x32xf32>
    tile.for %j: b1=32 in (0, 64) {
      %a = tile.load %y[%i, :] : memref<64x512xf16> -> !tile.tile<b0=16 x 512 x f16>
      %b = tile.load %v[:, %j] : memref<512x64xf16> -> !tile.tile<512 x b1=32 x f16>
      %e = tile.dot %a, %b : !tile.tile<b0=16 x 512 x f16>, !tile.tile<512 x b1=32 x f16> -> !tile.tile<b0=16 x b1=32 x f32>
      tile.store %e, %p[%i, %j] : !tile.tile<b0=16 x b1=32 x f32>, memref<64x64xf32>
    }
  }
  func.return
}
