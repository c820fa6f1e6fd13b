host.partition capture static (%h : memref<8xf32, #symm.space<"tp">>) {

func.func @number(%h: memref<8xf32, #symm.space<"tp">>, %rank: i32) {
    symm.signal %h to %rank channel 0 : i32 : memref<8xf32, #symm.space<"tp">>, i32
  }
  func.return
}
