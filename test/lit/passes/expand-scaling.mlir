// RUN: kopt %s --verify-each -p expand-scaling | filecheck %s
// RUN: kopt %s --verify-each -p expand-scaling{chip=sm100} | filecheck %s --check-prefix=SM100

// SM100-LABEL: func.func @product
// SM100: %a = tile.scaling_extf e2m1 %v, %s dim 1
// SM100-NEXT: %b = tile.scaling_extf e2m1 %w, %t dim 0
// SM100-NEXT: tile.dot %a, %b
// CHECK-LABEL: func.func @product
// CHECK: [[BYTE:%.+]] = tile.cast %v : !tile.tile<16 x 32 x ui8> to !tile.tile<16 x 32 x i32>
// CHECK: tile.concat {{.+}} dim 2
// CHECK: [[NUMBERS:%.+]] = tile.reshape {{.+}} to !tile.tile<16 x 64 x f32>
// CHECK: [[SCALE:%.+]] = tile.cast %s : !tile.tile<16 x 2 x ui8> to !tile.tile<16 x 2 x f32>
// CHECK: tile.exp2
// CHECK: [[FACTORS:%.+]] = tile.reshape {{.+}} : !tile.tile<16 x 2 x 32 x f32> to !tile.tile<16 x 64 x f32>
// CHECK-NEXT: {{%.+}} = tile.mul [[NUMBERS]], [[FACTORS]]
// CHECK-NEXT: %a = tile.cast {{.+}} to !tile.tile<16 x 64 x bf16>
// CHECK-NEXT: tile.transpose %w [1, 0]
// CHECK: %b = tile.transpose {{%.+}} [1, 0] : !tile.tile<16 x 64 x bf16>
// CHECK-NEXT: tile.dot %a, %b
func.func @product(%v: !tile.tile<16 x 32 x ui8>, %s: !tile.tile<16 x 2 x ui8>, %w: !tile.tile<32 x 16 x ui8>,
                   %t: !tile.tile<16 x 2 x ui8>) {
  %a = tile.scaling_extf e2m1 %v, %s dim 1 : !tile.tile<16 x 32 x ui8>, !tile.tile<16 x 2 x ui8> to !tile.tile<16 x 64 x bf16>
  %b = tile.scaling_extf e2m1 %w, %t dim 0 : !tile.tile<32 x 16 x ui8>, !tile.tile<16 x 2 x ui8> to !tile.tile<64 x 16 x bf16>
  %d = tile.dot %a, %b : !tile.tile<16 x 64 x bf16>, !tile.tile<64 x 16 x bf16> -> !tile.tile<16 x 16 x f32>
  func.return
}

// Scales that are numbers.
// CHECK-LABEL: func.func @numbers
// CHECK-NOT: tile.exp2
// CHECK: tile.mul
// SM100-LABEL: func.func @numbers
// SM100-NOT: tile.scaling_extf
func.func @numbers(%v: !tile.tile<16 x 64 x f8E4M3FN>, %s: !tile.tile<16 x 4 x f8E4M3FN>) {
  %a = tile.scaling_extf e4m3 %v, %s dim 1 : !tile.tile<16 x 64 x f8E4M3FN>, !tile.tile<16 x 4 x f8E4M3FN> to !tile.tile<16 x 64 x bf16>
  %n = tile.transpose %a [1, 0] : !tile.tile<16 x 64 x bf16>
  func.return
}
