// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(align-accesses{chip=v6e cases=stores})' --remarks 2>&1 | filecheck %s

// 16 rows from row n on are put into the 24 rows from the multiple of 8 before; the array ends at row 104.
// CHECK: remark: cells along %i run in order: which rows of 'out' they update is known from data only
// CHECK-LABEL: @f
// CHECK: host.launch {{.*}} -> memref<104x256xf32>
// CHECK: tile.grid {{.*}} ordered [0]
// CHECK: [[START:%.+]] = tile.begin
// CHECK: [[FIRST:%.+]] = arith.muli
// CHECK: [[PLACE:%.+]] = tile.shift %{{.+}} by [[FIRST]] : !tile.range<b1=24>
// CHECK: [[WIDE:%.+]] = tile.concat %{{.+}}, %v, %{{.+}} dim 0 : {{.*}} to !tile.tile<72 x 256 x f32>
// CHECK: [[PLACED:%.+]] = tile.dynamic_slice [[WIDE]] from %{{.+}} dim 0 : !tile.tile<72 x 256 x f32> to !tile.tile<b1=24 x 256 x f32>
// CHECK: tile.index [[PLACE]]
// CHECK: [[OLD:%.+]] = tile.load %out{{.*}}[[[PLACE]], :] : memref<104x256xf32>
// CHECK: [[NEW:%.+]] = tile.select %{{.+}}, [[PLACED]], [[OLD]]
// CHECK: tile.store [[NEW]], %out{{.*}}[[[PLACE]], :]
func.func @f(%x: memref<80x256xf32>, %shift: memref<1xi32>, %out: memref<100x256xf32>) -> memref<100x256xf32> {
  %out_1 = host.launch @f (%shift_1 = %shift, %x_1 = %x, %out_2 = %out) writes [2] : (memref<1xi32>, memref<80x256xf32>, memref<100x256xf32>) -> memref<100x256xf32> {
    tile.grid (%i: b0=16) in (80) {
      %s = tile.load %shift_1[0] : memref<1xi32> -> !tile.tile<i32>
      %n = tile.extract %s : !tile.tile<i32> to index
      %r = tile.shift %i by %n : !tile.range<b0=16>
      %v = tile.load %x_1[%i, :] : memref<80x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      tile.store %v, %out_2[%r, :] : !tile.tile<b0=16 x 256 x f32>, memref<100x256xf32>
    }
  }
  func.return %out_1 : memref<100x256xf32>
}

// Elements that count from a number on are a block too.
// CHECK-LABEL: @counted
// CHECK-NOT: tile.for
// CHECK: tile.dynamic_slice {{.*}} to !tile.tile<b1=256 x f32>
// CHECK: tile.store %{{.+}}, %out{{.*}} : !tile.tile<b1=256 x f32>, memref<384xf32>
func.func @counted(%x: memref<16xf32>, %shift: memref<1xi32>, %out: memref<300xf32>) -> memref<300xf32> {
  %out_1 = host.launch @counted (%shift_1 = %shift, %x_1 = %x, %out_2 = %out) writes [2] : (memref<1xi32>, memref<16xf32>, memref<300xf32>) -> memref<300xf32> {
    tile.grid () in () {
      %s = tile.load %shift_1[0] : memref<1xi32> -> !tile.tile<i32>
      %b = tile.broadcast %s dims [] : !tile.tile<i32> to !tile.tile<16 x i32>
      %l = tile.arange 0, 1 : !tile.tile<16 x i32>
      %v = tile.load %x_1[:] : memref<16xf32> -> !tile.tile<16 x f32>
      %0 = tile.whole 16 : !tile.range<b0=16>
      %1 = tile.extract %s : !tile.tile<i32> to index
      %2 = tile.shift %0 by %1 : !tile.range<b0=16>
      %3 = tile.broadcast %v dims [0] : !tile.tile<16 x f32> to !tile.tile<b0=16 x f32>
      tile.store %3, %out_2[%2] : !tile.tile<b0=16 x f32>, memref<300xf32>
    }
  }
  func.return %out_1 : memref<300xf32>
}

// Blocks at their multiples are left alone.
// CHECK-LABEL: @aligned
// CHECK-NOT: tile.dynamic_slice
func.func @aligned(%x: memref<100x256xf32>, %out: memref<100x256xf32>) -> memref<100x256xf32> {
  %out_1 = host.launch @aligned (%x_1 = %x, %out_2 = %out) writes [1] : (memref<100x256xf32>, memref<100x256xf32>) -> memref<100x256xf32> {
    tile.grid (%i: b1=16) in (100) {
      %v = tile.load %x_1[%i, :] : memref<100x256xf32> -> !tile.tile<b1=16 x 256 x f32>
      tile.store %v, %out_2[%i, :] : !tile.tile<b1=16 x 256 x f32>, memref<100x256xf32>
    }
  }
  func.return %out_1 : memref<100x256xf32>
}

// The array is padded to 128 columns for blocks of them; what ':' stores are still its 20.
// CHECK-LABEL: @whole_rows
// CHECK: host.launch {{.*}} -> memref<8x128xf32>
// CHECK: tile.store %{{.+}}, %out{{.*}}[:, {{.+}}] : !tile.tile<8 x b1=128 x f32>, memref<8x128xf32>
// CHECK: tile.load %out{{.*}}[:, 0:20] : memref<8x128xf32> -> !tile.tile<8 x 20 x f32>
// CHECK: tile.store %{{.+}}, %out{{.*}}[:, 0:20] : !tile.tile<8 x 20 x f32>, memref<8x128xf32>
func.func @whole_rows(%x: memref<8x20xf32>, %out: memref<8x20xf32>) -> memref<8x20xf32> {
  %out_1 = host.launch @whole_rows (%x_1 = %x, %out_2 = %out) writes [1] : (memref<8x20xf32>, memref<8x20xf32>) -> memref<8x20xf32> {
    tile.grid () in () {
      tile.for %k: b0=4 in (0, 20) {
        %v = tile.load %x_1[:, %k] : memref<8x20xf32> -> !tile.tile<8 x b0=4 x f32>
        tile.store %v, %out_2[:, %k] : !tile.tile<8 x b0=4 x f32>, memref<8x20xf32>
      }
      %w = tile.load %out_2[:, :] : memref<8x20xf32> -> !tile.tile<8 x 20 x f32>
      %n = tile.neg %w : !tile.tile<8 x 20 x f32>
      tile.store %n, %out_2[:, :] : !tile.tile<8 x 20 x f32>, memref<8x20xf32>
    }
  }
  func.return %out_1 : memref<8x20xf32>
}

// Four cells write to one row of 128 lanes: wherever a block of 32 stands in it, a copy of the value stands there. No
// data decide which row it is, so nothing is remarked.
// CHECK-LABEL: @shared
// CHECK: tile.grid {{.*}} ordered [0]
// CHECK: [[BEGIN:%.+]] = tile.begin %i
// CHECK: [[ROW:%.+]] = arith.shrsi [[BEGIN]]
// CHECK: [[FIRST:%.+]] = arith.muli [[ROW]]
// CHECK: [[PLACE:%.+]] = tile.shift %{{.+}} by [[FIRST]] : !tile.range<[[TAG:b[0-9]+]]=128>
// CHECK: [[FOUR:%.+]] = tile.concat %m, %m, %m, %m dim 0
// CHECK: [[OLD:%.+]] = tile.load %{{.+}}[[[PLACE]]]
// CHECK: [[NEW:%.+]] = tile.select %{{.+}}, %{{.+}}, [[OLD]]
// CHECK: tile.store [[NEW]], %{{.+}}[[[PLACE]]] : !tile.tile<[[TAG]]=128 x f32>, memref<1024xf32>
func.func @shared(%x: memref<1024x256xf32>, %out: memref<1024xf32>) -> memref<1024xf32> {
  %out_1 = host.launch @shared (%x_1 = %x, %out_2 = %out) writes [1] : (memref<1024x256xf32>, memref<1024xf32>) -> memref<1024xf32> {
    tile.grid (%i: b0=32) in (1024) {
      %v = tile.load %x_1[%i, :] : memref<1024x256xf32> -> !tile.tile<b0=32 x 256 x f32>
      %m = tile.reduce max %v [1] : !tile.tile<b0=32 x 256 x f32>
      tile.store %m, %out_2[%i] : !tile.tile<b0=32 x f32>, memref<1024xf32>
    }
  }
  func.return %out_1 : memref<1024xf32>
}
