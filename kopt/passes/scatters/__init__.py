"""What updates at computed places become in `realise-values`: a file for each kind of realisation, and their table.

| module | what an update becomes | kind |
|---|---|---|
| `one_hot_product` | a product of a matrix of ones and zeros with the values | ``one_hot`` of rows |
| `compare_and_reduce` | comparisons of each lane with each element, and a reduction | ``one_hot`` of one dimension |
| `row_loop` | a loop over rows on the chip | ``row_loop`` |
| `row_dma` | DMAs of rows in HBM, there and back, or there alone | ``row_dma`` |
| `block_rmw` | of blocks: a load, a combination, a store | |
| `update`, `formulation` | an update in a plain form: row numbers, and a row of values for each | |
| `written_operand`, `pad_for_dma`, `counted_lanes` | the array in a form whose rows can be reached, blocks too | |
| `row_numbers`, `staging` | row numbers as scalars, values in memory | |
| `run_in_order`, `checks` | cells that share rows; what is refused | |
| `realise` | the table | |
"""
