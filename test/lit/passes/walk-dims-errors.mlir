// RUN: kopt %s --split-input-file --verify-diagnostics -p walk-dims

// A running sum needs all lanes before it.
func.func @scanned(%x: memref<64x1000xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=128, passes)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    // expected-error @+1 {{dimension 1 of 'x' cannot be walked: tile.scan takes it in one piece}}
    %t = tile.scan add %v dim 1 : !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce max %t [1] : !tile.tile<b0=8 x 1000 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// -----

// What the sum is of cannot be made part by part.
func.func @sorted(%x: memref<64x1000xf32>, %y: memref<64x1000xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=128, passes)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %w = tile.load %y[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %t, %n = tile.sort %w dim 1 : !tile.tile<b0=8 x 1000 x f32>
    %u = tile.mul %v, %t : !tile.tile<b0=8 x 1000 x f32>
    // expected-error @+1 {{dimension 1 of 'x' cannot be walked: tile.sort makes it in one piece}}
    %s = tile.reduce max %u [1] : !tile.tile<b0=8 x 1000 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// -----

// Squares do not grow with the maximum.
func.func @squares(%x: memref<64x1000xf32>, %out: memref<64xf32>) {
  // expected-error @+1 {{dimension 1 of 'x' cannot be walked: no sum of it can be rescaled online; walk it in 'passes'}}
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=128, online)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=8 x 1000 x f32>
    %b = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1000 x f32>
    %d = tile.sub %v, %b : !tile.tile<b0=8 x 1000 x f32>
    %e = tile.mul %d, %d : !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=8 x 1000 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// -----

// The second walk would load what the first row's blocks have become.
func.func @shifted(%x: memref<64x2x1000xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 2 of %x: b1=128, passes)} {
    %v = tile.load %x[%i, 0, :] : memref<64x2x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %w = tile.load %x[%i, 1, :] : memref<64x2x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce add %w [1] : !tile.tile<b0=8 x 1000 x f32>
    %b = tile.broadcast %s dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1000 x f32>
    %d = tile.sub %v, %b : !tile.tile<b0=8 x 1000 x f32>
    // expected-error @-4 {{dimension 2 of 'x' cannot be walked: 'x' is read and written in different places}}
    tile.store %d, %x[%i, 1, :] : !tile.tile<b0=8 x 1000 x f32>, memref<64x2x1000xf32>
  }
  func.return
}

// -----

func.func @beside(%x: memref<64x1000xf32>, %out: memref<64x1000xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=128, passes)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 1000 x f32>, memref<64x1000xf32>
    // expected-error @+1 {{dimension 1 of 'x' cannot be walked: 'out' is written by blocks, and used otherwise too}}
    %w = tile.load %out[%i, 0] : memref<64x1000xf32> -> !tile.tile<b0=8 x f32>
    %t = tile.add %w, %w : !tile.tile<b0=8 x f32>
    tile.store %t, %out[%i, 3] : !tile.tile<b0=8 x f32>, memref<64x1000xf32>
  }
  func.return
}

// -----

func.func @shared(%x: memref<64x1000xf32>, %a: memref<64xf32>, %b: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=128, passes)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 1000 x f32>
    tile.store %s, %a[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    tile.for %k: b2=8 in (0, 8) {
      // expected-error @+1 {{dimension 1 of 'x' cannot be walked: loops or branches share it with what is around them}}
      %m = tile.reduce max %v [1] : !tile.tile<b0=8 x 1000 x f32>
      tile.store %m, %b[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return
}

// -----

func.func @absent(%x: memref<64x1000xf32>, %a: memref<64x64xf32>) {
  // expected-error @+1 {{dimension 1 of 'x' cannot be walked: no access takes dimension 1 of 'x' whole and uses it}}
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=128, passes)} {
    %v = tile.load %x[%i, 0:64] : memref<64x1000xf32> -> !tile.tile<b0=8 x 64 x f32>
    tile.store %v, %a[%i, :] : !tile.tile<b0=8 x 64 x f32>, memref<64x64xf32>
  }
  func.return
}
