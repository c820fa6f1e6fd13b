// RUN: kopt %s --split-input-file --verify-diagnostics -p 'realise-values'

// Gathers have a buffer, of a kind that they may have, and nothing more is said of it.
func.func @none(%arg0: memref<64xi32>, %arg1: memref<300x256xf32>, %arg2: memref<64x256xf32>) -> memref<64x256xf32> {
  %r = host.launch @none (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<300x256xf32>, memref<64x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=16) in (64) {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      // expected-error @+1 {{'x' has no buffer here}}
      %v = tile.load %x[%rows, :] : memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r : memref<64x256xf32>
}

// -----

func.func @block(%arg0: memref<64xi32>, %arg1: memref<300x256xf32>, %arg2: memref<64x256xf32>) -> memref<64x256xf32> {
  %r = host.launch @block (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<300x256xf32>, memref<64x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x window} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      // expected-error @+1 {{'x' cannot stand in a buffer of kind 'window' here: rows or one_hot}}
      %v = tile.load %x[%rows, :] via @x : memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r : memref<64x256xf32>
}

// -----

func.func @picked(%arg0: memref<64xi32>, %arg1: memref<300x256xf32>, %arg2: memref<64x256xf32>) -> memref<64x256xf32> {
  %r = host.launch @picked (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<300x256xf32>, memref<64x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x pick} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      // expected-error @+1 {{'x' cannot stand in a buffer of kind 'pick' here: rows or one_hot}}
      %v = tile.load %x[%rows, :] via @x : memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r : memref<64x256xf32>
}

// -----

func.func @words(%arg0: memref<64xi32>, %arg1: memref<300x256xf32>, %arg2: memref<64x256xf32>) -> memref<64x256xf32> {
  %r = host.launch @words (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<300x256xf32>, memref<64x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x rows(i) outstanding 64} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      // expected-error @+1 {{no Pallas code is made of '@x = %x rows(i) outstanding 64' yet: it has a kind alone}}
      %v = tile.load %x[%rows, :] via @x : memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r : memref<64x256xf32>
}

// -----

// What is picked is in the block that it is picked from.
func.func @elsewhere(%arg0: memref<64xi32>, %arg1: memref<300x256xf32>, %arg2: memref<64x256xf32>) -> memref<64x256xf32> {
  %r = host.launch @elsewhere (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<300x256xf32>, memref<64x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @b = %x window @x = %x pick from @b} {
      %b = tile.load %x[0, :] via @b : memref<300x256xf32> -> !tile.tile<256 x f32>
      %w = tile.broadcast %b dims [1] : !tile.tile<256 x f32> to !tile.tile<b0=16 x 256 x f32>
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      // expected-error @+1 {{'x' cannot be 'pick from @b' here: rows or one_hot}}
      %v = tile.load %x[%rows, :] via @x : memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      %u = tile.add %v, %w : !tile.tile<b0=16 x 256 x f32>
      tile.store %u, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r : memref<64x256xf32>
}

// -----

// An ordinary block is at no computed place.
func.func @ordinary(%arg0: memref<64xi32>, %arg1: memref<64x256xf32>, %arg2: memref<64x256xf32>) -> memref<64x256xf32> {
  %r = host.launch @ordinary (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<64x256xf32>, memref<64x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x one_hot} {
      // expected-error @+1 {{'x' cannot stand in a buffer of kind 'one_hot' here: it is at no computed place}}
      %v = tile.load %x[%i, :] via @x : memref<64x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r : memref<64x256xf32>
}

// -----

// Previous values need the rows' order: no product.
func.func @previous(%arg0: memref<64xi32>, %arg1: memref<64x256xf32>, %arg2: memref<64x256xf32>, %arg3: memref<300x256xf32>) -> memref<300x256xf32> {
  %r:2 = host.launch @previous (%n = %arg0, %x = %arg1, %y = %arg2, %out = %arg3) writes [2, 3] : (memref<64xi32>, memref<64x256xf32>, memref<64x256xf32>, memref<300x256xf32>) -> (memref<64x256xf32>, memref<300x256xf32>) {
    tile.grid (%i: b0=16) in (64) plan {order [i] @out = %out one_hot} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x[%i, :] : memref<64x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      // expected-error @+1 {{'out' cannot stand in a buffer of kind 'one_hot' here: row_loop or row_dma}}
      %p = atomic.rmw add %v, %out[%rows, :] via @out : !tile.tile<b0=16 x 256 x f32>, memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      %q = tile.add %p, %v : !tile.tile<b0=16 x 256 x f32>
      tile.store %q, %y[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r#1 : memref<300x256xf32>
}

// -----

// Updates of one array are in HBM, all or none.
func.func @mixed(%arg0: memref<64xi32>, %arg1: memref<64x256xf32>, %arg2: memref<300x256xf32>) -> memref<300x256xf32> {
  %r = host.launch @mixed (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<64x256xf32>, memref<300x256xf32>) -> memref<300x256xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @out = %out row_loop @hbm = %out row_dma} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x[%i, :] : memref<64x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      // expected-error @+1 {{'out' has updates of several kinds: the array is in HBM for all of its updates or for none}}
      atomic.rmw add %v, %out[%rows, :] via @hbm : !tile.tile<b0=16 x 256 x f32>, memref<300x256xf32>
      atomic.rmw add %v, %out[%rows, :] via @out : !tile.tile<b0=16 x 256 x f32>, memref<300x256xf32>
    }
  }
  func.return %r : memref<300x256xf32>
}

// -----

// An array that VMEM does not hold stays in HBM.
func.func @far(%arg0: memref<64xi32>, %arg1: memref<64x256xf32>, %arg2: memref<300000x256xf32>) -> memref<300000x256xf32> {
  %r = host.launch @far (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<64x256xf32>, memref<300000x256xf32>) -> memref<300000x256xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @out = %out row_loop} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x[%i, :] : memref<64x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      // expected-error @+1 {{'out' cannot stand in a buffer of kind 'row_loop' here: row_dma}}
      atomic.rmw add %v, %out[%rows, :] via @out : !tile.tile<b0=16 x 256 x f32>, memref<300000x256xf32>
    }
  }
  func.return %r : memref<300000x256xf32>
}

// -----

func.func @other_dims(%arg0: memref<64xi32>, %arg1: memref<64x64xf32>, %arg2: memref<64x64xf32>) -> memref<64x64xf32> {
  %r = host.launch @other_dims (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<64x64xf32>, memref<64x64xf32>) -> memref<64x64xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @out = %out row_dma} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x[%i, :] : memref<64x64xf32> -> !tile.tile<b0=16 x 64 x f32>
      tile.store %v, %out[%rows, :] via @out : !tile.tile<b0=16 x 64 x f32>, memref<64x64xf32>
      %t = tile.transpose %v [1, 0] : !tile.tile<b0=16 x 64 x f32>
      // expected-error @+1 {{'out' is updated by row numbers of different dimensions}}
      tile.store %t, %out[:, %rows] via @out : !tile.tile<64 x b0=16 x f32>, memref<64x64xf32>
    }
  }
  func.return %r : memref<64x64xf32>
}

// -----

func.func @between(%arg0: memref<64xi32>, %arg1: memref<64x8xf32>, %arg2: memref<64x8x64xf32>) -> memref<64x8x64xf32> {
  %r = host.launch @between (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<64x8xf32>, memref<64x8x64xf32>) -> memref<64x8x64xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @out = %out row_dma} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x[%i, :] : memref<64x8xf32> -> !tile.tile<b0=16 x 8 x f32>
      // expected-note @+2 {{permute the array so that the dimensions indexed by row numbers stand together}}
      // expected-error @+1 {{an update whose row numbers have another index between them}}
      tile.store %v, %out[%rows, :, %rows] via @out : !tile.tile<b0=16 x 8 x f32>, memref<64x8x64xf32>
    }
  }
  func.return %r : memref<64x8x64xf32>
}
