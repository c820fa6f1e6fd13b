// RUN: kopt %s --verify-each -p legalise-ops | filecheck %s
// RUN: kopt %s --verify-each --remarks -p legalise-ops{chip=gfx950} | filecheck %s --check-prefix=AMD
// RUN: kopt %s --verify-each --remarks -p legalise-ops{chip=sm80} | filecheck %s --check-prefix=SM80

// A dot over 8 lanes is a sum of products; powers by small numbers are products and roots.
// CHECK-LABEL: func.func @forms
// CHECK-NOT: tile.dot
// CHECK: %d = tile.reduce add {{%.+}} [1] : !tile.tile<16 x 8 x 16 x f32>
// CHECK: [[X2:%.+]] = tile.mul %d, %d
// CHECK-NEXT: %p = tile.mul [[X2]], %d
// A root is no power: of minus infinity it is NaN, and the power 0.
// CHECK: %q = tile.pow %p
func.func @forms(%x: memref<16x8xf32>, %y: memref<8x16xf32>, %out: memref<16x16xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %l = tile.load %x[:, :] : memref<16x8xf32> -> !tile.tile<16 x 8 x f32>
    %r = tile.load %y[:, :] : memref<8x16xf32> -> !tile.tile<8 x 16 x f32>
    %d = tile.dot %l, %r : !tile.tile<16 x 8 x f32>, !tile.tile<8 x 16 x f32> -> !tile.tile<16 x 16 x f32>
    %three = tile.full 3.0 : !tile.tile<16 x 16 x f32>
    %p = tile.pow %d, %three : !tile.tile<16 x 16 x f32>
    %half = tile.full -0.5 : !tile.tile<16 x 16 x f32>
    %q = tile.pow %p, %half : !tile.tile<16 x 16 x f32>
    tile.store %q, %out[:, :] : !tile.tile<16 x 16 x f32>, memref<16x16xf32>
  }
  func.return
}

// Several batch dimensions are one.
// CHECK-LABEL: func.func @batches
// CHECK: tile.dot {{.*}} -> !tile.tile<6 x 16 x 16 x f32>
// CHECK: tile.reshape {{.*}} to !tile.tile<2 x 3 x 16 x 16 x f32>
func.func @batches(%x: memref<2x3x16x16xbf16>, %out: memref<2x3x16x16xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %l = tile.load %x[:, :, :, :] : memref<2x3x16x16xbf16> -> !tile.tile<2 x 3 x 16 x 16 x bf16>
    %d = tile.dot %l, %l : !tile.tile<2 x 3 x 16 x 16 x bf16>, !tile.tile<2 x 3 x 16 x 16 x bf16> -> !tile.tile<2 x 3 x 16 x 16 x f32>
    tile.store %d, %out[:, :, :, :] : !tile.tile<2 x 3 x 16 x 16 x f32>, memref<2x3x16x16xf32>
  }
  func.return
}

// Their accumulator, precision and loops' tags stay.
// CHECK-LABEL: func.func @sums_of_batches
// CHECK: [[L:%[0-9]+]] = tile.reshape %l : !tile.tile<b0=1 x 2 x 16 x 16 x f32> to !tile.tile<2 x 16 x 16 x f32>
// CHECK-NEXT: [[R:%[0-9]+]] = tile.reshape %l : !tile.tile<b0=1 x 2 x 16 x 16 x f32> to !tile.tile<2 x 16 x 16 x f32>
// CHECK-NEXT: [[A:%[0-9]+]] = tile.reshape %l : !tile.tile<b0=1 x 2 x 16 x 16 x f32> to !tile.tile<2 x 16 x 16 x f32>
// CHECK-NEXT: tile.dot [[L]], [[R]], [[A]] precision tf32 : !tile.tile<2 x 16 x 16 x f32>, !tile.tile<2 x 16 x 16 x f32> -> !tile.tile<2 x 16 x 16 x f32>
// CHECK-NEXT: tile.reshape {{.*}} to !tile.tile<1 x 2 x 16 x 16 x f32>
// CHECK-NEXT: triton.retag {{.*}} to !tile.tile<b0=1 x 2 x 16 x 16 x f32>
func.func @sums_of_batches(%x: memref<3x2x16x16xf32>, %out: memref<3x2x16x16xf32>) {
  tile.grid (%i: b0=1) in (3) {
    %l = tile.load %x[%i, :, :, :] : memref<3x2x16x16xf32> -> !tile.tile<b0=1 x 2 x 16 x 16 x f32>
    %d = tile.dot %l, %l, %l precision tf32 : !tile.tile<b0=1 x 2 x 16 x 16 x f32>, !tile.tile<b0=1 x 2 x 16 x 16 x f32> -> !tile.tile<b0=1 x 2 x 16 x 16 x f32>
    tile.store %d, %out[%i, :, :, :] : !tile.tile<b0=1 x 2 x 16 x 16 x f32>, memref<3x2x16x16xf32>
  }
  func.return
}

// One batch dimension is as it should be.
// CHECK-LABEL: func.func @one_batch
// CHECK: %l = tile.load
// CHECK-NEXT: %d = tile.dot %l, %l
// CHECK-NEXT: tile.store %d
func.func @one_batch(%x: memref<3x16x16xbf16>, %out: memref<3x16x16xf32>) {
  tile.grid (%i: b0=2) in (3) {
    %l = tile.load %x[%i, :, :] : memref<3x16x16xbf16> -> !tile.tile<b0=2 x 16 x 16 x bf16>
    %d = tile.dot %l, %l : !tile.tile<b0=2 x 16 x 16 x bf16>, !tile.tile<b0=2 x 16 x 16 x bf16> -> !tile.tile<b0=2 x 16 x 16 x f32>
    tile.store %d, %out[%i, :, :] : !tile.tile<b0=2 x 16 x 16 x f32>, memref<3x16x16xf32>
  }
  func.return
}

// What Triton has for no chip of a vendor is exact there.
// CHECK-LABEL: func.func @precisions
// CHECK: tile.dot %l, %r precision tf32x3
// CHECK: tile.dot %l, %r precision bf16x3
// AMD-LABEL: func.func @precisions
// AMD: tile.dot %l, %r precision ieee
// AMD: tile.dot %l, %r precision bf16x3
func.func @precisions(%x: memref<16x16xf32>, %y: memref<16x16xf32>, %out: memref<2x16x16xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %l = tile.load %x[:, :] : memref<16x16xf32> -> !tile.tile<16 x 16 x f32>
    %r = tile.load %y[:, :] : memref<16x16xf32> -> !tile.tile<16 x 16 x f32>
    %a = tile.dot %l, %r precision tf32x3 : !tile.tile<16 x 16 x f32>, !tile.tile<16 x 16 x f32> -> !tile.tile<16 x 16 x f32>
    tile.store %a, %out[0, :, :] : !tile.tile<16 x 16 x f32>, memref<2x16x16xf32>
    %b = tile.dot %l, %r precision bf16x3 : !tile.tile<16 x 16 x f32>, !tile.tile<16 x 16 x f32> -> !tile.tile<16 x 16 x f32>
    tile.store %b, %out[1, :, :] : !tile.tile<16 x 16 x f32>, memref<2x16x16xf32>
  }
  func.return
}

// Unsigned bytes are signed ones, 128 less.
// CHECK-LABEL: func.func @unsigned
// CHECK: tile.dot {{.*}} : !tile.tile<16 x 32 x i8>, !tile.tile<32 x 16 x i8> -> !tile.tile<16 x 16 x i32>
// CHECK: [[ROWS:%.+]] = tile.reduce add %{{.+}} [1] : !tile.tile<16 x 32 x i32>
// CHECK: [[COLUMNS:%.+]] = tile.reduce add %{{.+}} [0] : !tile.tile<32 x 16 x i32>
func.func @unsigned(%x: memref<16x32xui8>, %y: memref<32x16xui8>, %out: memref<16x16xi32>) {
  tile.grid (%i: b0=1) in (1) {
    %l = tile.load %x[:, :] : memref<16x32xui8> -> !tile.tile<16 x 32 x ui8>
    %r = tile.load %y[:, :] : memref<32x16xui8> -> !tile.tile<32 x 16 x ui8>
    %d = tile.dot %l, %r : !tile.tile<16 x 32 x ui8>, !tile.tile<32 x 16 x ui8> -> !tile.tile<16 x 16 x i32>
    tile.store %d, %out[:, :] : !tile.tile<16 x 16 x i32>, memref<16x16xi32>
  }
  func.return
}

// Truth values are bytes, and few of them are summed.
// CHECK-LABEL: func.func @bools
// CHECK: tile.dot {{.*}} : !tile.tile<16 x 32 x i8>, !tile.tile<32 x 16 x i8> -> !tile.tile<16 x 16 x i32>
// CHECK-NOT: tile.dot
// CHECK: tile.reduce add %{{.+}} [1] : !tile.tile<16 x 16 x 16 x i32>
func.func @bools(%x: memref<16x32xi1>, %y: memref<32x16xi1>, %out: memref<2x16x16xi32>) {
  tile.grid (%i: b0=1) in (1) {
    %l = tile.load %x[:, :] : memref<16x32xi1> -> !tile.tile<16 x 32 x i1>
    %r = tile.load %y[:, :] : memref<32x16xi1> -> !tile.tile<32 x 16 x i1>
    %d = tile.dot %l, %r : !tile.tile<16 x 32 x i1>, !tile.tile<32 x 16 x i1> -> !tile.tile<16 x 16 x i32>
    tile.store %d, %out[0, :, :] : !tile.tile<16 x 16 x i32>, memref<2x16x16xi32>
    %a = tile.load %x[:, 0:16] : memref<16x32xi1> -> !tile.tile<16 x 16 x i1>
    %b = tile.load %y[0:16, :] : memref<32x16xi1> -> !tile.tile<16 x 16 x i1>
    %e = tile.dot %a, %b : !tile.tile<16 x 16 x i1>, !tile.tile<16 x 16 x i1> -> !tile.tile<16 x 16 x i32>
    tile.store %e, %out[1, :, :] : !tile.tile<16 x 16 x i32>, memref<2x16x16xi32>
  }
  func.return
}

// Chips without float8_e4m3fn multiply f16, which has all of its numbers.
// CHECK-LABEL: func.func @e4m3
// CHECK: tile.dot {{.*}} x f8E4M3FN>
// SM80-LABEL: func.func @e4m3
// SM80: [[L:%.+]] = tile.cast %l : !tile.tile<16 x 32 x f8E4M3FN> to !tile.tile<16 x 32 x f16>
// SM80: [[R:%.+]] = tile.cast %r : !tile.tile<32 x 16 x f8E4M3FN> to !tile.tile<32 x 16 x f16>
// SM80: tile.dot [[L]], [[R]] : !tile.tile<16 x 32 x f16>, !tile.tile<32 x 16 x f16> -> !tile.tile<16 x 16 x f32>
func.func @e4m3(%x: memref<16x32xf8E4M3FN>, %y: memref<32x16xf8E4M3FN>, %out: memref<16x16xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %l = tile.load %x[:, :] : memref<16x32xf8E4M3FN> -> !tile.tile<16 x 32 x f8E4M3FN>
    %r = tile.load %y[:, :] : memref<32x16xf8E4M3FN> -> !tile.tile<32 x 16 x f8E4M3FN>
    %d = tile.dot %l, %r : !tile.tile<16 x 32 x f8E4M3FN>, !tile.tile<32 x 16 x f8E4M3FN> -> !tile.tile<16 x 16 x f32>
    tile.store %d, %out[:, :] : !tile.tile<16 x 16 x f32>, memref<16x16xf32>
  }
  func.return
}
