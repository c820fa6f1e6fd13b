"""Targets and chips: what there is, what memory it has, what things cost on it.

| module | what |
|---|---|
| `chips`, `nearest_chip` | the table of chips, and which of them stands for one that it does not have |
| `target` | `Target`, `parse_target`: family, mode and chip |
| `budget` | `Budget`: what of a chip's memory may be taken, and by what |
| `costs` | the constants of the cost model, each with its source |

Pure: nothing here sees IR, or the machine that it runs on.
"""
