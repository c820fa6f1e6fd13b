// What random bits refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @offset(%x: memref<8xi16>, %s: memref<i32>) {
  %n = tile.load %x[:] : memref<8xi16> -> !tile.tile<8 x i16>
  %k = tile.load %s[] : memref<i32> -> !tile.tile<i32>
  // expected-error @+1 {{tile.philox counts in i32 or i64, found i16: cast first}}
  %a, %b, %c, %d = tile.philox %n key %k, %k : !tile.tile<8 x i16>
  func.return
}

// -----

func.func @key(%x: memref<8xi32>) {
  %n = tile.load %x[:] : memref<8xi32> -> !tile.tile<8 x i32>
  // expected-error @+1 {{operand is used with type !tile.tile<i32>, but has been previously used or defined with type !tile.tile<8 x i32>}}
  %a, %b, %c, %d = tile.philox %n key %n, %n : !tile.tile<8 x i32>
  func.return
}

// -----

func.func @words(%x: memref<8xi64>, %s: memref<i32>) {
  %n = tile.load %x[:] : memref<8xi64> -> !tile.tile<8 x i64>
  %k = tile.load %s[] : memref<i32> -> !tile.tile<i32>
  // expected-error @+1 {{tile.philox gives !tile.tile<8 x i32>, !tile.tile<8 x i32>, !tile.tile<8 x i32>, !tile.tile<8 x i32>, found !tile.tile<8 x i32>}}
  %a = "tile.philox"(%n, %k, %k) : (!tile.tile<8 x i64>, !tile.tile<i32>, !tile.tile<i32>) -> !tile.tile<8 x i32>
  func.return
}
