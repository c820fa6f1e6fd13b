// RUN: kopt %s --verify-each -p 'verify-plan{chip=tpu7x}' --split-input-file --verify-diagnostics | filecheck %s

// A plan that can be obeyed stays as it is.
// CHECK-LABEL: func.func @reduction
// CHECK: plan {order [i, k] parallel [i]
// CHECK-NEXT: @x = %a window(i, k) x2
func.func @reduction(%x: memref<64x300xf32>, %out: memref<64xf32>) -> memref<64xf32> {
  %new = host.launch @reduction (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) plan {order [i, k] parallel [i] @x = %a window(i, k) x2 @out = %b window(i) x2} {
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 300) iter(%c = %z) -> (!tile.tile<b0=8 x f32>) schedule grid {
        %v = tile.load %a[%i, %k] via @x : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %n = tile.add %c, %s : !tile.tile<b0=8 x f32>
        tile.yield %n : !tile.tile<b0=8 x f32>
      }
      tile.store %r, %b[%i] via @out : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return %new : memref<64xf32>
}

// -----

// Schedules are checked without a plan, too.
func.func @unrolled(%x: memref<64x300xf32>, %out: memref<64xf32>) -> memref<64xf32> {
  %new = host.launch @unrolled (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) {
      // expected-error @+1 {{the loop cannot be unrolled by 2: it has 3 visits}}
      tile.for %k: b1=128 in (0, 300) schedule resident unroll 2 {
        %v = tile.load %a[%i, %k] : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        tile.store %s, %b[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
      }
    }
  }
  func.return %new : memref<64xf32>
}

// -----

func.func @peeled(%x: memref<64x300xf32>, %out: memref<64xf32>) -> memref<64xf32> {
  %new = host.launch @peeled (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) {
      // expected-error @+1 {{the loop cannot be peeled: no comparison is known to hold in all lanes of its first visits}}
      tile.for %k: b1=128 in (0, 300) schedule resident peel(full | diagonal) {
        %v = tile.load %a[%i, %k] : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        tile.store %s, %b[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
      }
    }
  }
  func.return %new : memref<64xf32>
}

// -----

func.func @ragged(%x: memref<64x300xf32>, %out: memref<64xf32>) -> memref<64xf32> {
  %new = host.launch @ragged (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) {
      // expected-error @+1 {{the loop cannot do 'peel(full | ragged)': no code is made of that yet}}
      tile.for %k: b1=128 in (0, 300) schedule resident peel(full | ragged) {
        %v = tile.load %a[%i, %k] : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        tile.store %s, %b[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
      }
    }
  }
  func.return %new : memref<64xf32>
}

// -----

func.func @no_dimension(%x: memref<64x300xf32>, %out: memref<64x300xf32>) -> memref<64x300xf32> {
  %new = host.launch @no_dimension (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64x300xf32>) -> memref<64x300xf32> {
    tile.grid (%i: b0=8) in (64) {
      // expected-error @+1 {{the loop cannot be a dimension of the grid: it reads what it writes}}
      tile.for %k: b1=128 in (0, 300) schedule grid {
        %v = tile.load %b[%i, %k] : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.store %v, %b[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, memref<64x300xf32>
      }
    }
  }
  func.return %new : memref<64x300xf32>
}

// -----

func.func @no_pipeline(%x: memref<64x300xf32>, %out: memref<64xf32>) -> memref<64xf32> {
  %new = host.launch @no_pipeline (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) {
      %all = tile.load %a[%i, :] : memref<64x300xf32> -> !tile.tile<b0=8 x 300 x f32>
      // expected-error @+1 {{the loop cannot be a pipeline: 'a' is accessed outside of pipelined loops too}}
      tile.for %k: b1=128 in (0, 300) schedule emit_pipeline {
        %v = tile.load %a[%i, %k] : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      }
      %t = tile.reduce add %all [1] : !tile.tile<b0=8 x 300 x f32>
      tile.store %t, %b[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return %new : memref<64xf32>
}

// -----

func.func @kinds(%x: memref<64x300xf32>, %out: memref<64x300xf32>) -> memref<64x300xf32> {
  %new = host.launch @kinds (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64x300xf32>) -> memref<64x300xf32> {
    tile.grid (%i: b0=8) in (64) plan {order [i] @x = %a smem @out = %b window(i) x2} {
      // expected-error @+1 {{'a' cannot stand in a buffer of kind 'smem' here: window}}
      %v = tile.load %a[%i, :] via @x : memref<64x300xf32> -> !tile.tile<b0=8 x 300 x f32>
      tile.store %v, %b[%i, :] via @out : !tile.tile<b0=8 x 300 x f32>, memref<64x300xf32>
    }
  }
  func.return %new : memref<64x300xf32>
}

// -----

func.func @several(%x: memref<64x300xf32>, %out: memref<64x300xf32>) -> memref<64x300xf32> {
  %new = host.launch @several (%a = %x, %b = %out) writes [1] : (memref<64x300xf32>, memref<64x300xf32>) -> memref<64x300xf32> {
    tile.grid (%i: b0=8) in (64) plan {order [i] @x = %a window(i) x2 @y = %a resident(i) x2 @out = %b window(i) x2} {
      %v = tile.load %a[%i, :] via @x : memref<64x300xf32> -> !tile.tile<b0=8 x 300 x f32>
      // expected-error @+1 {{'a' has buffers of several kinds: one serves all accesses of an array}}
      %w = tile.load %a[%i, :] via @y : memref<64x300xf32> -> !tile.tile<b0=8 x 300 x f32>
      %s = tile.add %v, %w : !tile.tile<b0=8 x 300 x f32>
      tile.store %s, %b[%i, :] via @out : !tile.tile<b0=8 x 300 x f32>, memref<64x300xf32>
    }
  }
  func.return %new : memref<64x300xf32>
}

// -----

func.func @axes(%x: memref<64x256xf32>, %out: memref<64x256xf32>) -> memref<64x256xf32> {
  %new = host.launch @axes (%a = %x, %b = %out) writes [1] : (memref<64x256xf32>, memref<64x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=8, %j: b1=128) in (64, 256) plan {order [i, j] @x = %a window(i) x2 @out = %b window(i, j) x2} {
      // expected-error @+1 {{the blocks of 'a' move with (i, j) as 'window' here, not with (i)}}
      %v = tile.load %a[%i, %j] via @x : memref<64x256xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      tile.store %v, %b[%i, %j] via @out : !tile.tile<b0=8 x b1=128 x f32>, memref<64x256xf32>
    }
  }
  func.return %new : memref<64x256xf32>
}

// -----

// Cells that run one after another may do so in any order.
// CHECK-LABEL: func.func @one_by_one
// CHECK: plan {order [j, i]
func.func @one_by_one(%x: memref<64x256xf32>, %out: memref<64x256xf32>) -> memref<64x256xf32> {
  %new = host.launch @one_by_one (%a = %x, %b = %out) writes [1] : (memref<64x256xf32>, memref<64x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=8, %j: b1=128) in (64, 256) ordered [0, 1] plan {order [j, i] @x = %a window(j, i) x2 @out = %b window(j, i) x2} {
      %v = tile.load %a[%i, %j] via @x : memref<64x256xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      tile.store %v, %b[%i, %j] via @out : !tile.tile<b0=8 x b1=128 x f32>, memref<64x256xf32>
    }
  }
  func.return %new : memref<64x256xf32>
}

// -----

// Sums over visits are in the order of the grid and its loop.
func.func @sums(%x: memref<64x256xf32>, %out: memref<64xf32>) -> memref<64xf32> {
  %new = host.launch @sums (%a = %x, %b = %out) writes [1] : (memref<64x256xf32>, memref<64xf32>) -> memref<64xf32> {
    // expected-error @+1 {{the dimensions (k, j) run in the order (j, k)}}
    tile.grid (%i: b0=8, %j: b1=128, %k: b2=1) in (64, 256, 4) reduce [1, 2] plan {order [i, k, j] @x = %a window(i, j) x2 @out = %b window(i) x2} {
      %v = tile.load %a[%i, %j] via @x : memref<64x256xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %s = tile.reduce max %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      tile.store %s, %b[%i] via @out : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return %new : memref<64xf32>
}

// -----

// Cells whose updates can be told apart run in the order that they are written in.
func.func @turns(%n: memref<1xi32>, %out: memref<6x4xi32>) -> (memref<1xi32>, memref<6x4xi32>) {
  %count, %new = host.launch @turns (%a = %n, %b = %out) writes [0, 1] : (memref<1xi32>, memref<6x4xi32>) -> (memref<1xi32>, memref<6x4xi32>) {
    // expected-error @+1 {{the grid runs in the order (i, j): }}
    tile.grid (%i: b0=1, %j: b1=1) in (6, 4) plan {order [j, i] ordered [j, i] @n = %a window @out = %b window(j, i) x2} {
      %one = tile.full 1 : !tile.tile<i32>
      %t = atomic.rmw add %one, %a[0] via @n : !tile.tile<i32>, memref<1xi32> -> !tile.tile<i32>
      %p = tile.begin %i : !tile.range<b0=1>
      %q = tile.begin %j : !tile.range<b1=1>
      tile.store %t, %b[%p, %q] via @out : !tile.tile<i32>, memref<6x4xi32>
    }
  }
  func.return %count, %new : memref<1xi32>, memref<6x4xi32>
}

// -----

// The order and the schedules are the grid's: bytes are counted, of scalar memory here.
func.func @scalars(%x: memref<120000xi32>, %y: memref<120000xi32>, %z: memref<120000xi32>, %out: memref<6x8xi32>) -> memref<6x8xi32> {
  %new = host.launch @scalars (%a = %x, %b = %y, %c = %z, %d = %out) writes [3] : (memref<120000xi32>, memref<120000xi32>, memref<120000xi32>, memref<6x8xi32>) -> memref<6x8xi32> {
    tile.grid (%i: b0=1) in (6) plan {order [i] @x = %a smem @y = %b smem @z = %c smem @out = %d window(i) x2} {
      %at = tile.id %i : !tile.range<b0=1>
      // expected-error @+1 {{the buffers of this launch take 1.4 MiB of SMEM: tpu7x has 1.0 MiB}}
      %p = tile.load %a[%at] via @x : memref<120000xi32> -> !tile.tile<i32>
      %q = tile.load %b[%at] via @y : memref<120000xi32> -> !tile.tile<i32>
      %r = tile.load %c[%at] via @z : memref<120000xi32> -> !tile.tile<i32>
      %s = tile.add %p, %q : !tile.tile<i32>
      %t = tile.add %s, %r : !tile.tile<i32>
      %v = tile.broadcast %t dims [] : !tile.tile<i32> to !tile.tile<8 x i32>
      tile.store %v, %d[%at, :] via @out : !tile.tile<8 x i32>, memref<6x8xi32>
    }
  }
  func.return %new : memref<6x8xi32>
}

// -----

// Windows at loaded numbers, which are there before the grid runs, can be obeyed.
// CHECK-LABEL: func.func @pages
// CHECK: @x = %a window(i) address @n x2
func.func @pages(%x: memref<64x8x128xf32>, %n: memref<6xi32>, %out: memref<6x8x128xf32>) -> memref<6x8x128xf32> {
  %new = host.launch @pages (%a = %x, %m = %n, %b = %out) writes [2] : (memref<64x8x128xf32>, memref<6xi32>, memref<6x8x128xf32>) -> memref<6x8x128xf32> {
    tile.grid (%i: b0=1) in (6) plan {order [i] @x = %a window(i) address @n x2 @n = %m smem whole @out = %b window(i) x2} {
      %at = tile.id %i : !tile.range<b0=1>
      %s = tile.load %m[%at] via @n : memref<6xi32> -> !tile.tile<i32>
      %k = tile.extract %s : !tile.tile<i32> to index
      %v = tile.load %a[%k, :, :] via @x : memref<64x8x128xf32> -> !tile.tile<8 x 128 x f32>
      tile.store %v, %b[%at, :, :] via @out : !tile.tile<8 x 128 x f32>, memref<6x8x128xf32>
    }
  }
  func.return %new : memref<6x8x128xf32>
}

// -----

func.func @late(%x: memref<64x8x128xf32>, %n: memref<6xi32>, %out: memref<6x8x128xf32>) -> memref<6x8x128xf32> {
  %new = host.launch @late (%a = %x, %m = %n, %b = %out) writes [2] : (memref<64x8x128xf32>, memref<6xi32>, memref<6x8x128xf32>) -> memref<6x8x128xf32> {
    tile.grid (%i: b0=1) in (6) plan {order [i] @x = %a window(i) address @n x2 @n = %m smem @out = %b window(i) x2} {
      %at = tile.id %i : !tile.range<b0=1>
      %s = tile.load %m[%at] via @n : memref<6xi32> -> !tile.tile<i32>
      %k = tile.extract %s : !tile.tile<i32> to index
      // expected-error @+1 {{'m' tells where blocks of 'a' are: it has to be 'smem whole'}}
      %v = tile.load %a[%k, :, :] via @x : memref<64x8x128xf32> -> !tile.tile<8 x 128 x f32>
      tile.store %v, %b[%at, :, :] via @out : !tile.tile<8 x 128 x f32>, memref<6x8x128xf32>
    }
  }
  func.return %new : memref<6x8x128xf32>
}

// -----

func.func @whole(%x: memref<64x1024xf32>, %out: memref<64xf32>) -> memref<64xf32> {
  %new = host.launch @whole (%a = %x, %b = %out) writes [1] : (memref<64x1024xf32>, memref<64xf32>) -> memref<64xf32> {
    // expected-error @+1 {{its walks are no loops yet: 'walk-dims' comes before}}
    tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %a: b1=128, passes) @x = %a window(i) x2 @out = %b window(i) x2} {
      %v = tile.load %a[%i, :] via @x : memref<64x1024xf32> -> !tile.tile<b0=8 x 1024 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 1024 x f32>
      tile.store %s, %b[%i] via @out : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return %new : memref<64xf32>
}
