// RUN: kopt %s --verify-each -p 'verify-plan{chip=sm90}' --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @swapped
// CHECK: plan {order [j, i]
func.func @swapped(%x: memref<64x256xf32>, %n: memref<64x256xi32>) {
  tile.grid (%i: b0=8, %j: b1=128) in (64, 256) plan {order [j, i] warps 4 stages 1 @x = %x pointer @n = %n atomic} {
    %v = tile.load %x[%i, %j] via @x : memref<64x256xf32> -> !tile.tile<b0=8 x b1=128 x f32>
    %c = tile.cast %v : !tile.tile<b0=8 x b1=128 x f32> to !tile.tile<b0=8 x b1=128 x i32>
    atomic.rmw add %c, %n[%i, %j] via @n : !tile.tile<b0=8 x b1=128 x i32>, memref<64x256xi32>
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @shared
// CHECK: programs 132 share blocked group 4 registers 64
func.func @shared(%x: memref<64x256xf32>) {
  tile.grid (%i: b0=8, %j: b1=128) in (64, 256) plan {order [i, j] programs 132 share blocked group 4 registers 64 @x = %x pointer} {
    %v = tile.load %x[%i, %j] via @x : memref<64x256xf32> -> !tile.tile<b0=8 x b1=128 x f32>
  }
  func.return
}

// -----

func.func @shares(%x: memref<64xf32>) {
  // expected-error @+1 {{'share' says which cells programs have, and there is no 'programs'}}
  tile.grid (%i: b0=8) in (64) plan {order [i] share blocked registers 64 @x = %x pointer} {
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @registers(%x: memref<64xf32>) {
  // expected-error @+1 {{a thread has at most 255 registers, not 300}}
  tile.grid (%i: b0=8) in (64) plan {order [i] registers 300 @x = %x pointer} {
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @kinds(%x: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] @x = %x window} {
    // expected-error @+1 {{no Triton code is made of '@x = %x window' yet: 'pointer', 'descriptor' and 'atomic' alone are}}
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

// A descriptor where one may be, whether a product takes the block or not.
// CHECK-LABEL: func.func @descriptors
func.func @descriptors(%x: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] @x = %x descriptor} {
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @odd_rows(%x: memref<64x65xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] @x = %x descriptor} {
    // expected-error @+1 {{'x' cannot stand in a buffer of kind 'descriptor' here: rows begin at multiples of 16 bytes, and their elements follow one another}}
    %v = tile.load %x[%i, 0:64] via @x : memref<64x65xf32> -> !tile.tile<b0=8 x 64 x f32>
  }
  func.return
}

// -----

func.func @large(%x: memref<64x512xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] @x = %x descriptor} {
    // expected-error @+1 {{here: a block has powers of two up to 256 lanes, and rows of 16 bytes}}
    %v = tile.load %x[%i, :] via @x : memref<64x512xf32> -> !tile.tile<b0=8 x 512 x f32>
  }
  func.return
}

// -----

func.func @filled(%x: memref<64x64xf32>) {
  tile.grid (%i: b0=8) in (60) plan {order [i] @x = %x descriptor} {
    // expected-error @+1 {{here: lanes that are not there are zeros}}
    %v = tile.load %x[%i, :] via @x pad 0.0 : memref<64x64xf32> -> !tile.tile<b0=8 x 64 x f32>
  }
  func.return
}

// -----

func.func @written(%x: memref<64x64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] @x = %x descriptor @o = %x pointer} {
    // expected-error @+1 {{here: caches have no say, and nothing in the launch writes the array}}
    %v = tile.load %x[%i, :] via @x : memref<64x64xf32> -> !tile.tile<b0=8 x 64 x f32>
    tile.store %v, %x[%i, :] via @o : !tile.tile<b0=8 x 64 x f32>, memref<64x64xf32>
  }
  func.return
}

// -----

func.func @words(%x: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] @x = %x pointer vec 8} {
    // expected-error @+1 {{no Triton code is made of '@x = %x pointer vec 8' yet: 'pointer', 'descriptor' and 'atomic' alone are}}
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @updates(%n: memref<64xi32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] @n = %n pointer} {
    %one = tile.full 1 : !tile.tile<b0=8 x i32>
    // expected-error @+1 {{'n' cannot stand in a buffer of kind 'pointer' here: atomic}}
    atomic.rmw add %one, %n[%i] via @n : !tile.tile<b0=8 x i32>, memref<64xi32>
  }
  func.return
}

// -----

func.func @loops(%x: memref<64xf32>) {
  tile.grid (%i: b0=8) in (8) plan {order [i] @x = %x pointer} {
    // expected-error @+1 {{no Triton code is made of a loop of schedule 'grid': its programs run in no order}}
    tile.for %k: b1=8 in (0, 64) schedule grid {
      %v = tile.load %x[%k] via @x : memref<64xf32> -> !tile.tile<b1=8 x f32>
    }
  }
  func.return
}

// -----

func.func @options(%x: memref<64xf32>) {
  // expected-error @+1 {{no Triton launch has 'split' yet}}
  tile.grid (%i: b0=8) in (64) plan {order [i] split 2 @x = %x pointer} {
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @warps(%x: memref<64xf32>) {
  // expected-error @+1 {{a program has 1, 2, 4, 8, 16, 32 warps, not 3}}
  tile.grid (%i: b0=8) in (64) plan {order [i] warps 3 @x = %x pointer} {
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @stages(%x: memref<64xf32>, %y: memref<64xf32>) {
  tile.grid (%i: b0=8) in (8) plan {order [i] @x = %x pointer @y = %y pointer} {
    // expected-error @+1 {{the loop cannot have stages of its own: it writes, perhaps what later visits load}}
    tile.for %k: b1=8 in (0, 64) schedule resident stages 3 {
      %v = tile.load %x[%k] via @x : memref<64xf32> -> !tile.tile<b1=8 x f32>
      tile.store %v, %y[%k] via @y : !tile.tile<b1=8 x f32>, memref<64xf32>
    }
  }
  func.return
}
