// The plans of docs/plans.md, whose text is this file's.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

// CHECK-LABEL: @matmul
func.func @matmul(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>, %o: memref<4096x4096xf32>) {
  // CHECK: tile.grid (%i: b0=1024, %j: b1=1024) in (4096, 4096) plan {order [i, j, k] parallel [i, j]
  // CHECK-NEXT: {{^}}      @x = %x window(i, k) x2
  // CHECK-NEXT: {{^}}      @y = %y window(k, j) x2
  // CHECK-NEXT: {{^}}      @o = %o window(i, j) x2 accumulate(k)} {
  tile.grid (%i: b0=1024, %j: b1=1024) in (4096, 4096) plan {order [i, j, k] parallel [i, j]
      @x = %x window(i, k) x2   @y = %y window(k, j) x2   @o = %o window(i, j) x2 accumulate(k)} {
    %z = tile.full 0.0 : !tile.tile<b0=1024 x b1=1024 x f32>
    // CHECK: tile.for %k: b2=1024 in (0, 4096) iter({{.*}}) -> ({{.*}}) schedule grid {
    %r = tile.for %k: b2=1024 in (0, 4096) iter(%a = %z) -> (!tile.tile<b0=1024 x b1=1024 x f32>) schedule grid {
      // CHECK: tile.load %x[%i, %k] via @x : memref
      %l = tile.load %x[%i, %k] via @x : memref<4096x4096xf32> -> !tile.tile<b0=1024 x b2=1024 x f32>
      %m = tile.load %y[%k, %j] via @y : memref<4096x4096xf32> -> !tile.tile<b2=1024 x b1=1024 x f32>
      %d = tile.dot %l, %m, %a : !tile.tile<b0=1024 x b2=1024 x f32>, !tile.tile<b2=1024 x b1=1024 x f32> -> !tile.tile<b0=1024 x b1=1024 x f32>
      tile.yield %d : !tile.tile<b0=1024 x b1=1024 x f32>
    }
    // CHECK: tile.store %r, %o[%i, %j] via @o : !tile.tile
    tile.store %r, %o[%i, %j] via @o : !tile.tile<b0=1024 x b1=1024 x f32>, memref<4096x4096xf32>
  }
  func.return
}

// CHECK-LABEL: @grouped_product
func.func @grouped_product(%group: memref<16xi32>, %x: memref<2048x1024xf32>, %w: memref<8x1024x1024xf32>, %o: memref<2048x1024xf32>) {
  // CHECK: tile.grid (%i: b0=128, %j: b1=512) in (2048, 1024) plan {order [i, j, k] parallel [i, j]
  // CHECK-NEXT: {{^}}      @x = %x window(i, k) x2
  // CHECK-NEXT: {{^}}      @w = %w window(i, j, k) address @group x2
  // CHECK-NEXT: {{^}}      @group = %group smem whole
  // CHECK-NEXT: {{^}}      @o = %o window(i, j) x2} {
  tile.grid (%i: b0=128, %j: b1=512) in (2048, 1024) plan {order [i, j, k] parallel [i, j]
      @x = %x window(i, k) x2   @w = %w window(i, j, k) x2 address @group   @group = %group smem whole
      @o = %o window(i, j) x2} {
    %z = tile.full 0.0 : !tile.tile<b0=128 x b1=512 x f32>
    %id = tile.id %i : !tile.range<b0=128>
    // CHECK: tile.load %group[%id] via @group : memref
    %number = tile.load %group[%id] via @group : memref<16xi32> -> !tile.tile<i32>
    %g = tile.extract %number : !tile.tile<i32> to index
    %r = tile.for %k: b2=512 in (0, 1024) iter(%a = %z) -> (!tile.tile<b0=128 x b1=512 x f32>) schedule grid {
      %l = tile.load %x[%i, %k] via @x : memref<2048x1024xf32> -> !tile.tile<b0=128 x b2=512 x f32>
      // CHECK: tile.load %w[%g, %k, %j] via @w : memref
      %m = tile.load %w[%g, %k, %j] via @w : memref<8x1024x1024xf32> -> !tile.tile<b2=512 x b1=512 x f32>
      %d = tile.dot %l, %m, %a : !tile.tile<b0=128 x b2=512 x f32>, !tile.tile<b2=512 x b1=512 x f32> -> !tile.tile<b0=128 x b1=512 x f32>
      tile.yield %d : !tile.tile<b0=128 x b1=512 x f32>
    }
    tile.store %r, %o[%i, %j] via @o : !tile.tile<b0=128 x b1=512 x f32>, memref<2048x1024xf32>
  }
  func.return
}

// CHECK-LABEL: @causal_attention
func.func @causal_attention(%q: memref<2x4096x128xf32>, %k: memref<2x4096x128xf32>, %v: memref<2x4096x128xf32>, %o: memref<2x4096x128xf32>) {
  // CHECK: tile.grid (%h: b0=1, %i: b1=512) in (2, 4096) plan {order [h, i] parallel [h, i]
  // CHECK-NEXT: {{^}}      @q = %q window(h, i) x2
  // CHECK-NEXT: {{^}}      @k = %k resident(h) x2
  // CHECK-NEXT: {{^}}      @v = %v resident(h) x2
  // CHECK-NEXT: {{^}}      @o = %o window(h, i) x2} {
  tile.grid (%h: b0=1, %i: b1=512) in (2, 4096) plan {order [h, i] parallel [h, i]
      @q = %q window(h, i) x2   @k = %k resident(h) x2   @v = %v resident(h) x2   @o = %o window(h, i) x2} {
    %rows = tile.load %q[%h, %i, :] via @q : memref<2x4096x128xf32> -> !tile.tile<b0=1 x b1=512 x 128 x f32>
    %z = tile.full 0.0 : !tile.tile<b0=1 x b1=512 x 128 x f32>
    %end = tile.end %i : !tile.range<b1=512>
    // CHECK: tile.for %j: b2=1024 in (0, %end) iter({{.*}}) -> ({{.*}}) schedule resident peel(full | diagonal) unroll 2 {
    %r = tile.for %j: b2=1024 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=1 x b1=512 x 128 x f32>) schedule resident peel(full | diagonal) unroll 2 {
      // CHECK: tile.load %k[%h, %j, :] via @k : memref
      %keys = tile.load %k[%h, %j, :] via @k : memref<2x4096x128xf32> -> !tile.tile<b0=1 x b2=1024 x 128 x f32>
      %values = tile.load %v[%h, %j, :] via @v : memref<2x4096x128xf32> -> !tile.tile<b0=1 x b2=1024 x 128 x f32>
      %columns = tile.transpose %keys [0, 2, 1] : !tile.tile<b0=1 x b2=1024 x 128 x f32>
      %s = tile.dot %rows, %columns : !tile.tile<b0=1 x b1=512 x 128 x f32>, !tile.tile<b0=1 x 128 x b2=1024 x f32> -> !tile.tile<b0=1 x b1=512 x b2=1024 x f32>
      %p = tile.exp %s : !tile.tile<b0=1 x b1=512 x b2=1024 x f32>
      %d = tile.dot %p, %values, %a : !tile.tile<b0=1 x b1=512 x b2=1024 x f32>, !tile.tile<b0=1 x b2=1024 x 128 x f32> -> !tile.tile<b0=1 x b1=512 x 128 x f32>
      tile.yield %d : !tile.tile<b0=1 x b1=512 x 128 x f32>
    }
    tile.store %r, %o[%h, %i, :] via @o : !tile.tile<b0=1 x b1=512 x 128 x f32>, memref<2x4096x128xf32>
  }
  func.return
}

// CHECK-LABEL: @embedding
func.func @embedding(%idx: memref<8192xi32>, %table: memref<32000x256xf32>, %o: memref<8192x256xf32>) {
  // CHECK: tile.grid (%i: b0=256) in (8192) plan {order [i] ordered [i] assume [%idx in 0 to 32000]
  // CHECK-NEXT: {{^}}      @n = %idx smem whole
  // CHECK-NEXT: {{^}}      @t = %table rows into @o address @n prefetch(i, 1) outstanding 64
  // CHECK-NEXT: {{^}}      @o = %o writeback(i) x2} {
  tile.grid (%i: b0=256) in (8192) plan {order [i] ordered [i] assume [idx in 0 to 32000]
      @n = %idx smem whole   @t = %table rows into @o address @n prefetch(i, 1) outstanding 64   @o = %o writeback(i) x2} {
    %numbers = tile.load %idx[%i] via @n : memref<8192xi32> -> !tile.tile<b0=256 x i32>
    // CHECK: tile.load %table[%numbers, :] via @t : memref
    %rows = tile.load %table[%numbers, :] via @t : memref<32000x256xf32> -> !tile.tile<b0=256 x 256 x f32>
    tile.store %rows, %o[%i, :] via @o : !tile.tile<b0=256 x 256 x f32>, memref<8192x256xf32>
  }
  func.return
}

// CHECK-LABEL: @softmax
func.func @softmax(%x: memref<1024x131072xf32>, %o: memref<1024x131072xf32>) {
  // CHECK: tile.grid (%i: b0=1) in (1024) plan {order [i] parallel [i] warps 8 walk(dim 1 of %x: b1=8192, online)
  // CHECK-NEXT: {{^}}      @x0 = %x pointer vec 8 evict last
  // CHECK-NEXT: {{^}}      @x1 = %x pointer vec 8 evict first
  // CHECK-NEXT: {{^}}      @o = %o pointer vec 8 evict first} {
  tile.grid (%i: b0=1) in (1024) plan {order [i] warps 8 walk(dim 1 of %x: b1=8192, online)
      @x0 = %x pointer vec 8 evict last   @x1 = %x pointer vec 8 evict first   @o = %o pointer vec 8 evict first} {
    %first = tile.load %x[%i, :] via @x0 : memref<1024x131072xf32> -> !tile.tile<b0=1 x 131072 x f32>
    %top = tile.reduce max %first [1] : !tile.tile<b0=1 x 131072 x f32>
    %tops = tile.broadcast %top dims [0] : !tile.tile<b0=1 x f32> to !tile.tile<b0=1 x 131072 x f32>
    %less = tile.sub %first, %tops : !tile.tile<b0=1 x 131072 x f32>
    %powers = tile.exp %less : !tile.tile<b0=1 x 131072 x f32>
    %sum = tile.reduce add %powers [1] : !tile.tile<b0=1 x 131072 x f32>
    // CHECK: tile.load %x[%i, :] via @x1 : memref
    %again = tile.load %x[%i, :] via @x1 : memref<1024x131072xf32> -> !tile.tile<b0=1 x 131072 x f32>
    %fewer = tile.sub %again, %tops : !tile.tile<b0=1 x 131072 x f32>
    %parts = tile.exp %fewer : !tile.tile<b0=1 x 131072 x f32>
    %sums = tile.broadcast %sum dims [0] : !tile.tile<b0=1 x f32> to !tile.tile<b0=1 x 131072 x f32>
    %r = tile.div %parts, %sums : !tile.tile<b0=1 x 131072 x f32>
    tile.store %r, %o[%i, :] via @o : !tile.tile<b0=1 x 131072 x f32>, memref<1024x131072xf32>
  }
  func.return
}
