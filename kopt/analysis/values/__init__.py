"""How loads and updates at computed places may reach their arrays on a TPU: kinds of buffers for each. Pure.

| module | what |
|---|---|
| `gathers` | the kinds that a load may have, the one that is taken first |
| `form` | rows and single elements, by shapes |
| `held`, `bounded`, `lane_runs`, `runs`, `hbm_rows` | what tells the other kinds |
"""
