// RUN: kopt %s -p 'expand-collectives,verify-barriers' --split-input-file | filecheck %s
// RUN: kopt %s -p 'expand-collectives{kind=one-shot}' --split-input-file | filecheck %s --check-prefix=SHOT

// A part is multiplied while the next one travels; the gathered array is there too.
// CHECK-LABEL: func.func @product
// CHECK: "aten.constant_pad_nd.default"(%x) args [unit, [0 : i64, 58 : i64, 0 : i64, 3 : i64]
// CHECK: "aten.constant_pad_nd.default"(%w) args [unit, [0 : i64, 106 : i64, 0 : i64, 58 : i64]
// CHECK: pallas.call @product_all_gather_mm({{.*}} (memref<8x128xf32>, memref<128x256xf32>) -> (memref<4x8x128xf32>, memref<4x8x256xf32>)
// CHECK: tile.for %step: b1=1 in (0, 4) {
// CHECK: symm.remote_copy %gathered[%place, :, :] to %gathered[%place, :, :] on %right signal %sent[0], %received[%{{step.*}}]
// CHECK: arith.cmpi ult, %{{step.*}}, %{{.*}} : index
// CHECK-NEXT: scf.if
// CHECK-NEXT: symm.remote_copy_start %copy
// CHECK: pallas.dma_wait %weight[:, %j] to %columns[:, :]
// CHECK: pallas.dma_wait %gathered[%place, %i, :] to %rows[:, :]
// CHECK: tile.dot {{.*}} precision ieee
// CHECK: pallas.dma_wait %block[:, :] to %out[%place, %i, %j]
// CHECK: symm.remote_copy_wait send %copy
// CHECK-NEXT: symm.remote_copy_wait receive %copy
// CHECK: host.slice {{.*}} [0, 0, 0] [4, 5, 70] [1, 1, 1]
// CHECK: host.slice {{.*}} [0, 0, 0] [4, 5, 150] [1, 1, 1]
// CHECK-NOT: aten.mm
// SHOT-LABEL: func.func @product
// SHOT: pallas.call @product_all_gather(
// SHOT: aten.mm
func.func @product(%x: memref<5x70xf32>, %w: memref<70x150xf32>) -> (memref<20x150xf32>, memref<20x70xf32>) {
  %g = symm.all_gather %x group "tp" : memref<5x70xf32> to memref<20x70xf32>
  %y = host.call "aten.mm.default"(%g, %w) args [unit, unit] : (memref<20x70xf32>, memref<70x150xf32>) -> (memref<20x150xf32>)
  func.return %y, %g : memref<20x150xf32>, memref<20x70xf32>
}

// -----

// A product whose other side is made, or written, after the gathering stays where it is; so does one of integers.
// CHECK-LABEL: func.func @apart
// CHECK: aten.mm
// CHECK: aten.mm
// CHECK: aten.mm
func.func @apart(%x: memref<5x70xf32>, %w: memref<70x70xf32>, %v: memref<70x70xf32>, %n: memref<5x70xi32>, %m: memref<70x70xi32>) {
  %g = symm.all_gather %x group "tp" : memref<5x70xf32> to memref<20x70xf32>
  %e = host.call "aten.exp.default"(%w) args [unit] : (memref<70x70xf32>) -> (memref<70x70xf32>)
  %y = host.call "aten.mm.default"(%g, %e) args [unit, unit] : (memref<20x70xf32>, memref<70x70xf32>) -> (memref<20x70xf32>)
  %h = symm.all_gather %x group "tp" : memref<5x70xf32> to memref<20x70xf32>
  host.copy %w to %v : memref<70x70xf32>, memref<70x70xf32>
  %z = host.call "aten.mm.default"(%h, %v) args [unit, unit] : (memref<20x70xf32>, memref<70x70xf32>) -> (memref<20x70xf32>)
  %i = symm.all_gather %n group "tp" : memref<5x70xi32> to memref<20x70xi32>
  %a = host.call "aten.mm.default"(%i, %m) args [unit, unit] : (memref<20x70xi32>, memref<70x70xi32>) -> (memref<20x70xi32>)
  func.return
}

// -----

// So does one without columns, and one of rows that are too long to be kept.
// CHECK-LABEL: func.func @sizes
// CHECK: aten.mm
// CHECK: aten.mm
// CHECK: pallas.call @sizes_all_gather_mm
// CHECK-NOT: aten.mm
func.func @sizes(%x: memref<5x70xf32>, %w: memref<70x0xf32>, %l: memref<8x8193xf32>, %v: memref<8193x128xf32>, %k: memref<8x8192xf32>, %u: memref<8192x128xf32>) {
  %g = symm.all_gather %x group "tp" : memref<5x70xf32> to memref<20x70xf32>
  %y = host.call "aten.mm.default"(%g, %w) args [unit, unit] : (memref<20x70xf32>, memref<70x0xf32>) -> (memref<20x0xf32>)
  %h = symm.all_gather %l group "tp" : memref<8x8193xf32> to memref<32x8193xf32>
  %z = host.call "aten.mm.default"(%h, %v) args [unit, unit] : (memref<32x8193xf32>, memref<8193x128xf32>) -> (memref<32x128xf32>)
  %i = symm.all_gather %k group "tp" : memref<8x8192xf32> to memref<32x8192xf32>
  %a = host.call "aten.mm.default"(%i, %u) args [unit, unit] : (memref<32x8192xf32>, memref<8192x128xf32>) -> (memref<32x128xf32>)
  func.return
}
