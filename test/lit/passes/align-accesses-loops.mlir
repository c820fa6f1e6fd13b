// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(return-mutated-arguments,functionalise-host,align-accesses{cases=loops},canonicalize,cse)' --remarks 2>&1 | filecheck %s

// Rows from %lo: blocks of 16 begin at multiples of 8; the last may begin at row 88 of the padded 104.
// CHECK-DAG: remark: blocks begin at multiples of 8, at or before the first element
// CHECK-DAG: remark: 'x' is padded to 104 in dimension 0: blocks must end inside it
// CHECK-LABEL: @rows
// CHECK: host.call "aten.constant_pad_nd.default"
// CHECK: %k_first = arith.shrsi %lo
// CHECK: %r = tile.for %k_number: b2=1 in (0, %k_blocks) iter(%a = %z)
// CHECK: [[ROWS:%.+]] = tile.whole 16 : !tile.range<b1=16>
// CHECK: [[LAST:%.+]] = arith.constant 11 : index
// CHECK: [[NEXT:%.+]] = arith.addi %k_first
// CHECK: [[BLOCK:%.+]] = arith.minsi [[NEXT]], [[LAST]]
// CHECK: %k_begin = arith.muli [[BLOCK]]
// CHECK: %k = tile.shift [[ROWS]] by %k_begin
// CHECK: %k_start = arith.maxsi %lo
// CHECK: %v = tile.load %{{.*}}[%k, :] : memref<104x256xf32>
// CHECK: [[SEEN:%.+]] = tile.select %inside, %v,
// CHECK: tile.reduce add [[SEEN]] [0]
func.func @rows(%x: memref<100x256xf32>, %bounds: memref<2xi32>, %out: memref<256xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %s = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %e = tile.load %bounds[1] : memref<2xi32> -> !tile.tile<i32>
    %lo = tile.extract %s : !tile.tile<i32> to index
    %hi = tile.extract %e : !tile.tile<i32> to index
    %z = tile.full 0.0 : !tile.tile<256 x f32>
    %r = tile.for %k: b1=16 in (%lo, %hi) iter(%a = %z) -> (!tile.tile<256 x f32>) {
      %v = tile.load %x[%k, :] : memref<100x256xf32> -> !tile.tile<b1=16 x 256 x f32>
      %t = tile.reduce add %v [0] : !tile.tile<b1=16 x 256 x f32>
      %n = tile.add %a, %t : !tile.tile<256 x f32>
      tile.yield %n : !tile.tile<256 x f32>
    }
    tile.store %r, %out[:] : !tile.tile<256 x f32>, memref<256xf32>
  }
  func.return
}

// -----

// Blocks of another number are counted by a division.
// CHECK-LABEL: @rows_of_24
// CHECK: [[DISTANCE:%.+]] = arith.subi %hi, %{{.+}} : index
// CHECK: [[SIZE:%.+]] = arith.constant 24 : index
// CHECK: arith.ceildivsi [[DISTANCE]], [[SIZE]] : index
func.func @rows_of_24(%x: memref<100x256xf32>, %bounds: memref<2xi32>, %out: memref<256xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %s = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %e = tile.load %bounds[1] : memref<2xi32> -> !tile.tile<i32>
    %lo = tile.extract %s : !tile.tile<i32> to index
    %hi = tile.extract %e : !tile.tile<i32> to index
    %z = tile.full 0.0 : !tile.tile<256 x f32>
    %r = tile.for %k: b1=24 in (%lo, %hi) iter(%a = %z) -> (!tile.tile<256 x f32>) {
      %v = tile.load %x[%k, :] : memref<100x256xf32> -> !tile.tile<b1=24 x 256 x f32>
      %t = tile.reduce add %v [0] : !tile.tile<b1=24 x 256 x f32>
      %n = tile.add %a, %t : !tile.tile<256 x f32>
      tile.yield %n : !tile.tile<256 x f32>
    }
    tile.store %r, %out[:] : !tile.tile<256 x f32>, memref<256xf32>
  }
  func.return
}

// -----

// Rows %lo + k: the shift that all accesses share moves into where blocks begin; the number k is seen shifted back.
// CHECK-LABEL: @shifted
// CHECK: [[FIRST:%.+]] = arith.addi {{.*}}, %lo
// CHECK: %k_first = arith.shrsi
// CHECK: tile.for %k_number: b2=1 in (0, %k_blocks)
// CHECK: [[BACK:%.+]] = arith.subi %k_begin, %lo
// CHECK: [[NUMBERS:%.+]] = tile.shift %{{.*}} by [[BACK]]
// CHECK: tile.index [[NUMBERS]]
func.func @shifted(%x: memref<96x256xf32>, %bounds: memref<2xi32>, %out: memref<i32>) {
  tile.grid (%i: b0=1) in (1) {
    %s = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %e = tile.load %bounds[1] : memref<2xi32> -> !tile.tile<i32>
    %lo = tile.extract %s : !tile.tile<i32> to index
    %count = tile.extract %e : !tile.tile<i32> to index
    %z = tile.full 0 : !tile.tile<i32>
    %r = tile.for %k: b1=16 in (0, %count) iter(%a = %z) -> (!tile.tile<i32>) {
      %row = tile.shift %k by %lo : !tile.range<b1=16>
      %v = tile.load %x[%row, :] : memref<96x256xf32> -> !tile.tile<b1=16 x 256 x f32>
      %m = tile.reduce max %v [1] : !tile.tile<b1=16 x 256 x f32>
      %c = tile.cast %m : !tile.tile<b1=16 x f32> to !tile.tile<b1=16 x i32>
      %number = tile.index %k : !tile.range<b1=16>
      %p = tile.mul %c, %number : !tile.tile<b1=16 x i32>
      %t = tile.reduce add %p [0] : !tile.tile<b1=16 x i32>
      %n = tile.add %a, %t : !tile.tile<i32>
      tile.yield %n : !tile.tile<i32>
    }
    tile.store %r, %out[] : !tile.tile<i32>, memref<i32>
  }
  func.return
}

// -----

// What shifts the range is computed in two places: both are the loop's begin, and the store is masked.
// CHECK-LABEL: @shifted_twice
// CHECK: tile.for %row_number
// CHECK: tile.load %x_1[%row, :]
// CHECK: tile.store %v, %out_2[%row, :] mask %inside
func.func @shifted_twice(%x: memref<96x256xf32>, %bounds: memref<2xi32>, %out: memref<96x256xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %s = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %e = tile.load %bounds[1] : memref<2xi32> -> !tile.tile<i32>
    %lo = tile.extract %s : !tile.tile<i32> to index
    %count = tile.extract %e : !tile.tile<i32> to index
    tile.for %row: b1=16 in (0, %count) {
      %k = tile.shift %row by %lo : !tile.range<b1=16>
      %v = tile.load %x[%k, :] : memref<96x256xf32> -> !tile.tile<b1=16 x 256 x f32>
      %again = tile.extract %s : !tile.tile<i32> to index
      %l = tile.shift %row by %again : !tile.range<b1=16>
      tile.store %v, %out[%l, :] : !tile.tile<b1=16 x 256 x f32>, memref<96x256xf32>
    }
  }
  func.return
}

// -----

// Where a block begins is the kernel's own business here, so the loop stays.
// CHECK-LABEL: @sees_blocks
// CHECK: tile.for %k: b1=16 in (%lo, 96)
func.func @sees_blocks(%x: memref<96x256xf32>, %bounds: memref<2xi32>, %out: memref<96xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %s = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %lo = tile.extract %s : !tile.tile<i32> to index
    tile.for %k: b1=16 in (%lo, 96) {
      %v = tile.load %x[%k, :] : memref<96x256xf32> -> !tile.tile<b1=16 x 256 x f32>
      %m = tile.reduce max %v [0] : !tile.tile<b1=16 x 256 x f32>
      %t = tile.reduce max %m [0] : !tile.tile<256 x f32>
      %begin = tile.begin %k : !tile.range<b1=16>
      tile.store %t, %out[%begin] : !tile.tile<f32>, memref<96xf32>
    }
  }
  func.return
}

// -----

// The sum of the blocks' maxima depends on which rows share a block.
// CHECK-LABEL: @sum_of_maxima
// CHECK: tile.for %k: b1=16 in (%lo, 96)
func.func @sum_of_maxima(%x: memref<96x256xf32>, %bounds: memref<2xi32>, %out: memref<256xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %s = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %lo = tile.extract %s : !tile.tile<i32> to index
    %z = tile.full 0.0 : !tile.tile<256 x f32>
    %r = tile.for %k: b1=16 in (%lo, 96) iter(%a = %z) -> (!tile.tile<256 x f32>) {
      %v = tile.load %x[%k, :] : memref<96x256xf32> -> !tile.tile<b1=16 x 256 x f32>
      %t = tile.reduce max %v [0] : !tile.tile<b1=16 x 256 x f32>
      %n = tile.add %a, %t : !tile.tile<256 x f32>
      tile.yield %n : !tile.tile<256 x f32>
    }
    tile.store %r, %out[:] : !tile.tile<256 x f32>, memref<256xf32>
  }
  func.return
}
