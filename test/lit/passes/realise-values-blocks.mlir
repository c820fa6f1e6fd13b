// RUN: kopt %s --split-input-file --verify-diagnostics -p 'realise-values,cse,dce' | filecheck %s

// What is updated in blocks beside rows: a load, a combination and a store, in cells that run in order.
// CHECK-LABEL: func.func @mixed
// CHECK: ordered [0]
// CHECK: tile.load %{{x_.}}[0, :]
// CHECK: tile.maximum
// CHECK: tile.store %new{{.*}}, %{{x_.}}[0, :]
func.func @mixed(%n: memref<32xi32>, %x: memref<32x8xf32>) -> memref<32x8xf32> {
  %x_1 = host.launch @mixed (%n_1 = %n, %x_2 = %x) writes [1] : (memref<32xi32>, memref<32x8xf32>) -> memref<32x8xf32> {
    tile.grid (%i: b0=16) in (32) plan {order [i] parallel [i]
        @x = %x_2 row_loop} {
      %rows = tile.load %n_1[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.full 1.0 : !tile.tile<b0=16 x 8 x f32>
      %w = tile.full 1.0 : !tile.tile<8 x f32>
      atomic.rmw add %v, %x_2[%rows, :] via @x : !tile.tile<b0=16 x 8 x f32>, memref<32x8xf32>
      atomic.rmw max %w, %x_2[0, :] : !tile.tile<8 x f32>, memref<32x8xf32>
    }
  }
  func.return %x_1 : memref<32x8xf32>
}

// -----

func.func @wide(%n: memref<32xi32>, %x: memref<32xi64>) -> memref<32xi64> {
  %x_1 = host.launch @wide (%n_1 = %n, %x_2 = %x) writes [1] : (memref<32xi32>, memref<32xi64>) -> memref<32xi64> {
    tile.grid (%i: b0=16) in (32) plan {order [i] parallel [i]
        @x = %x_2 one_hot} {
      %rows = tile.load %n_1[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.full 1 : !tile.tile<b0=16 x i64>
      // expected-error @+1 {{'x' of i64 is updated by computed rows: a TPU has no 64-bit elements}}
      atomic.rmw add %v, %x_2[%rows] via @x : !tile.tile<b0=16 x i64>, memref<32xi64>
    }
  }
  func.return %x_1 : memref<32xi64>
}

// -----

func.func @apart(%n: memref<32xi32>, %x: memref<32x4x8xf32>) -> memref<32x4x8xf32> {
  %x_1 = host.launch @apart (%n_1 = %n, %x_2 = %x) writes [1] : (memref<32xi32>, memref<32x4x8xf32>) -> memref<32x4x8xf32> {
    tile.grid (%i: b0=16) in (32) plan {order [i] parallel [i]
        @x = %x_2 row_loop} {
      %rows = tile.load %n_1[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.full 1.0 : !tile.tile<b0=16 x 4 x f32>
      // expected-error @+1 {{an update whose row numbers have another index between them}}
      tile.store %v, %x_2[%rows, :, %rows] via @x : !tile.tile<b0=16 x 4 x f32>, memref<32x4x8xf32>
    }
  }
  func.return %x_1 : memref<32x4x8xf32>
}

// -----

func.func @narrow(%n: memref<32xi32>, %x: memref<32x8xbf16>) -> memref<32x8xbf16> {
  %x_1 = host.launch @narrow (%n_1 = %n, %x_2 = %x) writes [1] : (memref<32xi32>, memref<32x8xbf16>) -> memref<32x8xbf16> {
    tile.grid (%i: b0=16) in (32) plan {order [i] parallel [i]
        @x = %x_2 row_loop} {
      %rows = tile.load %n_1[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.full 1.0 : !tile.tile<b0=16 x 8 x bf16>
      // expected-error @+1 {{'x' is updated by computed rows in one place and accessed by blocks in another}}
      %w = tile.load %x_2[0, :] : memref<32x8xbf16> -> !tile.tile<8 x bf16>
      tile.store %v, %x_2[%rows, :] via @x : !tile.tile<b0=16 x 8 x bf16>, memref<32x8xbf16>
    }
  }
  func.return %x_1 : memref<32x8xbf16>
}

// -----

// Rows first, a square array has the type that it had.
func.func @columns(%n: memref<8xi32>, %x: memref<8x8xf32>) -> memref<8x8xf32> {
  %x_1 = host.launch @columns (%n_1 = %n, %x_2 = %x) writes [1] : (memref<8xi32>, memref<8x8xf32>) -> memref<8x8xf32> {
    tile.grid (%i: b0=8) in (8) plan {order [i] parallel [i]
        @x = %x_2 row_loop} {
      %columns = tile.load %n_1[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
      %v = tile.full 1.0 : !tile.tile<8 x b0=8 x f32>
      // expected-error @+1 {{'x' is updated by computed rows in one place and accessed by blocks in another}}
      %w = tile.load %x_2[0, :] : memref<8x8xf32> -> !tile.tile<8 x f32>
      tile.store %v, %x_2[:, %columns] via @x : !tile.tile<8 x b0=8 x f32>, memref<8x8xf32>
    }
  }
  func.return %x_1 : memref<8x8xf32>
}

// -----

func.func @large(%n: memref<32xi32>, %v: memref<32x40000xf32>, %x: memref<100000x40000xf32>) -> memref<100000x40000xf32> {
  %x_1 = host.launch @large (%n_1 = %n, %v_1 = %v, %x_2 = %x) writes [2] : (memref<32xi32>, memref<32x40000xf32>, memref<100000x40000xf32>) -> memref<100000x40000xf32> {
    tile.grid (%i: b0=16, %j: b1=64) in (32, 40000) plan {order [i, j] parallel [i, j]
        @x = %x_2 row_dma} {
      %rows = tile.load %n_1[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
      %a = tile.load %v_1[%i, %j] : memref<32x40000xf32> -> !tile.tile<b0=16 x b1=64 x f32>
      // expected-error @+1 {{'x' is too large for VMEM, and DMAs cannot move the blocks of its rows}}
      atomic.rmw add %a, %x_2[%rows, %j] via @x : !tile.tile<b0=16 x b1=64 x f32>, memref<100000x40000xf32>
    }
  }
  func.return %x_1 : memref<100000x40000xf32>
}
