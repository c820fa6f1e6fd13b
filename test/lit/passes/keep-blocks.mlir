// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(return-mutated-arguments,functionalise-host,eliminate-output-only,keep-blocks{chip=v4})' --remarks 2>&1 | filecheck %s

// CHECK: remark: blocks of 'x' are kept for 1 later loop

// A row is 4.5 MiB: VMEM holds it once, and not twice.
// CHECK-LABEL: @kept
// CHECK: host.launch @kept{{.*}} yields (%[[OUT:.*]] : memref<16x147456xf32>, %kept_x : memref<16x147456xf32>)
// CHECK: %v = tile.load %x{{.*}}[%i, %k]
// CHECK-NEXT: tile.store %v, %kept_x[%i, %k]
// CHECK: %w = tile.load %kept_x[%i, %l]
func.func @kept(%x: memref<16x147456xf32>, %out: memref<16x147456xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %t = tile.for %k: b1=16384 in (0, 147456) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<16x147456xf32> -> !tile.tile<b0=8 x b1=16384 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=16384 x f32>
      %b = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %b : !tile.tile<b0=8 x f32>
    }
    tile.for %l: b2=16384 in (0, 147456) {
      %w = tile.load %x[%i, %l] : memref<16x147456xf32> -> !tile.tile<b0=8 x b2=16384 x f32>
      %u = tile.broadcast %t dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x b2=16384 x f32>
      %d = tile.sub %w, %u : !tile.tile<b0=8 x b2=16384 x f32>
      tile.store %d, %out[%i, %l] : !tile.tile<b0=8 x b2=16384 x f32>, memref<16x147456xf32>
    }
  }
  func.return
}

// -----

// The loops walk other blocks.
// CHECK-LABEL: @other_blocks
// CHECK-NOT: kept
// CHECK: func.return
func.func @other_blocks(%x: memref<16x147456xf32>, %out: memref<16x147456xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %t = tile.for %k: b1=16384 in (0, 147456) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<16x147456xf32> -> !tile.tile<b0=8 x b1=16384 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=16384 x f32>
      %b = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %b : !tile.tile<b0=8 x f32>
    }
    tile.for %l: b2=8192 in (0, 147456) {
      %w = tile.load %x[%i, %l] : memref<16x147456xf32> -> !tile.tile<b0=8 x b2=8192 x f32>
      %u = tile.broadcast %t dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x b2=8192 x f32>
      %d = tile.sub %w, %u : !tile.tile<b0=8 x b2=8192 x f32>
      tile.store %d, %out[%i, %l] : !tile.tile<b0=8 x b2=8192 x f32>, memref<16x147456xf32>
    }
  }
  func.return
}

// -----

// Rows of 3 MiB fit twice beside blocks of the results: nothing takes less time than a window that has them for both loops.
// CHECK-LABEL: @window
// CHECK-NOT: kept
// CHECK: func.return
func.func @window(%x: memref<16x98304xf32>, %out: memref<16x98304xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %t = tile.for %k: b1=16384 in (0, 98304) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<16x98304xf32> -> !tile.tile<b0=8 x b1=16384 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=16384 x f32>
      %b = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %b : !tile.tile<b0=8 x f32>
    }
    tile.for %l: b2=16384 in (0, 98304) {
      %w = tile.load %x[%i, %l] : memref<16x98304xf32> -> !tile.tile<b0=8 x b2=16384 x f32>
      %u = tile.broadcast %t dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x b2=16384 x f32>
      %d = tile.sub %w, %u : !tile.tile<b0=8 x b2=16384 x f32>
      tile.store %d, %out[%i, %l] : !tile.tile<b0=8 x b2=16384 x f32>, memref<16x98304xf32>
    }
  }
  func.return
}
