builtin.module {
  func.func @large(%a: memref<0x16xf32>, %n: index) -> memref<0x16xf32> {
    %q = pallas.call @large(%a) windows [<[32, 16], (d0) -> (d0, 0), vmem>, <[32, 16], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<0x16xf32>) -> memref<0x16xf32> {
    ^bb0(%in: !tile.ref<32 x 16 x f32, vmem>, %out: !tile.ref<32 x 16 x f32, vmem>, %row: !tile.ref<32 x f32, vmem>):
      tile.grid (%i: b0=32) in (0) {
        %x = tile.get %in[:, :] : !tile.ref<32 x 16 x f32, vmem> -> !tile.tile<b0=32 x 16 x f32>
        %m = tile.reduce max %x [1] : !tile.tile<b0=32 x 16 x f32>
        %first = tile.begin %i : !tile.range<b0=32>
        %zero = arith.constant 0 : index
        %is = arith.cmpi eq, %first, %zero : index
        scf.if %is {
          tile.put %m, %row[:] : !tile.tile<b0=32 x f32>, !tile.ref<32 x f32, vmem>
        }
        %sum = tile.reduce add %x [1] : !tile.tile<b0=32 x 16 x f32>
        %least = tile.reduce min %x [1] : !tile.tile<b0=32 x 16 x f32>
        tile.for %k: b1=1 in (0, 3) {
          %again = tile.reduce min %x [1] : !tile.tile<b0=32 x 16 x f32>
          tile.put %again, %row[:] : !tile.tile<b0=32 x f32>, !tile.ref<32 x f32, vmem>
        }
        tile.put %x, %out[:, :] : !tile.tile<b0=32 x 16 x f32>, !tile.ref<32 x 16 x f32, vmem>
      }
    }
    func.return %q : memref<0x16xf32>
  }
}