// The module after its passes as a graph: operations are boxes, those with regions boxes around others.
// RUN: kopt %s -p cse --view-op-graph | filecheck %s

// CHECK: digraph G {
// CHECK: subgraph cluster_1 {
// CHECK-NEXT: label = "builtin.module";
// CHECK-NEXT: subgraph cluster_2 {
// CHECK-NEXT: label = "func.func \"f\"";
// CHECK-NEXT: {{^}}      [[X:v[0-9]+]] [shape = ellipse, label = "%x: i32"];
// CHECK-NEXT: {{^}}      [[C:v[0-9]+]] [label = "arith.constant\n: i32"];
// CHECK-NEXT: {{^}}      [[E:v[0-9]+]] [label = "arith.addi\n: i32"];
// CHECK-NEXT: {{^}}      [[R:v[0-9]+]] [label = "func.return"];
// CHECK: {{^}}  [[X]] -> [[E]] [label = "%x"];
// CHECK-NEXT: {{^}}  [[C]] -> [[E]] [label = "%d"];
// CHECK-NEXT: {{^}}  [[E]] -> [[R]] [label = "%e"];
// CHECK-NEXT: }
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %e = arith.addi %x, %d : i32
  return %e : i32
}
