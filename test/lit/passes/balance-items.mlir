// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(balance-items{programs=6},cse)' --remarks 2>&1 | filecheck %s

// Three shares of 50 blocks for each of two columns. What a loop visits for the longest item of a block, and one more.
// CHECK: remark: items are dealt out to 3 programs by the visits of their loops
// CHECK: remark: items are dealt out to 6 programs
// CHECK-LABEL: func.func @sums
// CHECK: [[ENDS:%.+]] = host.slice %offsets [1] [99] [1]
// CHECK: [[BEGINS:%.+]] = host.slice %offsets [0] [99] [1]
// CHECK: %lengths = host.call "aten.sub.Tensor"([[ENDS]], [[BEGINS]])
// CHECK: [[UP:%.+]] = host.call "aten.add.Scalar"(%lengths) args [unit, 15 : i64]
// CHECK: [[VISITS:%.+]] = host.call "aten.floor_divide.default"([[UP]]) args [unit, 16 : i64]
// CHECK: host.call "aten.constant_pad_nd.default"({{%.+}}) args [unit, [0 : i64, 1 : i64], 0 : i64]
// CHECK: host.reshape {{%.+}} : memref<100xi64> to memref<50x2xi64>
// CHECK: %visits = host.call "aten.amax.default"
// CHECK: [[ONE:%.+]] = host.call "aten.add.Scalar"(%visits) args [unit, 1 : i64]
// CHECK: %work = host.call "aten.cumsum.default"([[ONE]])
// CHECK: %total = host.slice %work [49] [1] [1]
// CHECK: host.call "aten.searchsorted.Tensor"(%work, {{%.+}}) args [unit, unit] : (memref<50xi64>, memref<4xi64>)
// CHECK: %first = host.call "aten.clamp.default"({{%.+}}) args [unit, 0 : i64, 99 : i64]
// CHECK: tile.grid (%share: b3=1, %m: b1=32) in (3, 64) {
// CHECK: [[P:%.+]] = tile.begin %share
// CHECK: %share_begin = tile.load %first[[[P]]]
// CHECK: [[FROM:%.+]] = tile.extract %share_begin
// CHECK: %share_end = tile.load %first
// CHECK: [[TO:%.+]] = tile.extract %share_end
// CHECK: tile.for %b: b0=2 in ([[FROM]], [[TO]]) {
// CHECK: jagged.for %k: b2=16
// CHECK: tile.store {{%.+}}, %out[%b, %m]
func.func @sums(%x: memref<1000x64xf32>, %offsets: memref<100xi64>, %out: memref<99x64xf32>) {
  tile.grid (%b: b0=2, %m: b1=32) in (99, 64) {
    %starts = tile.load %offsets[%b] : memref<100xi64> -> !tile.tile<b0=2 x i64>
    %one = arith.constant 1 : index
    %next = tile.shift %b by %one : !tile.range<b0=2>
    %ends = tile.load %offsets[%next] : memref<100xi64> -> !tile.tile<b0=2 x i64>
    %n = tile.sub %ends, %starts : !tile.tile<b0=2 x i64>
    %z = tile.full 0.0 : !tile.tile<b0=2 x b1=32 x f32>
    %s = jagged.for %k: b2=16 in %n iter(%a = %z) -> (!tile.tile<b0=2 x b1=32 x f32>) {
      %rows = jagged.rows %k from %starts : !tile.range<b2=16>, !tile.tile<b0=2 x i64>
      %v = tile.load %x[%rows, %m] : memref<1000x64xf32> -> !tile.tile<b0=2 x b2=16 x b1=32 x f32>
      %p = tile.reduce add %v [1] : !tile.tile<b0=2 x b2=16 x b1=32 x f32>
      %t = tile.add %a, %p : !tile.tile<b0=2 x b1=32 x f32>
      tile.yield %t : !tile.tile<b0=2 x b1=32 x f32>
    }
    tile.store %s, %out[%b, %m] : !tile.tile<b0=2 x b1=32 x f32>, memref<99x64xf32>
  }
  func.return
}

// -----

// A loop in a loop of the same items: the product of their visits. Numbers of 32 bits are made wide first.
// CHECK-LABEL: func.func @pairs
// CHECK: [[A:%.+]] = host.call "prims.convert_element_type.default"({{%.+}}) args [unit, "int64"] : (memref<9xi32>) -> (memref<9xi64>)
// CHECK: %visits = host.call "aten.clamp.default"
// CHECK: host.call "aten.mul.Tensor"(%visits{{[_0-9]*}}, %visits{{[_0-9]*}})
// CHECK: tile.grid (%share: b3=1) in (6)
func.func @pairs(%lengths: memref<9xi32>, %out: memref<9x64x64xf32>) {
  tile.grid (%i: b0=1) in (9) {
    %item = tile.begin %i : !tile.range<b0=1>
    %n = tile.load %lengths[%item] : memref<9xi32> -> !tile.tile<i32>
    %end = tile.extract %n : !tile.tile<i32> to index
    tile.for %j: b1=8 in (0, %end) {
      tile.for %k: b2=16 in (0, %end) {
        %z = tile.full 0.0 : !tile.tile<b1=8 x b2=16 x f32>
        tile.store %z, %out[%item, %j, %k] : !tile.tile<b1=8 x b2=16 x f32>, memref<9x64x64xf32>
      }
    }
  }
  func.return
}

// -----

// Without items there is nothing to search in.
// CHECK-LABEL: func.func @no_items
// CHECK-NEXT: tile.grid (%b: b0=2) in (0)
// CHECK-NOT: host.
func.func @no_items(%x: memref<1000xf32>, %lengths: memref<0xi64>, %out: memref<0xf32>) {
  tile.grid (%b: b0=2) in (0) {
    %n = tile.load %lengths[%b] : memref<0xi64> -> !tile.tile<b0=2 x i64>
    %z = tile.full 0.0 : !tile.tile<b0=2 x f32>
    %s = jagged.for %k: b1=16 in %n iter(%a = %z) -> (!tile.tile<b0=2 x f32>) {
      tile.yield %a : !tile.tile<b0=2 x f32>
    }
    tile.store %s, %out[%b] : !tile.tile<b0=2 x f32>, memref<0xf32>
  }
  func.return
}
