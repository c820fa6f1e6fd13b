// What widen-atomics refuses.
// RUN: kopt %s --split-input-file --verify-diagnostics -p widen-atomics

func.func @views(%x: memref<4x5xi8>) {
  %flat = host.reshape %x : memref<4x5xi8> to memref<20xi8>
  tile.grid (%i: b0=4) in (4) {
    %v = tile.load %x[%i, 0] : memref<4x5xi8> -> !tile.tile<b0=4 x i8>
    // expected-error @+1 {{atomic updates of i8 elements of 'flat', which the loop also accesses through another view}}
    atomic.rmw max %v, %flat[%i] : !tile.tile<b0=4 x i8>, memref<20xi8>
  }
  func.return
}

// -----

func.func @repeated(%x: memref<1xi8>) {
  %wide = host.expand %x : memref<1xi8> to memref<20xi8, strided<[0]>>
  tile.grid (%i: b0=4) in (20) {
    %v = tile.full 1 : !tile.tile<b0=4 x i8>
    // expected-error @+1 {{atomic updates of i8 elements of 'wide', a view that repeats them}}
    atomic.rmw add %v, %wide[%i] : !tile.tile<b0=4 x i8>, memref<20xi8, strided<[0]>>
  }
  func.return
}

// -----

func.func @mixed(%x: memref<20xi8>) {
  tile.grid (%i: b0=4) in (20) {
    %v = tile.full 1 : !tile.tile<b0=4 x i8>
    // expected-error @+1 {{atomic add and min of the same i8 elements of 'x' in one loop}}
    atomic.rmw add %v, %x[%i] : !tile.tile<b0=4 x i8>, memref<20xi8>
    atomic.rmw min %v, %x[%i] : !tile.tile<b0=4 x i8>, memref<20xi8>
  }
  func.return
}
