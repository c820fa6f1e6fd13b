"""The rules of `normalise-accesses`: how an index is written is seen here, and nowhere later.

| module | what it sees | what becomes of it |
|---|---|---|
| `broadcast_indices` | lanes that have the same index, along a dimension or in groups | one of each, repeated |
| `select_of_loads` | an index that is one number or another | a select of loads |
| `delinearise` | ``rows * width + lanes`` of flat storage | rows and lanes of a matrix |
| `runs` | index tiles that count lanes of their own (`kopt.ir.index_runs`) | blocks, in any order, with any step |
| `whole_rows` | updates that count columns beside row numbers | updates of whole rows, masked |
| `index_rewriting`, `blocks`, `indices` | | an access by its index list in normal form; runs and numbers as entries |
| `loads`, `updates` | | the rules in their order |
"""
