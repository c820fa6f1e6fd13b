"""What loads at computed places become in `realise-values`: a file for each kind of realisation, and their table.

| module | what comes | kind |
|---|---|---|
| `pick` | nothing, or a small array: elements are picked from what is on the chip | ``pick`` |
| `bounded_window` | the block that holds all elements, of which they are picked | ``bounded`` |
| `rows_of_places` | the rows of memory around a number of each place, of which its lanes are picked | ``places`` |
| `per_row_runs` | the rows of memory around the lanes of each place, which are shifted | ``runs`` |
| `one_hot` | a small matrix, of which a product takes rows | ``one_hot`` |
| `row_dma` | rows by their numbers, a DMA each | ``rows`` |
| `row_form` | the array as rows, of which lanes are picked: for the last two | |
| `realise` | the table | |

How an index is written is no matter here: `kopt.passes.normalising` has seen to that.
"""
