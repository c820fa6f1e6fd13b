// RUN: kopt %s --verify-each -p 'split-k{factor=4 deterministic=true},dce' | filecheck %s

// Bounds are loaded: every cell deals out the visits that it has, and blocks keep the numbers of the whole loop.
func.func @lengths(%x: memref<8x600xf32>, %n: memref<8xi32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=1) in (8) {
    %z = tile.full 0.0 : !tile.tile<b0=1 x f32>
    %l = tile.load %n[%i] : memref<8xi32> -> !tile.tile<b0=1 x i32>
    %s = tile.reshape %l : !tile.tile<b0=1 x i32> to !tile.tile<i32>
    %end = tile.extract %s : !tile.tile<i32> to index
    %r = tile.for %k: b1=128 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=1 x f32>) {
      %v = tile.load %x[%i, %k] : memref<8x600xf32> -> !tile.tile<b0=1 x b1=128 x f32>
      %p = tile.reduce add %v [1] : !tile.tile<b0=1 x b1=128 x f32>
      %id = tile.id %k : !tile.range<b1=128>
      %h = tile.splat %id : index to !tile.tile<b0=1 x i32>
      %w = tile.cast %h : !tile.tile<b0=1 x i32> to !tile.tile<b0=1 x f32>
      %q = tile.mul %p, %w : !tile.tile<b0=1 x f32>
      %t = tile.add %a, %q : !tile.tile<b0=1 x f32>
      tile.yield %t : !tile.tile<b0=1 x f32>
    }
    tile.store %r, %out[%i] : !tile.tile<b0=1 x f32>, memref<8xf32>
  }
  func.return
}
// CHECK: tile.grid (%i: b0=1, %part: [[P:b[0-9]+]]=1) in (8, 4)
// CHECK: [[D:%.+]] = arith.subi %end, [[LOWER:%.+]] : index
// CHECK: [[SOME:%.+]] = arith.maxsi [[D]], {{.+}} : index
// CHECK: [[COUNT:%.+]] = arith.ceildivsi [[SOME]],
// CHECK: [[EACH:%.+]] = arith.ceildivsi [[COUNT]],
// CHECK: [[ID:%.+]] = tile.id %part
// CHECK-NEXT: [[FIRST:%.+]] = arith.muli [[ID]], [[EACH]] : index
// CHECK: [[BEGIN:%.+]] = arith.addi [[LOWER]],
// CHECK: [[STOP:%.+]] = arith.minsi %end,
// CHECK: tile.for %k: b1=128 in ([[BEGIN]], [[STOP]])
// CHECK: [[OWN:%.+]] = tile.id %k
// CHECK-NEXT: %id = arith.addi [[OWN]], [[FIRST]] : index
