// RUN: kopt %s --split-input-file --verify-each -p 'merge-lane-parts,dce' | filecheck %s

// A rotary embedding of halves: the other half is a rotation of lanes, and the smaller factor has the sign.
// CHECK-LABEL: @rotary
// CHECK-DAG: %a = tile.slice %x [0, 0, 0] [4, 8, 64]
// CHECK-DAG: %b = tile.slice %x [0, 0, 64] [4, 8, 64]
// CHECK: %[[C:.*]] = tile.broadcast %c dims [1, 2] : !tile.tile<8 x 128 x f32> to !tile.tile<4 x 8 x 128 x f32>
// CHECK: %[[X:.*]] = tile.mul %x, %[[C]] : !tile.tile<4 x 8 x 128 x f32>
// CHECK: %[[T:.*]] = tile.concat %b, %a dim 2
// CHECK: %[[N:.*]] = tile.neg %s0 : !tile.tile<8 x 64 x f32>
// CHECK: %[[J:.*]] = tile.concat %[[N]], %s1 dim 1
// CHECK: %[[S:.*]] = tile.broadcast %[[J]] dims [1, 2] : !tile.tile<8 x 128 x f32> to !tile.tile<4 x 8 x 128 x f32>
// CHECK: %[[Y:.*]] = tile.mul %[[T]], %[[S]]
// CHECK: %[[R:.*]] = tile.add %[[X]], %[[Y]]
// CHECK: %r = tile.cast %[[R]] : !tile.tile<4 x 8 x 128 x f32> to !tile.tile<4 x 8 x 128 x bf16>
// CHECK-NOT: tile.concat
func.func @rotary(%m: memref<4x8x128xf32>, %k: memref<8x128xf32>, %l: memref<8x128xf32>, %o: memref<4x8x128xbf16>) {
  tile.grid () in () {
    %x = tile.load %m[:, :, :] : memref<4x8x128xf32> -> !tile.tile<4 x 8 x 128 x f32>
    %c = tile.load %k[:, :] : memref<8x128xf32> -> !tile.tile<8 x 128 x f32>
    %s = tile.load %l[:, :] : memref<8x128xf32> -> !tile.tile<8 x 128 x f32>
    %a = tile.slice %x [0, 0, 0] [4, 8, 64] [1, 1, 1] : !tile.tile<4 x 8 x 128 x f32> to !tile.tile<4 x 8 x 64 x f32>
    %b = tile.slice %x [0, 0, 64] [4, 8, 64] [1, 1, 1] : !tile.tile<4 x 8 x 128 x f32> to !tile.tile<4 x 8 x 64 x f32>
    %c0 = tile.slice %c [0, 0] [8, 64] [1, 1] : !tile.tile<8 x 128 x f32> to !tile.tile<8 x 64 x f32>
    %c1 = tile.slice %c [0, 64] [8, 64] [1, 1] : !tile.tile<8 x 128 x f32> to !tile.tile<8 x 64 x f32>
    %s0 = tile.slice %s [0, 0] [8, 64] [1, 1] : !tile.tile<8 x 128 x f32> to !tile.tile<8 x 64 x f32>
    %s1 = tile.slice %s [0, 64] [8, 64] [1, 1] : !tile.tile<8 x 128 x f32> to !tile.tile<8 x 64 x f32>
    %d0 = tile.broadcast %c0 dims [1, 2] : !tile.tile<8 x 64 x f32> to !tile.tile<4 x 8 x 64 x f32>
    %d1 = tile.broadcast %c1 dims [1, 2] : !tile.tile<8 x 64 x f32> to !tile.tile<4 x 8 x 64 x f32>
    %t0 = tile.broadcast %s0 dims [1, 2] : !tile.tile<8 x 64 x f32> to !tile.tile<4 x 8 x 64 x f32>
    %t1 = tile.broadcast %s1 dims [1, 2] : !tile.tile<8 x 64 x f32> to !tile.tile<4 x 8 x 64 x f32>
    %ac = tile.mul %a, %d0 : !tile.tile<4 x 8 x 64 x f32>
    %bs = tile.mul %b, %t0 : !tile.tile<4 x 8 x 64 x f32>
    %p = tile.sub %ac, %bs : !tile.tile<4 x 8 x 64 x f32>
    %as = tile.mul %a, %t1 : !tile.tile<4 x 8 x 64 x f32>
    %bc = tile.mul %b, %d1 : !tile.tile<4 x 8 x 64 x f32>
    %q = tile.add %as, %bc : !tile.tile<4 x 8 x 64 x f32>
    %e = tile.cast %p : !tile.tile<4 x 8 x 64 x f32> to !tile.tile<4 x 8 x 64 x bf16>
    %f = tile.cast %q : !tile.tile<4 x 8 x 64 x f32> to !tile.tile<4 x 8 x 64 x bf16>
    %r = tile.concat %e, %f dim 2 : !tile.tile<4 x 8 x 64 x bf16>, !tile.tile<4 x 8 x 64 x bf16> to !tile.tile<4 x 8 x 128 x bf16>
    tile.store %r, %o[:, :, :] : !tile.tile<4 x 8 x 128 x bf16>, memref<4x8x128xbf16>
  }
  func.return
}

// -----

// Differences of the same order are one; a number of all parts, and a column that is repeated, are so in more lanes.
// CHECK-LABEL: @alike
// CHECK: %[[H:.*]] = tile.full 0.5 : !tile.tile<8 x 64 x f32>
// CHECK: %[[M:.*]] = tile.mul %x, %[[H]] : !tile.tile<8 x 64 x f32>
// CHECK: %[[W:.*]] = tile.broadcast %w dims [0, 1] : !tile.tile<8 x 1 x f32> to !tile.tile<8 x 64 x f32>
// CHECK: %r = tile.sub %[[M]], %[[W]] : !tile.tile<8 x 64 x f32>
// CHECK-NOT: tile.concat
func.func @alike(%m: memref<8x64xf32>, %k: memref<8x1xf32>, %o: memref<8x64xf32>) {
  tile.grid () in () {
    %x = tile.load %m[:, :] : memref<8x64xf32> -> !tile.tile<8 x 64 x f32>
    %w = tile.load %k[:, :] : memref<8x1xf32> -> !tile.tile<8 x 1 x f32>
    %v = tile.broadcast %w dims [0, 1] : !tile.tile<8 x 1 x f32> to !tile.tile<8 x 16 x f32>
    %h = tile.full 0.5 : !tile.tile<8 x 16 x f32>
    %a = tile.slice %x [0, 0] [8, 16] [1, 1] : !tile.tile<8 x 64 x f32> to !tile.tile<8 x 16 x f32>
    %b = tile.slice %x [0, 16] [8, 16] [1, 1] : !tile.tile<8 x 64 x f32> to !tile.tile<8 x 16 x f32>
    %c = tile.slice %x [0, 32] [8, 16] [1, 1] : !tile.tile<8 x 64 x f32> to !tile.tile<8 x 16 x f32>
    %d = tile.slice %x [0, 48] [8, 16] [1, 1] : !tile.tile<8 x 64 x f32> to !tile.tile<8 x 16 x f32>
    %ah = tile.mul %a, %h : !tile.tile<8 x 16 x f32>
    %bh = tile.mul %b, %h : !tile.tile<8 x 16 x f32>
    %ch = tile.mul %c, %h : !tile.tile<8 x 16 x f32>
    %dh = tile.mul %h, %d : !tile.tile<8 x 16 x f32>
    %p = tile.sub %ah, %v : !tile.tile<8 x 16 x f32>
    %q = tile.sub %bh, %v : !tile.tile<8 x 16 x f32>
    %s = tile.sub %ch, %v : !tile.tile<8 x 16 x f32>
    %t = tile.sub %dh, %v : !tile.tile<8 x 16 x f32>
    %r = tile.concat %p, %q, %s, %t dim 1 : !tile.tile<8 x 16 x f32>, !tile.tile<8 x 16 x f32>, !tile.tile<8 x 16 x f32>, !tile.tile<8 x 16 x f32> to !tile.tile<8 x 64 x f32>
    tile.store %r, %o[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
  }
  func.return
}

// -----

// What stays: whole registers, parts of unlike widths, ops that are not alike, operands that must be joined both.
// CHECK-LABEL: @stay
// CHECK-COUNT-4: tile.concat
// CHECK-NOT: tile.concat
func.func @stay(%m: memref<8x256xf32>, %o: memref<8x256xf32>, %h: memref<8x64xf32>, %u: memref<8x96xf32>, %w: memref<8x64xf32>) {
  tile.grid () in () {
    %x = tile.load %m[:, :] : memref<8x256xf32> -> !tile.tile<8 x 256 x f32>
    %a = tile.slice %x [0, 0] [8, 128] [1, 1] : !tile.tile<8 x 256 x f32> to !tile.tile<8 x 128 x f32>
    %b = tile.slice %x [0, 128] [8, 128] [1, 1] : !tile.tile<8 x 256 x f32> to !tile.tile<8 x 128 x f32>
    %ea = tile.exp %a : !tile.tile<8 x 128 x f32>
    %eb = tile.exp %b : !tile.tile<8 x 128 x f32>
    %whole = tile.concat %ea, %eb dim 1 : !tile.tile<8 x 128 x f32>, !tile.tile<8 x 128 x f32> to !tile.tile<8 x 256 x f32>
    %c = tile.slice %x [0, 0] [8, 32] [1, 1] : !tile.tile<8 x 256 x f32> to !tile.tile<8 x 32 x f32>
    %d = tile.slice %x [0, 64] [8, 32] [1, 1] : !tile.tile<8 x 256 x f32> to !tile.tile<8 x 32 x f32>
    %f = tile.slice %x [0, 128] [8, 64] [1, 1] : !tile.tile<8 x 256 x f32> to !tile.tile<8 x 64 x f32>
    %ec = tile.exp %c : !tile.tile<8 x 32 x f32>
    %ed = tile.exp %d : !tile.tile<8 x 32 x f32>
    %ld = tile.log %d : !tile.tile<8 x 32 x f32>
    %ef = tile.exp %f : !tile.tile<8 x 64 x f32>
    %unlike = tile.concat %ec, %ld dim 1 : !tile.tile<8 x 32 x f32>, !tile.tile<8 x 32 x f32> to !tile.tile<8 x 64 x f32>
    %widths = tile.concat %ec, %ef dim 1 : !tile.tile<8 x 32 x f32>, !tile.tile<8 x 64 x f32> to !tile.tile<8 x 96 x f32>
    %p = tile.mul %ec, %c : !tile.tile<8 x 32 x f32>
    %q = tile.mul %ld, %d : !tile.tile<8 x 32 x f32>
    %both = tile.concat %p, %q dim 1 : !tile.tile<8 x 32 x f32>, !tile.tile<8 x 32 x f32> to !tile.tile<8 x 64 x f32>
    tile.store %whole, %o[:, :] : !tile.tile<8 x 256 x f32>, memref<8x256xf32>
    tile.store %unlike, %h[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
    tile.store %widths, %u[:, :] : !tile.tile<8 x 96 x f32>, memref<8x96xf32>
    tile.store %both, %w[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
  }
  func.return
}

// -----

// The other part is loaded at a range.
// CHECK-LABEL: @loaded
// CHECK: tile.concat
func.func @loaded(%m: memref<16x64xf32>, %o: memref<16x64xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %x = tile.load %m[%i, 0:32] : memref<16x64xf32> -> !tile.tile<b0=8 x 32 x f32>
    %e = tile.exp %x : !tile.tile<b0=8 x 32 x f32>
    %r = tile.concat %e, %x dim 1 : !tile.tile<b0=8 x 32 x f32>, !tile.tile<b0=8 x 32 x f32> to !tile.tile<b0=8 x 64 x f32>
    tile.store %r, %o[%i, :] : !tile.tile<b0=8 x 64 x f32>, memref<16x64xf32>
  }
  func.return
}
