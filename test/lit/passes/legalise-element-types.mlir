// RUN: kopt %s --split-input-file --verify-each --verify-diagnostics --pass-pipeline='builtin.module(functionalise-host,legalise-element-types)' | filecheck %s

// Bool arrays are 8-bit integers for the kernel.
// CHECK-LABEL: func.func @bools
// CHECK: [[X:%.+]] = host.call "prims.convert_element_type.default"(%x) args [unit, "i8"]
// CHECK: host.launch @bools ({{%.+}} = [[X]],
// CHECK: [[V:%.+]] = tile.load {{.*}} -> !tile.tile<b0=32 x 128 x i8>
// CHECK-NEXT: [[W:%.+]] = tile.cast [[V]] {{.*}} i32>
// CHECK-NEXT: tile.cast [[W]] {{.*}} i1>
// CHECK: host.call "prims.convert_element_type.default"({{.*}}) args [unit, "i1"]
func.func @bools(%x: memref<64x128xi1>, %out: memref<64x128xi1>) -> memref<64x128xi1> {
  tile.grid (%i: b0=32) in (64) {
    %v = tile.load %x[%i, :] : memref<64x128xi1> -> !tile.tile<b0=32 x 128 x i1>
    %n = tile.not %v : !tile.tile<b0=32 x 128 x i1>
    tile.store %n, %out[%i, :] : !tile.tile<b0=32 x 128 x i1>, memref<64x128xi1>
  }
  func.return %out : memref<64x128xi1>
}

// -----

// What has no dimensions has 32 bits, as scalars have; who casts what is loaded takes it so.
// CHECK-LABEL: func.func @scalars
// CHECK: [[S:%.+]] = host.call "prims.convert_element_type.default"(%s) args [unit, "f32"]
// CHECK: [[N:%.+]] = host.call "prims.convert_element_type.default"(%n) args [unit, "i32"]
// CHECK: tile.load {{%.+}}[] : memref<f32> -> !tile.tile<f32>
// CHECK-NEXT: tile.broadcast
// CHECK: tile.store {{%.+}}, {{%.+}}[] : !tile.tile<i32>, memref<i32>
// CHECK: host.call "prims.convert_element_type.default"({{.*}}) args [unit, "i8"]
func.func @scalars(%x: memref<64x128xf32>, %s: memref<bf16>, %n: memref<i8>) {
  tile.grid (%i: b0=64) in (64) {
    %v = tile.load %s[] : memref<bf16> -> !tile.tile<bf16>
    %w = tile.cast %v : !tile.tile<bf16> to !tile.tile<f32>
    %b = tile.broadcast %w dims [] : !tile.tile<f32> to !tile.tile<b0=64 x 128 x f32>
    tile.store %b, %x[%i, :] : !tile.tile<b0=64 x 128 x f32>, memref<64x128xf32>
    %one = tile.full 1 : !tile.tile<i8>
    tile.store %one, %n[] : !tile.tile<i8>, memref<i8>
  }
  func.return
}

// -----

func.func @double(%x: memref<64x128xf64>, %out: memref<64x128xf64>) {
  tile.grid (%i: b0=32) in (64) {
    // expected-error @+1 {{a TPU has no f64}}
    %v = tile.load %x[%i, :] : memref<64x128xf64> -> !tile.tile<b0=32 x 128 x f64>
    tile.store %v, %out[%i, :] : !tile.tile<b0=32 x 128 x f64>, memref<64x128xf64>
  }
  func.return
}

// -----

// Sums of 64 bits are right in 32 where a call has found the numbers of an argument in the interval.
// CHECK-LABEL: func.func @long_sum
// CHECK-SAME: %x: memref<64x128xi64> {kopt.interval = array<i64: -1073741823, 1073741823>}
// CHECK: tile.add %v, %v : !tile.tile<b0=32 x 128 x i32>
func.func @long_sum(%x: memref<64x128xi64>) -> memref<64x128xi64> {
  %out = host.alloc : memref<64x128xi64>
  tile.grid (%i: b0=32) in (64) {
    %v = tile.load %x[%i, :] : memref<64x128xi64> -> !tile.tile<b0=32 x 128 x i64>
    %s = tile.add %v, %v : !tile.tile<b0=32 x 128 x i64>
    tile.store %s, %out[%i, :] : !tile.tile<b0=32 x 128 x i64>, memref<64x128xi64>
  }
  func.return %out : memref<64x128xi64>
}

// -----

// What a launch writes itself may be larger.
func.func @sum_in_place(%x: memref<64x128xi64>) {
  tile.grid (%i: b0=32) in (64) {
    %v = tile.load %x[%i, :] : memref<64x128xi64> -> !tile.tile<b0=32 x 128 x i64>
    // expected-error @+1 {{a TPU has no 64-bit integers, and 'tile.add' may not fit 32 bits}}
    %s = tile.add %v, %v : !tile.tile<b0=32 x 128 x i64>
    tile.store %s, %x[%i, :] : !tile.tile<b0=32 x 128 x i64>, memref<64x128xi64>
  }
  func.return
}

// -----

// What f16 rounds is rounded in f32: beside a number 12288 times the power of two, 2^-14 at least; from 65520 on infinite.
// CHECK-LABEL: func.func @f16
// CHECK: [[E:%.+]] = tile.exp %v : !tile.tile<b0=32 x 128 x f32>
// CHECK-NEXT: [[B:%.+]] = tile.bitcast %e : !tile.tile<b0=32 x 128 x f32> to !tile.tile<b0=32 x 128 x i32>
// CHECK: tile.full 2139095040
// CHECK: tile.maximum
// CHECK: tile.full 12288.0
// CHECK: [[L:%.+]] = tile.mul
// CHECK-NEXT: [[U:%.+]] = tile.add [[E]], [[L]]
// CHECK-NEXT: tile.sub [[U]], [[L]]
// CHECK: tile.full 65520.0
// CHECK: %r = tile.select
// CHECK-NEXT: tile.store %r
func.func @f16(%x: memref<64x128xf16>, %out: memref<64x128xf32>) {
  tile.grid (%i: b0=32) in (64) {
    %v = tile.load %x[%i, :] : memref<64x128xf16> -> !tile.tile<b0=32 x 128 x f16>
    %w = tile.cast %v : !tile.tile<b0=32 x 128 x f16> to !tile.tile<b0=32 x 128 x f32>
    %e = tile.exp %w : !tile.tile<b0=32 x 128 x f32>
    %r = tile.cast %e : !tile.tile<b0=32 x 128 x f32> to !tile.tile<b0=32 x 128 x f16>
    %s = tile.cast %r : !tile.tile<b0=32 x 128 x f16> to !tile.tile<b0=32 x 128 x f32>
    tile.store %s, %out[%i, :] : !tile.tile<b0=32 x 128 x f32>, memref<64x128xf32>
  }
  func.return
}

// -----

// What a kernel loads again must have been rounded; what it has loaded before, the host rounds.
// CHECK-LABEL: func.func @read_back
// CHECK: %c = tile.exp
// CHECK-NEXT: tile.store %c
// CHECK: tile.bitcast %v
// CHECK: %h = tile.select
// CHECK-NEXT: tile.store %h
func.func @read_back(%x: memref<64x128xf32>, %y: memref<64x128xf16>, %out: memref<64x128xf32>) {
  %half = host.alloc : memref<64x128xf16>
  tile.grid (%i: b0=32) in (64) {
    %zero = arith.constant 0 : index
    %end = arith.constant 128 : index
    tile.for %j: b1=128 in (%zero, %end) {
      %a = tile.load %y[%i, %j] : memref<64x128xf16> -> !tile.tile<b0=32 x b1=128 x f16>
      %b = tile.cast %a : !tile.tile<b0=32 x b1=128 x f16> to !tile.tile<b0=32 x b1=128 x f32>
      %c = tile.exp %b : !tile.tile<b0=32 x b1=128 x f32>
      %d = tile.cast %c : !tile.tile<b0=32 x b1=128 x f32> to !tile.tile<b0=32 x b1=128 x f16>
      tile.store %d, %y[%i, %j] : !tile.tile<b0=32 x b1=128 x f16>, memref<64x128xf16>
    }
    %v = tile.load %x[%i, :] : memref<64x128xf32> -> !tile.tile<b0=32 x 128 x f32>
    %h = tile.cast %v : !tile.tile<b0=32 x 128 x f32> to !tile.tile<b0=32 x 128 x f16>
    tile.store %h, %half[%i, :] : !tile.tile<b0=32 x 128 x f16>, memref<64x128xf16>
    %l = tile.load %half[%i, :] : memref<64x128xf16> -> !tile.tile<b0=32 x 128 x f16>
    %w = tile.cast %l : !tile.tile<b0=32 x 128 x f16> to !tile.tile<b0=32 x 128 x f32>
    tile.store %w, %out[%i, :] : !tile.tile<b0=32 x 128 x f32>, memref<64x128xf32>
  }
  func.return
}

// -----

// Numbers that become indices may be computed with; a call makes sure first that no sum or difference leaves 32 bits.
// CHECK-LABEL: func.func @offsets
// CHECK-SAME: %offsets: memref<7xi64> {kopt.interval = array<i64: -1073741823, 1073741823>}
func.func @offsets(%x: memref<40x128xf32>, %offsets: memref<7xi64>, %out: memref<6x128xf32>) -> memref<6x128xf32> {
  tile.grid (%i: b0=1) in (6) {
    %one = arith.constant 1 : index
    %n = tile.begin %i : !tile.range<b0=1>
    %next = arith.addi %n, %one : index
    %begin = tile.load %offsets[%n] : memref<7xi64> -> !tile.tile<i64>
    %end = tile.load %offsets[%next] : memref<7xi64> -> !tile.tile<i64>
    %length = tile.sub %end, %begin : !tile.tile<i64>
    %zero = tile.full 0 : !tile.tile<i64>
    %some = tile.gt %length, %zero : !tile.tile<i64>
    %c = tile.cast %some : !tile.tile<i1> to !tile.tile<f32>
    %at = tile.extract %begin : !tile.tile<i64> to index
    %v = tile.load %x[%at, :] : memref<40x128xf32> -> !tile.tile<128 x f32>
    %b = tile.broadcast %c dims [] : !tile.tile<f32> to !tile.tile<128 x f32>
    %w = tile.mul %v, %b : !tile.tile<128 x f32>
    tile.store %w, %out[%n, :] : !tile.tile<128 x f32>, memref<6x128xf32>
  }
  func.return %out : memref<6x128xf32>
}

// -----

// A shift of 32 bits or more leaves the sign, which a shift by 31 does in 32 bits; shorter ones stay.
// CHECK-LABEL: func.func @long_shifts
// CHECK: [[FIVE:%.+]] = tile.full 5
// CHECK-NEXT: [[S:%.+]] = tile.shr %{{.+}}, [[FIVE]] : !tile.tile<b0=64 x 128 x i32>
// CHECK-NEXT: [[FORTY:%.+]] = tile.full 40
// CHECK-NEXT: [[MOST:%.+]] = tile.full 31
// CHECK-NEXT: [[BY:%.+]] = tile.minimum [[FORTY]], [[MOST]]
// CHECK-NEXT: tile.shr [[S]], [[BY]] : !tile.tile<b0=64 x 128 x i32>
func.func @long_shifts(%x: memref<64x128xi64>, %out: memref<64x128xi64>) {
  tile.grid (%i: b0=64) in (64) {
    %v = tile.load %x[%i, :] : memref<64x128xi64> -> !tile.tile<b0=64 x 128 x i64>
    %five = tile.full 5 : !tile.tile<b0=64 x 128 x i64>
    %s = tile.shr %v, %five : !tile.tile<b0=64 x 128 x i64>
    %forty = tile.full 40 : !tile.tile<b0=64 x 128 x i64>
    %t = tile.shr %s, %forty : !tile.tile<b0=64 x 128 x i64>
    tile.store %t, %out[%i, :] : !tile.tile<b0=64 x 128 x i64>, memref<64x128xi64>
  }
  func.return
}

// -----

// A comparison with what 32 bits cannot hold has one answer; loops carry 32 bits.
// CHECK-LABEL: func.func @beyond
// CHECK-NEXT: %x_1 = host.call "kopt.saturate_to_i32"(%x) args [unit, "i32"] : (memref<64x128xi64>) -> (memref<64x128xi32>)
// CHECK-NEXT: %out_1 = host.launch @beyond (%x_2 = %x_1, %out_2 = %out) writes [1] : (memref<64x128xi32>, memref<64x128xi32>) -> memref<64x128xi32> {
// CHECK-NEXT: tile.grid (%i: b0=8) in (64) {
// CHECK-NEXT: %v = tile.load %x_2[%i, :] : memref<64x128xi32> -> !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %big = tile.full 2147483647 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %low = tile.full -2147483648 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %a = tile.full 1 : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %b = tile.full 1 : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %c = tile.full 0 : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %d = tile.full 1 : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %e = tile.full 0 : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %f = tile.full 1 : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %g = tile.full 0 : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %t = tile.and %a, %b : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %u = tile.or %c, %d : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %p = tile.xor %e, %f : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %q = tile.xor %p, %g : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %r = tile.and %t, %u : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %s = tile.xor %q, %r : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %w = tile.cast %s : !tile.tile<b0=8 x 128 x i1> to !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: tile.store %w, %out_2[%i, :] : !tile.tile<b0=8 x 128 x i32>, memref<64x128xi32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @beyond(%x: memref<64x128xi64>, %out: memref<64x128xi32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, :] : memref<64x128xi64> -> !tile.tile<b0=8 x 128 x i64>
    %big = tile.full 5000000000 : !tile.tile<b0=8 x 128 x i64>
    %low = tile.full -5000000000 : !tile.tile<b0=8 x 128 x i64>
    %a = tile.lt %v, %big : !tile.tile<b0=8 x 128 x i64>
    %b = tile.lt %low, %v : !tile.tile<b0=8 x 128 x i64>
    %c = tile.eq %v, %big : !tile.tile<b0=8 x 128 x i64>
    %d = tile.ne %low, %v : !tile.tile<b0=8 x 128 x i64>
    %e = tile.ge %v, %big : !tile.tile<b0=8 x 128 x i64>
    %f = tile.gt %v, %low : !tile.tile<b0=8 x 128 x i64>
    %g = tile.le %big, %v : !tile.tile<b0=8 x 128 x i64>
    %t = tile.and %a, %b : !tile.tile<b0=8 x 128 x i1>
    %u = tile.or %c, %d : !tile.tile<b0=8 x 128 x i1>
    %p = tile.xor %e, %f : !tile.tile<b0=8 x 128 x i1>
    %q = tile.xor %p, %g : !tile.tile<b0=8 x 128 x i1>
    %r = tile.and %t, %u : !tile.tile<b0=8 x 128 x i1>
    %s = tile.xor %q, %r : !tile.tile<b0=8 x 128 x i1>
    %w = tile.cast %s : !tile.tile<b0=8 x 128 x i1> to !tile.tile<b0=8 x 128 x i32>
    tile.store %w, %out[%i, :] : !tile.tile<b0=8 x 128 x i32>, memref<64x128xi32>
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @carried
// CHECK-NEXT: %x_1 = host.call "kopt.saturate_to_i32"(%x) args [unit, "i32"] : (memref<64x128xi64>) -> (memref<64x128xi32>)
// CHECK-NEXT: %out_1 = host.launch @carried (%x_2 = %x_1, %out_2 = %out) writes [1] : (memref<64x128xi32>, memref<64x128xi32>) -> memref<64x128xi32> {
// CHECK-NEXT: tile.grid (%i: b0=8) in (64) {
// CHECK-NEXT: %v = tile.load %x_2[%i, :] : memref<64x128xi32> -> !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %r = tile.for %k: b1=2 in (0, 10) iter(%a = %v) -> (!tile.tile<b0=8 x 128 x i32>) {
// CHECK-NEXT: %w = tile.maximum %a, %v : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: tile.yield %w : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %r, %out_2[%i, :] : !tile.tile<b0=8 x 128 x i32>, memref<64x128xi32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @carried(%x: memref<64x128xi64>, %out: memref<64x128xi32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, :] : memref<64x128xi64> -> !tile.tile<b0=8 x 128 x i64>
    %r = tile.for %k: b1=2 in (0, 10) iter(%a = %v) -> (!tile.tile<b0=8 x 128 x i64>) {
      %w = tile.maximum %a, %v : !tile.tile<b0=8 x 128 x i64>
      tile.yield %w : !tile.tile<b0=8 x 128 x i64>
    }
    %c = tile.cast %r : !tile.tile<b0=8 x 128 x i64> to !tile.tile<b0=8 x 128 x i32>
    tile.store %c, %out[%i, :] : !tile.tile<b0=8 x 128 x i32>, memref<64x128xi32>
  }
  func.return
}

// -----

// Loops carry f16 in f32, and masks fill in there; what a load has outside is cast with the array.
// CHECK-LABEL: func.func @halves
// CHECK-NEXT: %x_1 = host.call "prims.convert_element_type.default"(%x) args [unit, "f32"] : (memref<64x100xf16>) -> (memref<64x100xf32>)
// CHECK-NEXT: %b_1 = host.call "prims.convert_element_type.default"(%b) args [unit, "i8"] : (memref<64x128xi1>) -> (memref<64x128xi8>)
// CHECK-NEXT: %out_1 = host.call "prims.convert_element_type.default"(%out) args [unit, "f32"] : (memref<64x100xf16>) -> (memref<64x100xf32>)
// CHECK-NEXT: %out_2, %y_1 = host.launch @halves (%x_2 = %x_1, %b_2 = %b_1, %out_3 = %out_1, %y_2 = %y) writes [2, 3] : (memref<64x100xf32>, memref<64x128xi8>, memref<64x100xf32>, memref<64x128xi32>) -> (memref<64x100xf32>, memref<64x128xi32>) {
// CHECK-NEXT: tile.grid (%i: b0=8) in (64) {
// CHECK-NEXT: %v = tile.load %x_2[%i, :] pad 1.5 : memref<64x100xf32> -> !tile.tile<b0=8 x 100 x f32>
// CHECK-NEXT: %f = tile.full 2.5 : !tile.tile<b0=8 x 100 x f32>
// CHECK-NEXT: %r = tile.for %k: b1=2 in (0, 10) iter(%a = %f) -> (!tile.tile<b0=8 x 100 x f32>) {
// CHECK-NEXT: %m = tile.mask %a in (%i, _) else 0.5 : !tile.tile<b0=8 x 100 x f32>
// CHECK-NEXT: %w = tile.transpose %m [0, 1] : !tile.tile<b0=8 x 100 x f32>
// CHECK-NEXT: tile.yield %w : !tile.tile<b0=8 x 100 x f32>
// CHECK-NEXT: }
// CHECK-NEXT: %s = tile.add %r, %v : !tile.tile<b0=8 x 100 x f32>
// CHECK-NEXT: tile.store %s, %out_3[%i, :] : !tile.tile<b0=8 x 100 x f32>, memref<64x100xf32>
// CHECK-NEXT: %o = tile.full 1 : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %p = tile.load %b_2[%i, :] mask %o other 1 pad 1 : memref<64x128xi8> -> !tile.tile<b0=8 x 128 x i8>
// CHECK-NEXT: %0 = tile.cast %p : !tile.tile<b0=8 x 128 x i8> to !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %p_1 = tile.cast %0 : !tile.tile<b0=8 x 128 x i32> to !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %q = tile.cast %p_1 : !tile.tile<b0=8 x 128 x i1> to !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: tile.store %q, %y_2[%i, :] : !tile.tile<b0=8 x 128 x i32>, memref<64x128xi32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: %out_3 = host.call "prims.convert_element_type.default"(%out_2) args [unit, "f16"] : (memref<64x100xf32>) -> (memref<64x100xf16>)
// CHECK-NEXT: func.return
func.func @halves(%x: memref<64x100xf16>, %b: memref<64x128xi1>, %out: memref<64x100xf16>, %y: memref<64x128xi32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, :] pad 1.5 : memref<64x100xf16> -> !tile.tile<b0=8 x 100 x f16>
    %f = tile.full 2.5 : !tile.tile<b0=8 x 100 x f16>
    %r = tile.for %k: b1=2 in (0, 10) iter(%a = %f) -> (!tile.tile<b0=8 x 100 x f16>) {
      %m = tile.mask %a in (%i, _) else 0.5 : !tile.tile<b0=8 x 100 x f16>
      %w = tile.transpose %m [0, 1] : !tile.tile<b0=8 x 100 x f16>
      tile.yield %w : !tile.tile<b0=8 x 100 x f16>
    }
    %g = tile.cast %r : !tile.tile<b0=8 x 100 x f16> to !tile.tile<b0=8 x 100 x f32>
    %h = tile.cast %v : !tile.tile<b0=8 x 100 x f16> to !tile.tile<b0=8 x 100 x f32>
    %s = tile.add %g, %h : !tile.tile<b0=8 x 100 x f32>
    %t = tile.cast %s : !tile.tile<b0=8 x 100 x f32> to !tile.tile<b0=8 x 100 x f16>
    tile.store %t, %out[%i, :] : !tile.tile<b0=8 x 100 x f16>, memref<64x100xf16>
    %o = tile.full 1 : !tile.tile<b0=8 x 128 x i1>
    %p = tile.load %b[%i, :] mask %o other 1 pad 1 : memref<64x128xi1> -> !tile.tile<b0=8 x 128 x i1>
    %q = tile.cast %p : !tile.tile<b0=8 x 128 x i1> to !tile.tile<b0=8 x 128 x i32>
    tile.store %q, %y[%i, :] : !tile.tile<b0=8 x 128 x i32>, memref<64x128xi32>
  }
  func.return
}

// -----

func.func @in_f16(%x: memref<64x128xf16>, %out: memref<64x128xf16>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, :] : memref<64x128xf16> -> !tile.tile<b0=8 x 128 x f16>
    // expected-error @+1 {{'tile.scan' computes in f16, which a TPU cannot do}}
    %s = tile.scan add %v dim 1 : !tile.tile<b0=8 x 128 x f16>
    tile.store %s, %out[%i, :] : !tile.tile<b0=8 x 128 x f16>, memref<64x128xf16>
  }
  func.return
}
