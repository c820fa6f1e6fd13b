"""IR for the tests of values: each case is small, ragged where it can be, and compared with the reference."""

# ruff: noqa: E501 - IR has long lines

SOFTMAX = """
func.func @f(%x: memref<37x100x{t}>) -> memref<37x100x{t}> {{
  %out = host.alloc : memref<37x100x{t}>
  tile.grid (%i: b0=8) in (37) {{
    %l = tile.load %x[%i, :] : memref<37x100x{t}> -> !tile.tile<b0=8 x 100 x {t}>
    %v = tile.cast %l : !tile.tile<b0=8 x 100 x {t}> to !tile.tile<b0=8 x 100 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=8 x 100 x f32>
    %mb = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 100 x f32>
    %d = tile.sub %v, %mb : !tile.tile<b0=8 x 100 x f32>
    %e = tile.exp %d : !tile.tile<b0=8 x 100 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=8 x 100 x f32>
    %sb = tile.broadcast %s dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 100 x f32>
    %r = tile.div %e, %sb : !tile.tile<b0=8 x 100 x f32>
    %c = tile.cast %r : !tile.tile<b0=8 x 100 x f32> to !tile.tile<b0=8 x 100 x {t}>
    tile.store %c, %out[%i, :] : !tile.tile<b0=8 x 100 x {t}>, memref<37x100x{t}>
  }}
  func.return %out : memref<37x100x{t}>
}}
"""

#: An online softmax: two loops over blocks of columns, values carried, one computed from another.
ONLINE = """
func.func @f(%x: memref<13x70xf32>) -> memref<13x70xf32> {
  %out = host.alloc : memref<13x70xf32>
  tile.grid (%i: b0=4) in (13) {
    %m0 = tile.full -inf : !tile.tile<b0=4 x f32>
    %s0 = tile.full 0.0 : !tile.tile<b0=4 x f32>
    %m, %s = tile.for %j: b1=16 in (0, 70) iter(%ma = %m0, %sa = %s0) -> (!tile.tile<b0=4 x f32>, !tile.tile<b0=4 x f32>) {
      %v = tile.load %x[%i, %j] : memref<13x70xf32> -> !tile.tile<b0=4 x b1=16 x f32>
      %mx = tile.reduce max %v [1] : !tile.tile<b0=4 x b1=16 x f32>
      %mn = tile.maximum %ma, %mx : !tile.tile<b0=4 x f32>
      %mb = tile.broadcast %mn dims [0] : !tile.tile<b0=4 x f32> to !tile.tile<b0=4 x b1=16 x f32>
      %d = tile.sub %v, %mb : !tile.tile<b0=4 x b1=16 x f32>
      %e = tile.exp %d : !tile.tile<b0=4 x b1=16 x f32>
      %t = tile.reduce add %e [1] : !tile.tile<b0=4 x b1=16 x f32>
      %dm = tile.sub %ma, %mn : !tile.tile<b0=4 x f32>
      %a = tile.exp %dm : !tile.tile<b0=4 x f32>
      %sc = tile.mul %sa, %a : !tile.tile<b0=4 x f32>
      %sn = tile.add %sc, %t : !tile.tile<b0=4 x f32>
      tile.yield %mn, %sn : !tile.tile<b0=4 x f32>, !tile.tile<b0=4 x f32>
    }
    tile.for %k: b2=16 in (0, 70) {
      %v = tile.load %x[%i, %k] : memref<13x70xf32> -> !tile.tile<b0=4 x b2=16 x f32>
      %mb = tile.broadcast %m dims [0] : !tile.tile<b0=4 x f32> to !tile.tile<b0=4 x b2=16 x f32>
      %d = tile.sub %v, %mb : !tile.tile<b0=4 x b2=16 x f32>
      %e = tile.exp %d : !tile.tile<b0=4 x b2=16 x f32>
      %sb = tile.broadcast %s dims [0] : !tile.tile<b0=4 x f32> to !tile.tile<b0=4 x b2=16 x f32>
      %r = tile.div %e, %sb : !tile.tile<b0=4 x b2=16 x f32>
      tile.store %r, %out[%i, %k] : !tile.tile<b0=4 x b2=16 x f32>, memref<13x70xf32>
    }
  }
  func.return %out : memref<13x70xf32>
}
"""

MATMUL = """
func.func @f(%x: memref<{m}x{k}x{t}>, %y: memref<{k}x{n}x{t}>) -> memref<{m}x{n}x{a}> {{
  %out = host.alloc : memref<{m}x{n}x{a}>
  tile.grid (%i: b0={bm}, %j: b1={bn}) in ({m}, {n}) {{
    %z = tile.full 0 : !tile.tile<b0={bm} x b1={bn} x {a}>
    %acc = tile.for %k: b2={bk} in (0, {k}) iter(%a = %z) -> (!tile.tile<b0={bm} x b1={bn} x {a}>) {{
      %l = tile.load %x[%i, %k] : memref<{m}x{k}x{t}> -> !tile.tile<b0={bm} x b2={bk} x {t}>
      %r = tile.load %y[%k, %j] : memref<{k}x{n}x{t}> -> !tile.tile<b2={bk} x b1={bn} x {t}>
      %d = tile.dot %l, %r, %a : !tile.tile<b0={bm} x b2={bk} x {t}>, !tile.tile<b2={bk} x b1={bn} x {t}> -> !tile.tile<b0={bm} x b1={bn} x {a}>
      tile.yield %d : !tile.tile<b0={bm} x b1={bn} x {a}>
    }}
    tile.store %acc, %out[%i, %j] : !tile.tile<b0={bm} x b1={bn} x {a}>, memref<{m}x{n}x{a}>
  }}
  func.return %out : memref<{m}x{n}x{a}>
}}
"""

BMM = """
func.func @f(%x: memref<5x20x36xf32>, %y: memref<5x36x24xf32>) -> memref<5x20x24xf32> {
  %out = host.alloc : memref<5x20x24xf32>
  tile.grid (%b: b0=2, %i: b1=16) in (5, 20) {
    %l = tile.load %x[%b, %i, :] : memref<5x20x36xf32> -> !tile.tile<b0=2 x b1=16 x 36 x f32>
    %r = tile.load %y[%b, :, :] : memref<5x36x24xf32> -> !tile.tile<b0=2 x 36 x 24 x f32>
    %d = tile.dot %l, %r : !tile.tile<b0=2 x b1=16 x 36 x f32>, !tile.tile<b0=2 x 36 x 24 x f32> -> !tile.tile<b0=2 x b1=16 x 24 x f32>
    tile.store %d, %out[%b, %i, :] : !tile.tile<b0=2 x b1=16 x 24 x f32>, memref<5x20x24xf32>
  }
  func.return %out : memref<5x20x24xf32>
}
"""

REDUCE = """
func.func @f(%x: memref<9x6x11x{t}>) -> (memref<9x{t}>, memref<9x11x{t}>, memref<{t}>) {{
  %a = host.alloc : memref<9x{t}>
  %b = host.alloc : memref<9x11x{t}>
  %c = host.alloc : memref<{t}>
  tile.grid (%i: b0=4) in (9) {{
    %v = tile.load %x[%i, :, :] : memref<9x6x11x{t}> -> !tile.tile<b0=4 x 6 x 11 x {t}>
    %r = tile.reduce {kind} %v [1, 2] : !tile.tile<b0=4 x 6 x 11 x {t}>
    tile.store %r, %a[%i] : !tile.tile<b0=4 x {t}>, memref<9x{t}>
    %s = tile.reduce {kind} %v [1] : !tile.tile<b0=4 x 6 x 11 x {t}>
    tile.store %s, %b[%i, :] : !tile.tile<b0=4 x 11 x {t}>, memref<9x11x{t}>
  }}
  tile.grid (%n: b1=1) in (1) {{
    %v = tile.load %x[:, :, :] : memref<9x6x11x{t}> -> !tile.tile<9 x 6 x 11 x {t}>
    %r = tile.reduce {kind} %v [0, 1, 2] : !tile.tile<9 x 6 x 11 x {t}>
    tile.store %r, %c[] : !tile.tile<{t}>, memref<{t}>
  }}
  func.return %a, %b, %c : memref<9x{t}>, memref<9x11x{t}>, memref<{t}>
}}
"""

SCAN = """
func.func @f(%x: memref<5x11x{t}>) -> memref<5x11x{t}> {{
  %out = host.alloc : memref<5x11x{t}>
  tile.grid (%i: b0=2) in (5) {{
    %v = tile.load %x[%i, :] : memref<5x11x{t}> -> !tile.tile<b0=2 x 11 x {t}>
    %r = tile.scan {kind} %v dim 1 : !tile.tile<b0=2 x 11 x {t}>
    tile.store %r, %out[%i, :] : !tile.tile<b0=2 x 11 x {t}>, memref<5x11x{t}>
  }}
  func.return %out : memref<5x11x{t}>
}}
"""

ARGREDUCE = """
func.func @f(%x: memref<21x11x{t}>) -> memref<21xi32> {{
  %out = host.alloc : memref<21xi32>
  tile.grid (%i: b0=8) in (21) {{
    %v = tile.load %x[%i, :] : memref<21x11x{t}> -> !tile.tile<b0=8 x 11 x {t}>
    %r = tile.argreduce {kind} %v dim 1 : !tile.tile<b0=8 x 11 x {t}>
    tile.store %r, %out[%i] : !tile.tile<b0=8 x i32>, memref<21xi32>
  }}
  func.return %out : memref<21xi32>
}}
"""

#: Slices, concatenation, reshapes and transposes of dimensions that are no powers of two.
SHAPES = """
func.func @f(%x: memref<10x6xf32>, %y: memref<10x5xf32>) -> (memref<10x11xf32>, memref<10x3xf32>, memref<10x2x3xf32>, memref<10x6xf32>, memref<6x10xf32>, memref<10xf32>) {
  %cat = host.alloc : memref<10x11xf32>
  %cut = host.alloc : memref<10x3xf32>
  %split = host.alloc : memref<10x2x3xf32>
  %merged = host.alloc : memref<10x6xf32>
  %turned = host.alloc : memref<6x10xf32>
  %one = host.alloc : memref<10xf32>
  tile.grid (%i: b0=4) in (10) {
    %v = tile.load %x[%i, :] : memref<10x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %w = tile.load %y[%i, :] : memref<10x5xf32> -> !tile.tile<b0=4 x 5 x f32>
    %c = tile.concat %v, %w dim 1 : !tile.tile<b0=4 x 6 x f32>, !tile.tile<b0=4 x 5 x f32> to !tile.tile<b0=4 x 11 x f32>
    tile.store %c, %cat[%i, :] : !tile.tile<b0=4 x 11 x f32>, memref<10x11xf32>
    %s = tile.slice %v [0, 1] [4, 3] [1, 2] : !tile.tile<b0=4 x 6 x f32> to !tile.tile<b0=4 x 3 x f32>
    tile.store %s, %cut[%i, :] : !tile.tile<b0=4 x 3 x f32>, memref<10x3xf32>
    %r = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<b0=4 x 2 x 3 x f32>
    tile.store %r, %split[%i, :, :] : !tile.tile<b0=4 x 2 x 3 x f32>, memref<10x2x3xf32>
    %p = tile.transpose %r [0, 2, 1] : !tile.tile<b0=4 x 2 x 3 x f32>
    %q = tile.reshape %p : !tile.tile<b0=4 x 3 x 2 x f32> to !tile.tile<b0=4 x 6 x f32>
    tile.store %q, %merged[%i, :] : !tile.tile<b0=4 x 6 x f32>, memref<10x6xf32>
    %t = tile.transpose %v [1, 0] : !tile.tile<b0=4 x 6 x f32>
    tile.store %t, %turned[:, %i] : !tile.tile<6 x b0=4 x f32>, memref<6x10xf32>
    %o = tile.slice %v [0, 4] [4, 1] [1, 1] : !tile.tile<b0=4 x 6 x f32> to !tile.tile<b0=4 x 1 x f32>
    %of = tile.reshape %o : !tile.tile<b0=4 x 1 x f32> to !tile.tile<b0=4 x f32>
    tile.store %of, %one[%i] : !tile.tile<b0=4 x f32>, memref<10xf32>
  }
  func.return %cat, %cut, %split, %merged, %turned, %one : memref<10x11xf32>, memref<10x3xf32>, memref<10x2x3xf32>, memref<10x6xf32>, memref<6x10xf32>, memref<10xf32>
}
"""

#: Slices of memrefs, fixed rows, repeated and transposed views, a scalar row number, masked loads and stores.
MEMORY = """
func.func @f(%x: memref<30x20xf32>, %n: memref<1xi32>) -> (memref<30x5xf32>, memref<30x8xf32>, memref<20x30xf32>, memref<20xf32>, memref<30xf32>) {
  %a = host.alloc : memref<30x5xf32>
  %b = host.alloc : memref<30x8xf32>
  %c = host.alloc : memref<20x30xf32>
  %d = host.alloc : memref<20xf32>
  %e = host.alloc fill 7.0 : memref<30xf32>
  %turned = host.permute %x [1, 0] : memref<30x20xf32> to memref<20x30xf32, strided<[1, 20]>>
  %cut = host.slice %x [2, 0] [25, 10] [1, 2] : memref<30x20xf32> to memref<25x10xf32, strided<[20, 2], offset: 40>>
  %row = host.slice %x [3, 0] [1, 20] [1, 1] : memref<30x20xf32> to memref<1x20xf32, strided<[20, 1], offset: 60>>
  %rows = host.expand %row : memref<1x20xf32, strided<[20, 1], offset: 60>> to memref<30x20xf32, strided<[0, 1], offset: 60>>
  tile.grid (%i: b0=16) in (30) {
    %v = tile.load %x[%i, 3:8] : memref<30x20xf32> -> !tile.tile<b0=16 x 5 x f32>
    tile.store %v, %a[%i, :] : !tile.tile<b0=16 x 5 x f32>, memref<30x5xf32>
    %w = tile.load %x[%i, 2:18:2] : memref<30x20xf32> -> !tile.tile<b0=16 x 8 x f32>
    %s = tile.load %x[%i, 0:10:2] : memref<30x20xf32> -> !tile.tile<b0=16 x 5 x f32>
    %ss = tile.reduce add %s [1] : !tile.tile<b0=16 x 5 x f32>
    %sb = tile.broadcast %ss dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x 8 x f32>
    %ws = tile.add %w, %sb : !tile.tile<b0=16 x 8 x f32>
    tile.store %ws, %b[%i, :] : !tile.tile<b0=16 x 8 x f32>, memref<30x8xf32>
    %t = tile.load %turned[:, %i] : memref<20x30xf32, strided<[1, 20]>> -> !tile.tile<20 x b0=16 x f32>
    %u = tile.load %rows[%i, :] : memref<30x20xf32, strided<[0, 1], offset: 60>> -> !tile.tile<b0=16 x 20 x f32>
    %ut = tile.transpose %u [1, 0] : !tile.tile<b0=16 x 20 x f32>
    %tu = tile.add %t, %ut : !tile.tile<20 x b0=16 x f32>
    tile.store %tu, %c[:, %i] : !tile.tile<20 x b0=16 x f32>, memref<20x30xf32>
    %idx = tile.index %i : !tile.range<b0=16>
    %two = tile.full 2 : !tile.tile<b0=16 x i32>
    %odd = tile.rem %idx, %two : !tile.tile<b0=16 x i32>
    %one = tile.full 1 : !tile.tile<b0=16 x i32>
    %m = tile.eq %odd, %one : !tile.tile<b0=16 x i32>
    %g = tile.load %x[%i, 4] mask %m other -1.0 : memref<30x20xf32> -> !tile.tile<b0=16 x f32>
    %ten = tile.full 25 : !tile.tile<b0=16 x i32>
    %low = tile.lt %idx, %ten : !tile.tile<b0=16 x i32>
    tile.store %g, %e[%i] mask %low : !tile.tile<b0=16 x f32>, memref<30xf32>
  }
  tile.grid (%p: b1=1) in (1) {
    %k = tile.load %n[0] : memref<1xi32> -> !tile.tile<i32>
    %ki = tile.extract %k : !tile.tile<i32> to index
    %v = tile.load %x[%ki, :] : memref<30x20xf32> -> !tile.tile<20 x f32>
    tile.store %v, %d[:] : !tile.tile<20 x f32>, memref<20xf32>
  }
  func.return %a, %b, %c, %d, %e : memref<30x5xf32>, memref<30x8xf32>, memref<20x30xf32>, memref<20xf32>, memref<30xf32>
}
"""

#: Blocks of 12 and 5, ids and ends of blocks, an inner loop over a block.
ODD_BLOCKS = """
func.func @f(%x: memref<50x23xf32>) -> (memref<50xf32>, memref<50xi32>) {
  %out = host.alloc : memref<50xf32>
  %ids = host.alloc : memref<50xi32>
  tile.grid (%i: b0=12) in (50) {
    %z = tile.full 0.0 : !tile.tile<b0=12 x f32>
    %acc = tile.for %j: b1=5 in (1, 23) iter(%a = %z) -> (!tile.tile<b0=12 x f32>) {
      %v = tile.load %x[%i, %j] : memref<50x23xf32> -> !tile.tile<b0=12 x b1=5 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=12 x b1=5 x f32>
      %id = tile.id %j : !tile.range<b1=5>
      %n = tile.splat %id : index to !tile.tile<b0=12 x i32>
      %nf = tile.cast %n : !tile.tile<b0=12 x i32> to !tile.tile<b0=12 x f32>
      %p = tile.mul %s, %nf : !tile.tile<b0=12 x f32>
      %r = tile.add %a, %p : !tile.tile<b0=12 x f32>
      tile.yield %r : !tile.tile<b0=12 x f32>
    }
    tile.store %acc, %out[%i] : !tile.tile<b0=12 x f32>, memref<50xf32>
    %b = tile.id %i : !tile.range<b0=12>
    %e = tile.end %i : !tile.range<b0=12>
    %c = tile.count %i : !tile.range<b0=12>
    %be = arith.addi %b, %e : index
    %bec = arith.addi %be, %c : index
    %t = tile.splat %bec : index to !tile.tile<b0=12 x i32>
    tile.store %t, %ids[%i] : !tile.tile<b0=12 x i32>, memref<50xi32>
  }
  func.return %out, %ids : memref<50xf32>, memref<50xi32>
}
"""

#: An if with results, a loop to a loaded bound, a loop nested in a block, index arithmetic, in-place writes.
CONTROL = """
func.func @f(%x: memref<6x40xf32>, %n: memref<6xi32>) -> memref<6xf32> {
  %out = host.alloc : memref<6xf32>
  tile.grid (%i: b0=1) in (6) {
    %row = tile.begin %i : !tile.range<b0=1>
    %len = tile.load %n[%row] : memref<6xi32> -> !tile.tile<i32>
    %end = tile.extract %len : !tile.tile<i32> to index
    %z = tile.full 0.0 : !tile.tile<f32>
    %c0 = arith.constant 0 : index
    %sum = tile.for %j: b1=8 in (%c0, %end) iter(%a = %z) -> (!tile.tile<f32>) {
      %v = tile.load %x[%row, %j] : memref<6x40xf32> -> !tile.tile<b1=8 x f32>
      %s = tile.reduce add %v [0] : !tile.tile<b1=8 x f32>
      %r = tile.add %a, %s : !tile.tile<f32>
      tile.yield %r : !tile.tile<f32>
    }
    %ten = tile.full 10 : !tile.tile<i32>
    %many = tile.gt %len, %ten : !tile.tile<i32>
    %cond = tile.extract %many : !tile.tile<i1> to i1
    %res = scf.if %cond -> (!tile.tile<f32>) {
      %lf = tile.cast %len : !tile.tile<i32> to !tile.tile<f32>
      %mean = tile.div %sum, %lf : !tile.tile<f32>
      scf.yield %mean : !tile.tile<f32>
    } else {
      scf.yield %sum : !tile.tile<f32>
    }
    tile.store %res, %out[%row] : !tile.tile<f32>, memref<6xf32>
    scf.if %cond {
      tile.for %k: b2=16 in (%c0, %end) {
        %b = tile.begin %k : !tile.range<b2=16>
        %e = tile.end %k : !tile.range<b2=16>
        tile.for %kk: b3=4 in (%b, %e) {
          %v = tile.load %x[%row, %kk] : memref<6x40xf32> -> !tile.tile<b3=4 x f32>
          %two = tile.full 2.0 : !tile.tile<b3=4 x f32>
          %w = tile.mul %v, %two : !tile.tile<b3=4 x f32>
          tile.store %w, %x[%row, %kk] : !tile.tile<b3=4 x f32>, memref<6x40xf32>
        }
      }
    }
  }
  func.return %out : memref<6xf32>
}
"""

GATHERS = """
func.func @f(%t: memref<50x12xf32>, %n: memref<19xi64>, %p: memref<19x3xi32>) -> (memref<19x12xf32>, memref<19xf32>, memref<19x3x12xf32>, memref<19x3xf32>) {
  %a = host.alloc : memref<19x12xf32>
  %b = host.alloc : memref<19xf32>
  %c = host.alloc : memref<19x3x12xf32>
  %d = host.alloc : memref<19x3xf32>
  tile.grid (%i: b0=8) in (19) {
    %k = tile.load %n[%i] : memref<19xi64> -> !tile.tile<b0=8 x i64>
    %v = tile.load %t[%k, :] : memref<50x12xf32> -> !tile.tile<b0=8 x 12 x f32>
    tile.store %v, %a[%i, :] : !tile.tile<b0=8 x 12 x f32>, memref<19x12xf32>
    %w = tile.load %t[%k, %k] : memref<50x12xf32> -> !tile.tile<b0=8 x f32>
    tile.store %w, %b[%i] : !tile.tile<b0=8 x f32>, memref<19xf32>
    %q = tile.load %p[%i, :] : memref<19x3xi32> -> !tile.tile<b0=8 x 3 x i32>
    %u = tile.load %t[%q, :] : memref<50x12xf32> -> !tile.tile<b0=8 x 3 x 12 x f32>
    tile.store %u, %c[%i, :, :] : !tile.tile<b0=8 x 3 x 12 x f32>, memref<19x3x12xf32>
    %s = tile.take_along %v, %q dim 1 : !tile.tile<b0=8 x 12 x f32>, !tile.tile<b0=8 x 3 x i32>
    tile.store %s, %d[%i, :] : !tile.tile<b0=8 x 3 x f32>, memref<19x3xf32>
  }
  func.return %a, %b, %c, %d : memref<19x12xf32>, memref<19xf32>, memref<19x3x12xf32>, memref<19x3xf32>
}
"""

#: Host code: views, calls, copies, fills, a grid with no cells.
HOST = """
func.func @f(%x: memref<10x6xf32>) -> (memref<10xf32>, memref<60xf32>, memref<0x6xf32>) {
  %s = host.call "aten.sum.dim_IntList"(%x) args [unit, [1 : i64], false] : (memref<10x6xf32>) -> (memref<10xf32>)
  %flat = host.reshape %x : memref<10x6xf32> to memref<60xf32>
  %out = host.alloc fill 3.0 : memref<60xf32>
  %none = host.alloc : memref<0x6xf32>
  %head = host.slice %out [0] [10] [1] : memref<60xf32> to memref<10xf32, strided<[1]>>
  host.copy %s to %head : memref<10xf32>, memref<10xf32, strided<[1]>>
  tile.grid (%i: b0=16) in (10 to 60) {
    %v = tile.load %flat[%i] : memref<60xf32> -> !tile.tile<b0=16 x f32>
    tile.store %v, %out[%i] : !tile.tile<b0=16 x f32>, memref<60xf32>
  }
  tile.grid (%n: b1=4) in (0) {
    %v = tile.full 1.0 : !tile.tile<b1=4 x 6 x f32>
    tile.store %v, %none[%n, :] : !tile.tile<b1=4 x 6 x f32>, memref<0x6xf32>
  }
  func.return %s, %out, %none : memref<10xf32>, memref<60xf32>, memref<0x6xf32>
}
"""

#: No columns: sums are 0, maxima minus infinity.
EMPTY = """
func.func @f(%x: memref<5x0xf32>) -> (memref<5xf32>, memref<5xf32>) {
  %a = host.alloc : memref<5xf32>
  %b = host.alloc : memref<5xf32>
  tile.grid (%i: b0=4) in (5) {
    %v = tile.load %x[%i, :] : memref<5x0xf32> -> !tile.tile<b0=4 x 0 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=4 x 0 x f32>
    tile.store %s, %a[%i] : !tile.tile<b0=4 x f32>, memref<5xf32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=4 x 0 x f32>
    tile.store %m, %b[%i] : !tile.tile<b0=4 x f32>, memref<5xf32>
  }
  func.return %a, %b : memref<5xf32>, memref<5xf32>
}
"""

#: A plain dimension that takes the tag of a block, whose size is no power of two.
TAKES_TAG = """
func.func @f(%x: memref<50xf32>, %y: memref<12xf32>) -> memref<50xf32> {
  %out = host.alloc : memref<50xf32>
  tile.grid (%i: b0=12) in (50) {
    %v = tile.load %x[%i] : memref<50xf32> -> !tile.tile<b0=12 x f32>
    %w = tile.load %y[:] : memref<12xf32> -> !tile.tile<12 x f32>
    %t = tile.broadcast %w dims [0] : !tile.tile<12 x f32> to !tile.tile<b0=12 x f32>
    %s = tile.add %v, %t : !tile.tile<b0=12 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=12 x f32>, memref<50xf32>
  }
  func.return %out : memref<50xf32>
}
"""

#: Blocks of one: batches of a product, a row number, a loop over rows.
UNITS = """
func.func @f(%x: memref<5x20x36xf32>, %y: memref<5x36x24xf32>) -> (memref<5x20x24xf32>, memref<5x20xf32>) {
  %out = host.alloc : memref<5x20x24xf32>
  %sums = host.alloc : memref<5x20xf32>
  tile.grid (%b: b0=1, %i: b1=16) in (5, 20) {
    %l = tile.load %x[%b, %i, :] : memref<5x20x36xf32> -> !tile.tile<b0=1 x b1=16 x 36 x f32>
    %r = tile.load %y[%b, :, :] : memref<5x36x24xf32> -> !tile.tile<b0=1 x 36 x 24 x f32>
    %d = tile.dot %l, %r : !tile.tile<b0=1 x b1=16 x 36 x f32>, !tile.tile<b0=1 x 36 x 24 x f32> -> !tile.tile<b0=1 x b1=16 x 24 x f32>
    tile.store %d, %out[%b, %i, :] : !tile.tile<b0=1 x b1=16 x 24 x f32>, memref<5x20x24xf32>
    %n = tile.index %b : !tile.range<b0=1>
    %nf = tile.cast %n : !tile.tile<b0=1 x i32> to !tile.tile<b0=1 x f32>
    %nb = tile.broadcast %nf dims [0] : !tile.tile<b0=1 x f32> to !tile.tile<b0=1 x b1=16 x f32>
    %s = tile.for %k: b2=1 in (0, 36) iter(%a = %nb) -> (!tile.tile<b0=1 x b1=16 x f32>) {
      %v = tile.load %x[%b, %i, %k] : memref<5x20x36xf32> -> !tile.tile<b0=1 x b1=16 x b2=1 x f32>
      %t = tile.reduce add %v [2] : !tile.tile<b0=1 x b1=16 x b2=1 x f32>
      %u = tile.add %a, %t : !tile.tile<b0=1 x b1=16 x f32>
      tile.yield %u : !tile.tile<b0=1 x b1=16 x f32>
    }
    tile.store %s, %sums[%b, %i] : !tile.tile<b0=1 x b1=16 x f32>, memref<5x20xf32>
  }
  func.return %out, %sums : memref<5x20x24xf32>, memref<5x20xf32>
}
"""

#: Four lanes from a loaded number on, of rows of an uneven width.
DYNAMIC_SLICE = """
func.func @f(%x: memref<13x6xf32>, %first: memref<1xi32>) -> memref<13x4xf32> {
  %y = host.alloc : memref<13x4xf32>
  tile.grid (%i: b0=8) in (13) {
    %v = tile.load %x[%i, :] : memref<13x6xf32> -> !tile.tile<b0=8 x 6 x f32>
    %e = tile.exp %v : !tile.tile<b0=8 x 6 x f32>
    %m = tile.load %first[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %m : !tile.tile<i32> to index
    %s = tile.dynamic_slice %e from %n dim 1 : !tile.tile<b0=8 x 6 x f32> to !tile.tile<b0=8 x 4 x f32>
    tile.store %s, %y[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<13x4xf32>
  }
  func.return %y : memref<13x4xf32>
}
"""
