// RUN: kopt %s --split-input-file --verify-diagnostics -p convert-tile-to-triton | filecheck %s
// RUN: kopt %s --split-input-file --verify-diagnostics -p 'plan-accesses{chip=sm90 num_warps=8 num_stages=3},convert-tile-to-triton' | filecheck %s --check-prefix=OPTIONS

// Ranges come from the program's number; accesses stay, columns first.
// CHECK-LABEL: func.func @grid
// CHECK: triton.launch @grid_0 (%x_1 = %x, %out_1 = %out writeonly) grid (32) num_warps 16 num_stages 1 {
// CHECK-NEXT: %pid = triton.program_id
// CHECK: %j_block = arith.remsi %pid, {{%.+}} : index
// CHECK: [[I:%.+]] = arith.divsi %pid, {{%.+}} : index
// CHECK-NEXT: %i = triton.range [[I]] in (0, 1000) : !tile.range<b0=128>
// CHECK-NEXT: %j = triton.range %j_block in (0, 256) : !tile.range<b1=64>
// CHECK-NEXT: %v = tile.load %x_1[%i, %j] : memref<1000x256xf32> -> !tile.tile<b0=128 x b1=64 x f32>
// CHECK-NEXT: tile.store %v, %out_1[%i, %j]
// OPTIONS: num_warps 8 num_stages 3
func.func @grid(%x: memref<1000x256xf32>, %out: memref<1000x256xf32>) {
  tile.grid (%i: b0=128, %j: b1=64) in (1000, 256) {
    %v = tile.load %x[%i, %j] : memref<1000x256xf32> -> !tile.tile<b0=128 x b1=64 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=128 x b1=64 x f32>, memref<1000x256xf32>
  }
  func.return
}

// -----

// A pad stays where lanes of one dimension may be missing, and goes where none may.
// CHECK-LABEL: func.func @some_ragged
// CHECK: tile.load %x_1[%i, :] pad 1.0 :
// CHECK: tile.load %x_1[0:16, :] :
func.func @some_ragged(%x: memref<60x16xf32>, %out: memref<64x16xf32>) {
  tile.grid (%i: b0=16) in (60) {
    %v = tile.load %x[%i, :] pad 1.0 : memref<60x16xf32> -> !tile.tile<b0=16 x 16 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 16 x f32>, memref<64x16xf32>
    %w = tile.load %x[0:16, :] pad 1.0 : memref<60x16xf32> -> !tile.tile<16 x 16 x f32>
    tile.store %w, %out[48:64, :] : !tile.tile<16 x 16 x f32>, memref<64x16xf32>
  }
  func.return
}

// -----

// Zeros of either sign are two fills.
// CHECK-LABEL: func.func @zeros
// CHECK: [[V:%v]] = tile.load %x_1[%i] mask %k :
// CHECK-NEXT: tile.mask [[V]] in (%i) else -0.0
// CHECK: %w = tile.load %x_1[%i] mask %k :
// CHECK-NEXT: tile.store %w
func.func @zeros(%x: memref<60xf32>) {
  tile.grid (%i: b0=16) in (60) {
    %k = tile.full true : !tile.tile<b0=16 x i1>
    %v = tile.load %x[%i] mask %k pad -0.0 : memref<60xf32> -> !tile.tile<b0=16 x f32>
    tile.store %v, %x[%i] : !tile.tile<b0=16 x f32>, memref<60xf32>
    %w = tile.load %x[%i] mask %k pad 0.0 : memref<60xf32> -> !tile.tile<b0=16 x f32>
    tile.store %w, %x[%i] : !tile.tile<b0=16 x f32>, memref<60xf32>
  }
  func.return
}

// -----

// A pad becomes what the load fills with; beside another fill it is a mask. Gathered rows are checked by their tag.
// CHECK-LABEL: func.func @fills
// CHECK: %a = tile.load %x_1[%i] pad -inf
// CHECK: [[M:%b]] = tile.load %x_1[%i] mask %m other 1.0 :
// CHECK-NEXT: %b_1 = tile.mask [[M]] in (%i) else -inf
// CHECK: %n = tile.load %ids_1[%i] pad 0
// CHECK-NEXT: %g = tile.load %x_1[%n] :
func.func @fills(%x: memref<1000xf32>, %ids: memref<1000xi32>) {
  tile.grid (%i: b0=128) in (1000) {
    %m = tile.full 1 : !tile.tile<b0=128 x i1>
    %a = tile.load %x[%i] pad -inf : memref<1000xf32> -> !tile.tile<b0=128 x f32>
    tile.store %a, %x[%i] : !tile.tile<b0=128 x f32>, memref<1000xf32>
    %b = tile.load %x[%i] mask %m other 1.0 pad -inf : memref<1000xf32> -> !tile.tile<b0=128 x f32>
    tile.store %b, %x[%i] : !tile.tile<b0=128 x f32>, memref<1000xf32>
    %n = tile.load %ids[%i] : memref<1000xi32> -> !tile.tile<b0=128 x i32>
    %g = tile.load %x[%n] : memref<1000xf32> -> !tile.tile<b0=128 x f32>
    tile.store %g, %x[%i] : !tile.tile<b0=128 x f32>, memref<1000xf32>
  }
  func.return
}

// -----

// A grid without cells launches nothing.
// CHECK-LABEL: func.func @empty
// CHECK-NEXT: func.return
func.func @empty(%x: memref<0xf32>) {
  tile.grid (%i: b0=128) in (0) {
    %v = tile.load %x[%i] : memref<0xf32> -> !tile.tile<b0=128 x f32>
    tile.store %v, %x[%i] : !tile.tile<b0=128 x f32>, memref<0xf32>
  }
  func.return
}

// -----

func.func @large(%x: memref<1000x16384xf32>) {
  tile.grid (%i: b0=128) in (1000) {
    // expected-error @+1 {{a block of 2097152 lanes (!tile.tile<b0=128 x 16384 x f32>): Triton allows 1048576}}
    %v = tile.load %x[%i, :] : memref<1000x16384xf32> -> !tile.tile<b0=128 x 16384 x f32>
    tile.store %v, %x[%i, :] : !tile.tile<b0=128 x 16384 x f32>, memref<1000x16384xf32>
  }
  func.return
}

// -----

func.func @too_many(%x: memref<65536x32768xf32>) {
  // expected-error @+1 {{a GPU cannot launch 2147483648 programs: use larger blocks}}
  tile.grid (%i: b0=1, %j: b1=1) in (65536, 32768) {
    %v = tile.load %x[%i, %j] : memref<65536x32768xf32> -> !tile.tile<b0=1 x b1=1 x f32>
    tile.store %v, %x[%i, %j] : !tile.tile<b0=1 x b1=1 x f32>, memref<65536x32768xf32>
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @not_too_many
// CHECK: triton.launch
func.func @not_too_many(%x: memref<65536x32767xf32>) {
  tile.grid (%i: b0=1, %j: b1=1) in (65536, 32767) {
    %v = tile.load %x[%i, %j] : memref<65536x32767xf32> -> !tile.tile<b0=1 x b1=1 x f32>
    tile.store %v, %x[%i, %j] : !tile.tile<b0=1 x b1=1 x f32>, memref<65536x32767xf32>
  }
  func.return
}

// -----

func.func @ordered(%x: memref<1000xf32>) {
  // expected-error @+1 {{Triton runs the cells of a grid in no order: use a loop inside}}
  tile.grid (%i: b0=128) in (1000) ordered [0] {
    %v = tile.load %x[%i] : memref<1000xf32> -> !tile.tile<b0=128 x f32>
    tile.store %v, %x[%i] : !tile.tile<b0=128 x f32>, memref<1000xf32>
  }
  func.return
}

// -----

func.func @warps(%x: memref<64xf32>) {
  // expected-error @+1 {{a program has 1, 2, 4, 8, 16, 32 warps, not 3}}
  tile.grid (%i: b0=16) in (64) plan {order [i] warps 3} {
  }
  func.return
}

// -----

// Updates stay as they are.
// CHECK-LABEL: func.func @updates
// CHECK: atomic.rmw add %v, %x_1[%i] ordering release : !tile.tile<b0=128 x f32>, memref<1000xf32>
// CHECK-NEXT: %old = atomic.rmw max %v, %x_1[%i] : !tile.tile<b0=128 x f32>, memref<1000xf32> -> !tile.tile<b0=128 x f32>
// CHECK-NEXT: %was = atomic.cas %v, %old, %x_1[%i] :
func.func @updates(%x: memref<1000xf32>) {
  tile.grid (%i: b0=128) in (1000) {
    %v = tile.full 1.0 : !tile.tile<b0=128 x f32>
    atomic.rmw add %v, %x[%i] ordering release : !tile.tile<b0=128 x f32>, memref<1000xf32>
    %old = atomic.rmw max %v, %x[%i] : !tile.tile<b0=128 x f32>, memref<1000xf32> -> !tile.tile<b0=128 x f32>
    %was = atomic.cas %v, %old, %x[%i] : !tile.tile<b0=128 x f32>, memref<1000xf32>
  }
  func.return
}

// -----

// Programs that are fewer than cells take them in turn, or ('share blocked') runs of neighbours.
// CHECK-LABEL: func.func @in_turn
// CHECK: triton.launch @in_turn_0 {{.*}} persistent 4 num_warps
func.func @in_turn(%x: memref<64xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] programs 4 @x = %x pointer @out = %out pointer} {
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=8 x f32>
    tile.store %v, %out[%i] via @out : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @in_runs
// CHECK: triton.launch @in_runs_0 {{.*}} persistent 4 blocked num_warps
func.func @in_runs(%x: memref<64xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] programs 4 share blocked @x = %x pointer @out = %out pointer} {
    %v = tile.load %x[%i] via @x : memref<64xf32> -> !tile.tile<b0=8 x f32>
    tile.store %v, %out[%i] via @out : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// -----

// Products of sm90 run beside the program: a loop of them that may have no visits stands behind a condition. One that
// ends behind its program's first row has some, and so has one with numbers as bounds.
// CHECK-LABEL: func.func @guarded
// CHECK: tile.for %k: b2=64 in (0, [[BEGIN:%.+]]) iter(%a = %z) -> ({{.*}}) attributes {guarded} {
// CHECK: tile.for %l: b3=64 in (0, [[END:%.+]]) iter(%c = %z) -> ({{.*}}f32>) {
// CHECK: tile.for %m: b4=64 in (0, 512) iter(%e = %z) -> ({{.*}}f32>) {
func.func @guarded(%x: memref<512x64xbf16>, %out: memref<512x64xf32>) {
  tile.grid (%i: b0=64) in (512) {
    %n = tile.whole 64 : !tile.range<b1=64>
    %z = tile.full 0.0 : !tile.tile<b0=64 x b1=64 x f32>
    %begin = tile.begin %i : !tile.range<b0=64>
    %end = tile.end %i : !tile.range<b0=64>
    %q = tile.load %x[%i, %n] : memref<512x64xbf16> -> !tile.tile<b0=64 x b1=64 x bf16>
    %r = tile.for %k: b2=64 in (0, %begin) iter(%a = %z) -> (!tile.tile<b0=64 x b1=64 x f32>) {
      %v = tile.load %x[%k, %n] : memref<512x64xbf16> -> !tile.tile<b2=64 x b1=64 x bf16>
      %w = tile.transpose %v [1, 0] : !tile.tile<b2=64 x b1=64 x bf16>
      %s = tile.dot %q, %w : !tile.tile<b0=64 x b1=64 x bf16>, !tile.tile<b1=64 x b2=64 x bf16> -> !tile.tile<b0=64 x b2=64 x f32>
      %h = tile.cast %s : !tile.tile<b0=64 x b2=64 x f32> to !tile.tile<b0=64 x b2=64 x bf16>
      %b = tile.dot %h, %v, %a : !tile.tile<b0=64 x b2=64 x bf16>, !tile.tile<b2=64 x b1=64 x bf16> -> !tile.tile<b0=64 x b1=64 x f32>
      tile.yield %b : !tile.tile<b0=64 x b1=64 x f32>
    }
    tile.store %r, %out[%i, %n] : !tile.tile<b0=64 x b1=64 x f32>, memref<512x64xf32>
    %t = tile.for %l: b3=64 in (0, %end) iter(%c = %z) -> (!tile.tile<b0=64 x b1=64 x f32>) {
      %y = tile.load %x[%l, %n] : memref<512x64xbf16> -> !tile.tile<b3=64 x b1=64 x bf16>
      %o = tile.full 1.0 : !tile.tile<b0=64 x b3=64 x bf16>
      %d = tile.dot %o, %y, %c : !tile.tile<b0=64 x b3=64 x bf16>, !tile.tile<b3=64 x b1=64 x bf16> -> !tile.tile<b0=64 x b1=64 x f32>
      tile.yield %d : !tile.tile<b0=64 x b1=64 x f32>
    }
    tile.store %t, %out[%i, %n] : !tile.tile<b0=64 x b1=64 x f32>, memref<512x64xf32>
    %u = tile.for %m: b4=64 in (0, 512) iter(%e = %z) -> (!tile.tile<b0=64 x b1=64 x f32>) {
      %y = tile.load %x[%m, %n] : memref<512x64xbf16> -> !tile.tile<b4=64 x b1=64 x bf16>
      %o = tile.full 1.0 : !tile.tile<b0=64 x b4=64 x bf16>
      %f = tile.dot %o, %y, %e : !tile.tile<b0=64 x b4=64 x bf16>, !tile.tile<b4=64 x b1=64 x bf16> -> !tile.tile<b0=64 x b1=64 x f32>
      tile.yield %f : !tile.tile<b0=64 x b1=64 x f32>
    }
    tile.store %u, %out[%i, %n] : !tile.tile<b0=64 x b1=64 x f32>, memref<512x64xf32>
  }
  func.return
}

// -----

// The number of a block and their count: the program's number, and a constant; of a loop's blocks they stay.
// CHECK-LABEL: func.func @numbers
// CHECK-NEXT: triton.launch @numbers_0 (%out_1 = %out writeonly) grid (24) num_warps 1 num_stages 2 {
// CHECK-NEXT: %pid = triton.program_id
// CHECK-NEXT: %j_blocks = arith.constant {constexpr} 3 : index
// CHECK-NEXT: %j_block = arith.remsi %pid, %j_blocks : index
// CHECK-NEXT: %a = arith.divsi %pid, %j_blocks : index
// CHECK-NEXT: %i = triton.range %a in (0, 120) : !tile.range<b0=16>
// CHECK-NEXT: %j = triton.range %j_block in (0, 9) : !tile.range<b1=4>
// CHECK-NEXT: %b = arith.constant 8 : index
// CHECK-NEXT: %c = arith.constant 3 : index
// CHECK-NEXT: %d = arith.addi %a, %b : index
// CHECK-NEXT: %e = arith.muli %d, %c : index
// CHECK-NEXT: tile.for %k: b2=4 in (0, 7) {
// CHECK-NEXT: %f = tile.id %k : !tile.range<b2=4>
// CHECK-NEXT: %g = tile.count %k : !tile.range<b2=4>
// CHECK-NEXT: %h = arith.addi %f, %g : index
// CHECK-NEXT: %l = arith.addi %h, %e : index
// CHECK-NEXT: %v = tile.splat %l : index to !tile.tile<i32>
// CHECK-NEXT: tile.store %v, %out_1[%a, %j_block] : !tile.tile<i32>, memref<8x3xi32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @numbers(%out: memref<8x3xi32>) {
  tile.grid (%i: b0=16, %j: b1=4) in (120, 9) {
    %a = tile.id %i : !tile.range<b0=16>
    %b = tile.count %i : !tile.range<b0=16>
    %c = tile.count %j : !tile.range<b1=4>
    %d = arith.addi %a, %b : index
    %e = arith.muli %d, %c : index
    tile.for %k: b2=4 in (0, 7) {
      %f = tile.id %k : !tile.range<b2=4>
      %g = tile.count %k : !tile.range<b2=4>
      %h = arith.addi %f, %g : index
      %l = arith.addi %h, %e : index
      %v = tile.splat %l : index to !tile.tile<i32>
      %m = tile.id %j : !tile.range<b1=4>
      tile.store %v, %out[%a, %m] : !tile.tile<i32>, memref<8x3xi32>
    }
  }
  func.return
}

// -----

func.func @outside(%out: memref<8xi32>, %n: i32) {
  // expected-error @+1 {{a kernel cannot use the host's i32 %n}}
  tile.grid (%i: b0=1) in (8) {
    %v = tile.splat %n : i32 to !tile.tile<i32>
    %b = tile.begin %i : !tile.range<b0=1>
    tile.store %v, %out[%b] : !tile.tile<i32>, memref<8xi32>
  }
  func.return
}

// -----

// A kernel's arrays are in the order of the function, those that it makes behind its arguments; constants are its own.
// CHECK-LABEL: func.func @order
// CHECK-NEXT: %c = host.alloc : memref<8xf32>
// CHECK-NEXT: %d = host.alloc : memref<8xf32>
// CHECK-NEXT: %five = arith.constant 5 : index
// CHECK-NEXT: host.partition capture {
// CHECK-NEXT: triton.launch @order_0 (%a_1 = %a, %b_1 = %b writeonly, %c_1 = %c writeonly, %d_1 = %d) grid (1) num_warps 1 num_stages 1 {
// CHECK-NEXT: %five_1 = arith.constant 5 : index
// CHECK-NEXT: %pid = triton.program_id
// CHECK-NEXT: %0 = arith.constant 0 : index
// CHECK-NEXT: %i = triton.range %0 in (0, 8) : !tile.range<b0=8>
// CHECK-NEXT: %v = tile.load %d_1[%five_1] : memref<8xf32> -> !tile.tile<f32>
// CHECK-NEXT: tile.store %v, %b_1[%five_1] : !tile.tile<f32>, memref<8xf32>
// CHECK-NEXT: %w = tile.load %a_1[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
// CHECK-NEXT: tile.store %w, %c_1[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @order(%a: memref<8xf32>, %b: memref<8xf32>) {
  %c = host.alloc : memref<8xf32>
  %d = host.alloc : memref<8xf32>
  %five = arith.constant 5 : index
  host.partition capture {
    tile.grid (%i: b0=8) in (8) {
      %v = tile.load %d[%five] : memref<8xf32> -> !tile.tile<f32>
      tile.store %v, %b[%five] : !tile.tile<f32>, memref<8xf32>
      %w = tile.load %a[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
      tile.store %w, %c[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
    }
  }
  func.return
}
