"""How loads and updates at computed places may reach their arrays on a TPU: kinds of buffers for each. Pure.

| module | what |
|---|---|
| `gathers` | the kinds that a load may have, the one that is taken first |
| `form` | rows and single elements, by shapes |
| `held`, `bounded`, `lane_runs`, `runs`, `far` | what tells the other kinds |
"""
