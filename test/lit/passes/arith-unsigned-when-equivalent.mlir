// RUN: kopt %s --verify-each -p arith-unsigned-when-equivalent | filecheck %s

// The number of a program is natural; less one it is not.
// CHECK-LABEL: func.func @f
// CHECK: %a = arith.divui %pid, %three : index
// CHECK-NEXT: %less = arith.subi %pid, %three : index
// CHECK-NEXT: %b = arith.floordivsi %less, %three : index
// CHECK-NEXT: %c = arith.divui %a, %three : index
// CHECK-NEXT: %d = arith.ceildivui %pid, %three : index
// CHECK-NEXT: %e = arith.ceildivsi %less, %three : index
func.func @f(%x: memref<8xf32>) {
  triton.launch @f_0 (%y = %x) grid (8) num_warps 4 num_stages 1 {
    %pid = triton.program_id
    %three = arith.constant 3 : index
    %a = arith.floordivsi %pid, %three : index
    %less = arith.subi %pid, %three : index
    %b = arith.floordivsi %less, %three : index
    %c = arith.floordivsi %a, %three : index
    %d = arith.ceildivsi %pid, %three : index
    %e = arith.ceildivsi %less, %three : index
  }
  func.return
}
