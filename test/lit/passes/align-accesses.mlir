// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(return-mutated-arguments,functionalise-host,align-accesses,canonicalize,cse)' --remarks 2>&1 | filecheck %s

// 16 rows from row n on lie in the 24 rows from the multiple of 8 before; the array ends at row 104.
// CHECK: remark: 'x' is padded to 104 in dimension 0: blocks must end inside it
// CHECK-LABEL: @f
// CHECK: [[START:%.+]] = tile.begin
// CHECK: arith.maxsi [[START]]
// CHECK: arith.shrsi
// CHECK: arith.minsi
// CHECK: [[FIRST:%.+]] = arith.muli
// CHECK: [[ROWS:%.+]] = tile.whole 24 : !tile.range<b1=24>
// CHECK: [[PLACE:%.+]] = tile.shift [[ROWS]] by [[FIRST]]
// CHECK: [[SKIP:%.+]] = arith.subi [[START]], [[FIRST]]
// CHECK: [[BLOCK:%.+]] = tile.load %{{.*}}[[[PLACE]], :] : memref<104x256xf32> -> !tile.tile<b1=24 x 256 x f32>
// CHECK: tile.dynamic_slice [[BLOCK]] from [[SKIP]] dim 0 : !tile.tile<b1=24 x 256 x f32> to !tile.tile<b0=16 x 256 x f32>
// CHECK-NOT: memref<100x256xf32> ->
func.func @f(%x: memref<100x256xf32>, %shift: memref<1xi32>, %out: memref<80x256xf32>) {
  tile.grid (%i: b0=16) in (80) {
    %s = tile.load %shift[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %s : !tile.tile<i32> to index
    %r = tile.shift %i by %n : !tile.range<b0=16>
    %v = tile.load %x[%r, :] : memref<100x256xf32> -> !tile.tile<b0=16 x 256 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<80x256xf32>
  }
  func.return
}

// An array that is read at its blocks' multiples is left alone.
// CHECK-LABEL: @aligned
// CHECK-NOT: tile.dynamic_slice
func.func @aligned(%x: memref<100x256xf32>, %out: memref<100x256xf32>) {
  tile.grid (%i: b1=16) in (100) {
    %v = tile.load %x[%i, :] : memref<100x256xf32> -> !tile.tile<b1=16 x 256 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b1=16 x 256 x f32>, memref<100x256xf32>
  }
  func.return
}

// Single rows at computed places of an array that is also read in blocks come from an operand of their own.
// CHECK-LABEL: @row_and_block
// CHECK: host.launch @row_and_block ({{.*}}[[ALL:%x_.]] = %x, {{.*}}, [[ROW:%x_.]] = %x)
// CHECK: tile.load [[ALL]][%i, 0]
// CHECK: tile.load [[ROW]][%n, 0]
func.func @row_and_block(%x: memref<100x2xf32>, %at: memref<1xi32>, %out: memref<100x2xf32>) {
  tile.grid (%i: b2=10) in (100) {
    %s = tile.load %at[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %s : !tile.tile<i32> to index
    %v = tile.load %x[%i, 0] : memref<100x2xf32> -> !tile.tile<b2=10 x f32>
    %row = tile.load %x[%n, 0] : memref<100x2xf32> -> !tile.tile<f32>
    %all = tile.broadcast %row dims [] : !tile.tile<f32> to !tile.tile<b2=10 x f32>
    %sum = tile.add %v, %all : !tile.tile<b2=10 x f32>
    tile.store %sum, %out[%i, 0] : !tile.tile<b2=10 x f32>, memref<100x2xf32>
  }
  func.return
}

// Dimension 2 has one element a cell, so dimension 1 stands along the lanes: its single elements and blocks of 16 are
// cut out of 128. What the grid picks stays as it is.
// CHECK-LABEL: @elements
// CHECK: tile.whole 128 : !tile.range<b2=128>
// CHECK: [[ROW:%.+]] = tile.load %{{.+}}[%{{[a-z0-9]+}}, [[PLACE:%.+]], %{{[a-z0-9]+}}] : memref<3x128x900xf32> -> !tile.tile<b2=128 x f32>
// CHECK: [[LANE:%.+]] = tile.dynamic_slice [[ROW]] from %{{.+}} dim 0 : !tile.tile<b2=128 x f32> to !tile.tile<1 x f32>
// CHECK: tile.reshape [[LANE]] : !tile.tile<1 x f32> to !tile.tile<f32>
// CHECK: tile.dynamic_slice %{{.+}} dim 0 : !tile.tile<b3=128 x f32> to !tile.tile<b1=16 x f32>
func.func @elements(%x: memref<3x70x900xf32>, %out: memref<3x70x900xf32>) {
  tile.grid (%i: b0=1, %j: b4=1) in (3, 2) {
    %n = tile.begin %i : !tile.range<b0=1>
    %m = tile.begin %j : !tile.range<b4=1>
    tile.for %k: b1=16 in (0, 70) {
      %last = tile.end %k : !tile.range<b1=16>
      %one = arith.constant 1 : index
      %p = arith.subi %last, %one : index
      %s = tile.load %x[%n, %p, %m] : memref<3x70x900xf32> -> !tile.tile<f32>
      %v = tile.load %x[%n, %k, %m] : memref<3x70x900xf32> -> !tile.tile<b1=16 x f32>
      %b = tile.broadcast %s dims [] : !tile.tile<f32> to !tile.tile<b1=16 x f32>
      %d = tile.sub %v, %b : !tile.tile<b1=16 x f32>
      tile.store %d, %out[%n, %k, %m] : !tile.tile<b1=16 x f32>, memref<3x70x900xf32>
    }
  }
  func.return
}

// A loop over one block of the grid has fewer visits in the last cell, so it stays in the kernel: its parts of 32 lanes
// are cut out of 128. Where all cells have as many visits, the parts may be blocks of a grid.
// CHECK-LABEL: @parts
// CHECK: tile.dynamic_slice %{{.+}} dim 1 : !tile.tile<b0=8 x b3=128 x f32> to !tile.tile<b0=8 x b2=32 x f32>
// CHECK-LABEL: @equal_parts
// CHECK-NOT: tile.dynamic_slice
func.func @parts(%x: memref<8x200xf32>, %out: memref<8x200xf32>) {
  tile.grid (%i: b0=8, %j: b1=128) in (8, 200) {
    %begin = tile.begin %j : !tile.range<b1=128>
    %end = tile.end %j : !tile.range<b1=128>
    tile.for %k: b2=32 in (%begin, %end) {
      %v = tile.load %x[%i, %k] : memref<8x200xf32> -> !tile.tile<b0=8 x b2=32 x f32>
      tile.store %v, %out[%i, %k] : !tile.tile<b0=8 x b2=32 x f32>, memref<8x200xf32>
    }
  }
  func.return
}
func.func @equal_parts(%x: memref<8x256xf32>, %out: memref<8x256xf32>) {
  tile.grid (%i: b0=8, %j: b1=128) in (8, 256) {
    %begin = tile.begin %j : !tile.range<b1=128>
    %end = tile.end %j : !tile.range<b1=128>
    tile.for %k: b2=32 in (%begin, %end) {
      %v = tile.load %x[%i, %k] : memref<8x256xf32> -> !tile.tile<b0=8 x b2=32 x f32>
      tile.store %v, %out[%i, %k] : !tile.tile<b0=8 x b2=32 x f32>, memref<8x256xf32>
    }
  }
  func.return
}

// Narrow elements at computed lanes come from a copy of words, for scalar memory; blocks stay narrow.
// CHECK-LABEL: func.func @narrow_scalars
// CHECK: [[C:%.+]] = host.call "prims.convert_element_type.default"(%s) args [unit, "i32"] : (memref<64xi8>) -> (memref<64xi32>)
// CHECK: host.launch @narrow_scalars {{.*}} = [[C]]
// CHECK: tile.load {{%.+}}[%n] : memref<64xi32> -> !tile.tile<i32>
// CHECK: tile.load {{%.+}}[:] : memref<64xi8> -> !tile.tile<64 x i8>
func.func @narrow_scalars(%x: memref<16x64xi32>, %s: memref<64xi8>, %at: memref<16xi32>) {
  tile.grid (%i: b0=1) in (16) {
    %k = tile.begin %i : !tile.range<b0=1>
    %a = tile.load %at[%k] : memref<16xi32> -> !tile.tile<i32>
    %n = tile.extract %a : !tile.tile<i32> to index
    %v = tile.load %s[%n] : memref<64xi8> -> !tile.tile<i8>
    %f = tile.cast %v : !tile.tile<i8> to !tile.tile<i32>
    %w = tile.broadcast %f dims [] : !tile.tile<i32> to !tile.tile<64 x i32>
    %b = tile.load %s[:] : memref<64xi8> -> !tile.tile<64 x i8>
    %c = tile.cast %b : !tile.tile<64 x i8> to !tile.tile<64 x i32>
    %d = tile.add %w, %c : !tile.tile<64 x i32>
    tile.store %d, %x[%k, :] : !tile.tile<64 x i32>, memref<16x64xi32>
  }
  func.return
}

// Blocks from a loaded row on of an array beyond VMEM end inside it: 128 rows from a multiple of 8 up to the last 128.
// CHECK-LABEL: func.func @beyond
// CHECK: [[A:%.+]] = arith.shrsi
// CHECK: [[B:%.+]] = arith.minsi [[A]], {{%.+}} : index
// CHECK: [[P:%.+]] = tile.shift {{%.+}} by {{%.+}} : !tile.range<[[T:b[0-9]+]]=128>
// CHECK: [[V:%.+]] = tile.load {{%.+}}[[[P]], :] : memref<33600x256xf32> -> !tile.tile<[[T]]=128 x 256 x f32>
// CHECK: tile.dynamic_slice [[V]] from {{%.+}} dim 0 : !tile.tile<[[T]]=128 x 256 x f32> to !tile.tile<b1=128 x 256 x f32>
func.func @beyond(%x: memref<33600x256xf32>, %at: memref<16xi32>, %out: memref<16x200x256xf32>) {
  tile.grid (%i: b0=1, %j: b1=128) in (16, 200) {
    %k = tile.begin %i : !tile.range<b0=1>
    %a = tile.load %at[%k] : memref<16xi32> -> !tile.tile<i32>
    %n = tile.extract %a : !tile.tile<i32> to index
    %size = arith.constant 200 : index
    %first = arith.muli %n, %size : index
    %r = tile.shift %j by %first : !tile.range<b1=128>
    %v = tile.load %x[%r, :] : memref<33600x256xf32> -> !tile.tile<b1=128 x 256 x f32>
    tile.store %v, %out[%k, %j, :] : !tile.tile<b1=128 x 256 x f32>, memref<16x200x256xf32>
  }
  func.return
}

// 16 rows of bytes of such an array begin inside a tile of 32: those 32 come.
// CHECK-LABEL: func.func @in_a_tile
// CHECK: [[P:%.+]] = tile.shift {{%.+}} by {{%.+}} : !tile.range<[[T:b[0-9]+]]=32>
// CHECK: [[V:%.+]] = tile.load {{%.+}}[[[P]], :] : memref<262144x256xui8> -> !tile.tile<[[T]]=32 x 256 x ui8>
// CHECK: tile.dynamic_slice [[V]] from {{%.+}} dim 0 : !tile.tile<[[T]]=32 x 256 x ui8> to !tile.tile<b1=16 x 256 x ui8>
func.func @in_a_tile(%x: memref<262144x256xui8>, %at: memref<16xi32>, %out: memref<16x16x256xui8>) {
  tile.grid (%i: b0=1, %j: b1=16) in (16, 16) {
    %k = tile.begin %i : !tile.range<b0=1>
    %a = tile.load %at[%k] : memref<16xi32> -> !tile.tile<i32>
    %n = tile.extract %a : !tile.tile<i32> to index
    %size = arith.constant 16 : index
    %first = arith.muli %n, %size : index
    %r = tile.shift %j by %first : !tile.range<b1=16>
    %v = tile.load %x[%r, :] : memref<262144x256xui8> -> !tile.tile<b1=16 x 256 x ui8>
    tile.store %v, %out[%k, %j, :] : !tile.tile<b1=16 x 256 x ui8>, memref<16x16x256xui8>
  }
  func.return
}

// The last row of each block is the eighth of eight that begin at a multiple of 8: nothing of it is computed.
// CHECK-LABEL: @last_rows
// CHECK: [[FIRST:%.+]] = tile.begin %i
// CHECK-NOT: arith.minsi
// CHECK: [[PLACE:%.+]] = tile.shift {{%.+}} by [[FIRST]] : !tile.range<[[TAG:b[0-9]+]]=8>
// CHECK: [[BLOCK:%.+]] = tile.load {{%.+}}[[[PLACE]], :]
// CHECK: tile.dynamic_slice [[BLOCK]] from %{{.+}} dim 0 : !tile.tile<[[TAG]]=8 x 256 x f32> to !tile.tile<1 x 256 x f32>
// Nine rows on begins the second of the next eight.
// CHECK: [[NEXT:%.+]] = arith.addi [[FIRST]], %{{.+}} : index
// CHECK: tile.shift {{%.+}} by [[NEXT]]
func.func @last_rows(%x: memref<96x256xf32>, %y: memref<104x256xf32>, %out: memref<96x256xf32>) {
  %seven = arith.constant 7 : index
  tile.grid (%i: b3=8) in (96) {
    %a = tile.begin %i : !tile.range<b3=8>
    %last = arith.addi %a, %seven : index
    %v = tile.load %x[%i, :] : memref<96x256xf32> -> !tile.tile<b3=8 x 256 x f32>
    %w = tile.load %y[%i, :] : memref<104x256xf32> -> !tile.tile<b3=8 x 256 x f32>
    %row = tile.load %x[%last, :] : memref<96x256xf32> -> !tile.tile<256 x f32>
    %two = arith.constant 2 : index
    %beyond = arith.addi %last, %two : index
    %other = tile.load %y[%beyond, :] : memref<104x256xf32> -> !tile.tile<256 x f32>
    %both = tile.add %row, %other : !tile.tile<256 x f32>
    %all = tile.broadcast %both dims [1] : !tile.tile<256 x f32> to !tile.tile<b3=8 x 256 x f32>
    %sum = tile.add %v, %all : !tile.tile<b3=8 x 256 x f32>
    %more = tile.add %sum, %w : !tile.tile<b3=8 x 256 x f32>
    tile.store %more, %out[%i, :] : !tile.tile<b3=8 x 256 x f32>, memref<96x256xf32>
  }
  func.return
}

// Parts of rows by numbers, which begin anywhere: gathers have kinds of buffers of their own.
// CHECK-LABEL: @gathered
// CHECK: [[K:%.+]] = tile.shift %j by %p
// CHECK-NEXT: %v = tile.load %{{.*}}[%r, [[K]]] : memref<100x96xf32> -> !tile.tile<b0=8 x b1=24 x f32>
// CHECK-NEXT: tile.store %v
func.func @gathered(%x: memref<100x96xf32>, %at: memref<64xi32>, %out: memref<64x96xf32>) {
  tile.grid (%i: b0=8, %j: b1=24) in (64, 96) {
    %r = tile.load %at[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
    %q = tile.load %at[3] : memref<64xi32> -> !tile.tile<i32>
    %p = tile.extract %q : !tile.tile<i32> to index
    %k = tile.shift %j by %p : !tile.range<b1=24>
    %v = tile.load %x[%r, %k] : memref<100x96xf32> -> !tile.tile<b0=8 x b1=24 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=8 x b1=24 x f32>, memref<64x96xf32>
  }
  func.return
}

// Elements of a narrow array that 32-bit words of scalar memory do not hold stay where they are.
// CHECK-LABEL: func.func @large_scalars
// CHECK-NEXT: %y_1 = host.call "prims.convert_element_type.default"(%y) args [unit, "f32"] : (memref<8x512xbf16>) -> (memref<8x512xf32>)
// CHECK-NEXT: %out_1 = host.launch @large_scalars (%at_1 = %at, %x_1 = %x, %y_2 = %y, %out_2 = %out, %y_3 = %y_1) writes [3] : (memref<8xi32>, memref<8x400000xbf16>, memref<8x512xbf16>, memref<8x2xf32>, memref<8x512xf32>) -> memref<8x2xf32> {
// CHECK-NEXT: tile.grid (%i: b0=1) in (8) {
// CHECK-NEXT: %b = tile.begin %i : !tile.range<b0=1>
// CHECK-NEXT: %n = tile.load %at_1[%b] : memref<8xi32> -> !tile.tile<i32>
// CHECK-NEXT: %k = tile.extract %n : !tile.tile<i32> to index
// CHECK-NEXT: %v = tile.load %x_1[%b, %k] : memref<8x400000xbf16> -> !tile.tile<bf16>
// CHECK-NEXT: %f = tile.cast %v : !tile.tile<bf16> to !tile.tile<f32>
// CHECK-NEXT: tile.store %f, %out_2[%b, 0] : !tile.tile<f32>, memref<8x2xf32>
// CHECK-NEXT: %g = tile.load %y_3[%b, %k] : memref<8x512xf32> -> !tile.tile<f32>
// CHECK-NEXT: tile.store %g, %out_2[%b, 1] : !tile.tile<f32>, memref<8x2xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out_1 : memref<8x2xf32>
func.func @large_scalars(%x: memref<8x400000xbf16>, %y: memref<8x512xbf16>, %at: memref<8xi32>, %out: memref<8x2xf32>) {
  tile.grid (%i: b0=1) in (8) {
    %b = tile.begin %i : !tile.range<b0=1>
    %n = tile.load %at[%b] : memref<8xi32> -> !tile.tile<i32>
    %k = tile.extract %n : !tile.tile<i32> to index
    %v = tile.load %x[%b, %k] : memref<8x400000xbf16> -> !tile.tile<bf16>
    %f = tile.cast %v : !tile.tile<bf16> to !tile.tile<f32>
    tile.store %f, %out[%b, 0] : !tile.tile<f32>, memref<8x2xf32>
    %w = tile.load %y[%b, %k] : memref<8x512xbf16> -> !tile.tile<bf16>
    %g = tile.cast %w : !tile.tile<bf16> to !tile.tile<f32>
    tile.store %g, %out[%b, 1] : !tile.tile<f32>, memref<8x2xf32>
  }
  func.return
}
