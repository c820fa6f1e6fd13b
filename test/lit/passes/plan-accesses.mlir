// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(functionalise-host,plan-accesses,apply-schedule)' | filecheck %s
// RUN: kopt %s --verify-each --remarks --pass-pipeline='builtin.module(functionalise-host,plan-accesses{loop-type=grid},apply-schedule)' 2>&1 | filecheck %s --check-prefix=GRID
// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(functionalise-host,plan-accesses{loop-type=resident},apply-schedule)' | filecheck %s --check-prefix=RESIDENT
// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(functionalise-host,plan-accesses{loop-type=fori},apply-schedule)' | filecheck %s --check-prefix=FORI
// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(functionalise-host,plan-accesses{loop-type=pipeline},apply-schedule)' | filecheck %s --check-prefix=PIPELINE

// GRID-DAG: remark: the loop stays inside the kernel: not all of its blocks are whole

// What is read is small: the cheapest is to have it on the chip. As a dimension of the grid, what the loop carries is
// scratch memory.
// CHECK-LABEL: func.func @reduction
// CHECK: tile.for %k: b1=128 in (0, 300) {{.*}} schedule resident
// GRID-LABEL: func.func @reduction
// GRID: [[A:%.+]] = pallas.scratch : !tile.ref<8 x f32, vmem>
// GRID-NEXT: tile.grid (%i: b0=8, %k: b1=128) in (64, 300) reduce [1]
// GRID: tile.when first(%k) {
// GRID-NEXT: tile.full 0.0
// GRID-NEXT: tile.put {{%.+}}, [[A]][:]
// GRID: tile.get [[A]][:]
// GRID-NEXT: tile.load
// GRID: tile.put {{%.+}}, [[A]][:]
// GRID-NEXT: tile.when last(%k) {
// GRID-NEXT: [[R:%.+]] = tile.get [[A]][:]
// GRID-NEXT: tile.store [[R]]
// RESIDENT-LABEL: func.func @reduction
// RESIDENT: tile.for %k: b1=128 in (0, 300) {{.*}} schedule resident
// FORI-LABEL: func.func @reduction
// FORI: tile.for %k: b1=128 in (0, 300) {{.*}} schedule prefetch
// PIPELINE-LABEL: func.func @reduction
// PIPELINE: [[A:%.+]] = pallas.scratch : !tile.ref<8 x f32, vmem>
// PIPELINE-NEXT: tile.grid (%i: b0=8) in (64)
// PIPELINE: tile.full 0.0
// PIPELINE-NEXT: tile.put {{%.+}}, [[A]][:]
// PIPELINE-NEXT: tile.for %k: b1=128 in (0, 300) schedule emit_pipeline {
// PIPELINE-NEXT: tile.get [[A]][:]
// PIPELINE: tile.put {{%.+}}, [[A]][:]
// PIPELINE-NEXT: }
// PIPELINE-NEXT: [[R:%.+]] = tile.get [[A]][:]
// PIPELINE-NEXT: tile.store [[R]]
func.func @reduction(%x: memref<64x300xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %r = tile.for %k: b1=128 in (0, 300) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    tile.store %r, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// Bounds that are data keep the loop in the kernel.
// CHECK-LABEL: func.func @dynamic
// CHECK: tile.grid (%i2: b2=8) in (64)
// CHECK: tile.for %k2: b3=8 in (0, %end) schedule resident
// PIPELINE-LABEL: func.func @dynamic
// PIPELINE: tile.for %k2: b3=8 in (0, %end) schedule emit_pipeline
func.func @dynamic(%x: memref<64x64xf32>, %out: memref<64x64xf32>) {
  tile.grid (%i2: b2=8) in (64) {
    %end = tile.end %i2 : !tile.range<b2=8>
    tile.for %k2: b3=8 in (0, %end) {
      %v = tile.load %x[%k2, %i2] : memref<64x64xf32> -> !tile.tile<b3=8 x b2=8 x f32>
      %t = tile.transpose %v [1, 0] : !tile.tile<b3=8 x b2=8 x f32>
      tile.store %t, %out[%i2, %k2] : !tile.tile<b2=8 x b3=8 x f32>, memref<64x64xf32>
    }
  }
  func.return
}

// A loop over one block of the grid is a dimension, too.
// RESIDENT-LABEL: func.func @parts
// RESIDENT: tile.for %k9: b15=128 in (%s.begin, %s.end) {{.*}} schedule resident
// GRID-LABEL: func.func @parts
// GRID: tile.grid (%i9: b14=8, %s9: b16=256, %k9: b15=128) in (64, 512, 256) reduce [2]
// GRID: tile.when first(%k9) {
// GRID: [[K:%.+]] = tile.shift %k9 by {{%.+}} : !tile.range<b15=128>
// GRID: tile.load {{%.+}}[%i9, [[K]]]
// GRID: tile.when last(%k9) {
func.func @parts(%x: memref<64x512xf32>, %out: memref<64xf32>) {
  tile.grid (%i9: b14=8, %s9: b16=256) in (64, 512) {
    %s.begin = tile.begin %s9 : !tile.range<b16=256>
    %s.end = tile.end %s9 : !tile.range<b16=256>
    %z = tile.full 0.0 : !tile.tile<b14=8 x f32>
    %r = tile.for %k9: b15=128 in (%s.begin, %s.end) iter(%a = %z) -> (!tile.tile<b14=8 x f32>) {
      %v = tile.load %x[%i9, %k9] : memref<64x512xf32> -> !tile.tile<b14=8 x b15=128 x f32>
      %t = tile.reduce add %v [1] : !tile.tile<b14=8 x b15=128 x f32>
      %n = tile.add %a, %t : !tile.tile<b14=8 x f32>
      tile.yield %n : !tile.tile<b14=8 x f32>
    }
    atomic.rmw add %r, %out[%i9] : !tile.tile<b14=8 x f32>, memref<64xf32>
  }
  func.return
}

// The last part has fewer visits than the others.
// GRID-LABEL: func.func @uneven
// GRID: tile.for %k10
func.func @uneven(%x: memref<64x640xf32>, %out: memref<64xf32>) {
  tile.grid (%i10: b17=8, %s10: b18=256) in (64, 640) {
    %s.begin = tile.begin %s10 : !tile.range<b18=256>
    %s.end = tile.end %s10 : !tile.range<b18=256>
    %z = tile.full 0.0 : !tile.tile<b17=8 x f32>
    %r = tile.for %k10: b19=128 in (%s.begin, %s.end) iter(%a = %z) -> (!tile.tile<b17=8 x f32>) {
      %v = tile.load %x[%i10, %k10] : memref<64x640xf32> -> !tile.tile<b17=8 x b19=128 x f32>
      %t = tile.reduce add %v [1] : !tile.tile<b17=8 x b19=128 x f32>
      %n = tile.add %a, %t : !tile.tile<b17=8 x f32>
      tile.yield %n : !tile.tile<b17=8 x f32>
    }
    atomic.rmw add %r, %out[%i10] : !tile.tile<b17=8 x f32>, memref<64xf32>
  }
  func.return
}

// Blocks that begin at no multiple of their size stay in windows; index arithmetic moves out of a pipelined loop.
// PIPELINE-LABEL: func.func @begins
// PIPELINE: arith.divui
// PIPELINE-NEXT: tile.for %k4: b7=128 in (0, 512) schedule emit_pipeline
// PIPELINE: tile.for %k5: b8=256 in (128, 512) schedule resident
func.func @begins(%x: memref<4x8x512xf32>, %out: memref<8x8x512xf32>) {
  tile.grid (%i4: b6=1) in (8) {
    %n = tile.begin %i4 : !tile.range<b6=1>
    tile.for %k4: b7=128 in (0, 512) {
      %c2 = arith.constant 2 : index
      %half = arith.divui %n, %c2 : index
      %v = tile.load %x[%half, :, %k4] : memref<4x8x512xf32> -> !tile.tile<8 x b7=128 x f32>
      tile.store %v, %out[%n, :, %k4] : !tile.tile<8 x b7=128 x f32>, memref<8x8x512xf32>
    }
    tile.for %k5: b8=256 in (128, 512) {
      %v = tile.load %out[%n, :, %k5] : memref<8x8x512xf32> -> !tile.tile<8 x b8=256 x f32>
      tile.store %v, %out[%n, :, %k5] : !tile.tile<8 x b8=256 x f32>, memref<8x8x512xf32>
    }
  }
  func.return
}

// Rows that do not fit the chip are streamed: by DMAs where loops only read, by pipelines where they write too.
// CHECK-LABEL: func.func @long_rows
// CHECK: tile.for %k6: b10=1024 in (0, 2000000) schedule emit_pipeline
// CHECK: tile.for %k7: b11=1024 in (0, 2000000) schedule emit_pipeline
func.func @long_rows(%x: memref<8x2000000xf32>, %out: memref<8x2000000xf32>) {
  tile.grid (%i6: b9=8) in (8) {
    tile.for %k6: b10=1024 in (0, 2000000) {
      %v = tile.load %x[%i6, %k6] : memref<8x2000000xf32> -> !tile.tile<b9=8 x b10=1024 x f32>
      tile.store %v, %out[%i6, %k6] : !tile.tile<b9=8 x b10=1024 x f32>, memref<8x2000000xf32>
    }
    tile.for %k7: b11=1024 in (0, 2000000) {
      %v = tile.load %out[%i6, %k7] : memref<8x2000000xf32> -> !tile.tile<b9=8 x b11=1024 x f32>
      %w = tile.add %v, %v : !tile.tile<b9=8 x b11=1024 x f32>
      tile.store %w, %out[%i6, %k7] : !tile.tile<b9=8 x b11=1024 x f32>, memref<8x2000000xf32>
    }
  }
  func.return
}

// What nothing uses after the loop is not read after the last visit.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: tile.when last
// CHECK: func.return
func.func @unused(%x: memref<64x300xf32>, %out: memref<64x300xf32>) {
  tile.grid (%i3: b4=8) in (64) {
    %z = tile.full 0.0 : !tile.tile<b4=8 x f32>
    %r = tile.for %k3: b5=128 in (0, 300) iter(%a = %z) -> (!tile.tile<b4=8 x f32>) {
      %v = tile.load %x[%i3, %k3] : memref<64x300xf32> -> !tile.tile<b4=8 x b5=128 x f32>
      %b = tile.broadcast %a dims [0] : !tile.tile<b4=8 x f32> to !tile.tile<b4=8 x b5=128 x f32>
      %w = tile.add %v, %b : !tile.tile<b4=8 x b5=128 x f32>
      tile.store %w, %out[%i3, %k3] : !tile.tile<b4=8 x b5=128 x f32>, memref<64x300xf32>
      %s = tile.reduce add %v [1] : !tile.tile<b4=8 x b5=128 x f32>
      tile.yield %s : !tile.tile<b4=8 x f32>
    }
  }
  func.return
}

// Blocks at computed places of a large array are fetched by the cells, where the numbers are too many for scalar memory;
// the grid's blocks of one, and a small array, are not.
// CHECK-LABEL: func.func @computed_places
// CHECK: @x = %x_1 dma
// CHECK: @y = %y_1 window(i4) x2
// CHECK: @z = %z_1 window
// CHECK: tile.load %x_1[%place] via @x
// FORI-LABEL: func.func @computed_places
// FORI: @z = %z_1 dma
func.func @computed_places(%n: memref<400000xi32>, %x: memref<5120000xf32>, %y: memref<5120000xf32>, %z: memref<51200xf32>, %out: memref<5120000xf32>) {
  tile.grid (%i4: b6=128) in (5120000) {
    %at = tile.load %n[0] : memref<400000xi32> -> !tile.tile<i32>
    %one = tile.extract %at : !tile.tile<i32> to index
    %unit = arith.constant 128 : index
    %last = arith.constant 390 : index
    %bounded = arith.minsi %one, %last : index
    %first = arith.muli %bounded, %unit : index
    %whole = tile.whole 128 : !tile.range<b7=128>
    %place = tile.shift %whole by %first : !tile.range<b7=128>
    %v = tile.load %x[%place] : memref<5120000xf32> -> !tile.tile<b7=128 x f32>
    %u = tile.load %y[%i4] : memref<5120000xf32> -> !tile.tile<b6=128 x f32>
    %w = tile.load %z[%place] : memref<51200xf32> -> !tile.tile<b7=128 x f32>
    %s = tile.add %v, %w : !tile.tile<b7=128 x f32>
    %t = tile.reduce add %s [0] : !tile.tile<b7=128 x f32>
    %b = tile.broadcast %t dims [] : !tile.tile<f32> to !tile.tile<b6=128 x f32>
    %r = tile.add %u, %b : !tile.tile<b6=128 x f32>
    tile.store %r, %out[%i4] : !tile.tile<b6=128 x f32>, memref<5120000xf32>
  }
  func.return
}

// So are those in a loop of one visit. A loop that walks from such a place on is no dimension of the grid: no window moves so.
// CHECK-LABEL: func.func @walked_from_computed_places
// CHECK: tile.grid (%i5: b8=128) in (5120000)
// CHECK: @x = %x_1 dma
// CHECK: @y = %y_1 prefetch(m5) x2
// CHECK: schedule prefetch
func.func @walked_from_computed_places(%n: memref<400000xi32>, %x: memref<51200000xf32>, %y: memref<5120000xf32>, %out: memref<5120000xf32>) {
  tile.grid (%i5: b8=128) in (5120000) {
    %at = tile.load %n[0] : memref<400000xi32> -> !tile.tile<i32>
    %one = tile.extract %at : !tile.tile<i32> to index
    %unit = arith.constant 512 : index
    %first = arith.muli %one, %unit : index
    %zero = tile.full 0.0 : !tile.tile<f32>
    %whole = tile.whole 128 : !tile.range<b11=128>
    %fixed = tile.shift %whole by %first : !tile.range<b11=128>
    %sum = tile.for %k5: b9=128 in (0, 128) iter(%a = %zero) -> (!tile.tile<f32>) {
      %v = tile.load %x[%fixed] : memref<51200000xf32> -> !tile.tile<b11=128 x f32>
      %t = tile.reduce add %v [0] : !tile.tile<b11=128 x f32>
      %s = tile.add %a, %t : !tile.tile<f32>
      tile.yield %s : !tile.tile<f32>
    }
    %total = tile.for %m5: b10=128 in (0, 512) iter(%a = %sum) -> (!tile.tile<f32>) {
      %place = tile.shift %m5 by %first : !tile.range<b10=128>
      %v = tile.load %y[%place] : memref<5120000xf32> -> !tile.tile<b10=128 x f32>
      %t = tile.reduce add %v [0] : !tile.tile<b10=128 x f32>
      %s = tile.add %a, %t : !tile.tile<f32>
      tile.yield %s : !tile.tile<f32>
    }
    %b = tile.broadcast %total dims [] : !tile.tile<f32> to !tile.tile<b8=128 x f32>
    tile.store %b, %out[%i5] : !tile.tile<b8=128 x f32>, memref<5120000xf32>
  }
  func.return
}

// Numbers that fit scalar memory are there before the grid runs: windows load them, and loops are dimensions of the grid.
// CHECK-LABEL: func.func @addressed
// CHECK: @n = %n_1 smem whole
// CHECK: @x = %x_1 window(i6) address @n x2
// GRID-LABEL: func.func @addressed
// GRID: tile.grid (%i6: b12=128, %m6: b13=128) in (5120000, 512)
// GRID: @n = %n_1 smem whole
// GRID: @x = %x_1 window(i6) address @n x2
// GRID: @y = %y_1 window(i6, m6) address @n x2
// FORI-LABEL: func.func @addressed
// FORI: @x = %x_1 dma
func.func @addressed(%n: memref<40000xi32>, %x: memref<5120000xf32>, %y: memref<5120000xf32>, %out: memref<5120000xf32>) {
  tile.grid (%i6: b12=128) in (5120000) {
    %id = tile.id %i6 : !tile.range<b12=128>
    %at = tile.load %n[%id] : memref<40000xi32> -> !tile.tile<i32>
    %one = tile.extract %at : !tile.tile<i32> to index
    %unit = arith.constant 512 : index
    %least = arith.constant 0 : index
    %most = arith.constant 9999 : index
    %above = arith.maxsi %one, %least : index
    %bounded = arith.minsi %above, %most : index
    %first = arith.muli %bounded, %unit : index
    %whole = tile.whole 128 : !tile.range<b14=128>
    %fixed = tile.shift %whole by %first : !tile.range<b14=128>
    %v = tile.load %x[%fixed] : memref<5120000xf32> -> !tile.tile<b14=128 x f32>
    %start = tile.reduce add %v [0] : !tile.tile<b14=128 x f32>
    %total = tile.for %m6: b13=128 in (0, 512) iter(%a = %start) -> (!tile.tile<f32>) {
      %place = tile.shift %m6 by %first : !tile.range<b13=128>
      %w = tile.load %y[%place] : memref<5120000xf32> -> !tile.tile<b13=128 x f32>
      %t = tile.reduce add %w [0] : !tile.tile<b13=128 x f32>
      %s = tile.add %a, %t : !tile.tile<f32>
      tile.yield %s : !tile.tile<f32>
    }
    %b = tile.broadcast %total dims [] : !tile.tile<f32> to !tile.tile<b12=128 x f32>
    tile.store %b, %out[%i6] : !tile.tile<b12=128 x f32>, memref<5120000xf32>
  }
  func.return
}
