"""Tuning: configurations of a kernel ranked by the cost model, compiled by the chip's compiler, timed where it is here.

| module | what |
|---|---|
| `knobs`, `launches` | what may be chosen, and what launches take at many points at once |
| `search` | the cheapest points: all of a small space, else what Optuna finds |
| `schedules` | schedules of loops and orders of the grid beside those that the planner takes |
| `compiled`, `measuring` | candidates in worker processes; on the chip, where this machine has it |
| `tuner`, `shapes` | one tuning; one of several shapes |
| `results`, `tables` | what comes of it |
| `files`, `stored`, `places` | results that are kept in ``NAME.kopt.json``, and found again |
"""
