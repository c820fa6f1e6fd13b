func.func @when(%x: memref<16xf32>) {
  %pid = triton.program_id
  %i = triton.range %pid in (0, 16) : !tile.range<b0=8>
  tile.when first(%i) {
    triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    }
  }
  func.return
}
