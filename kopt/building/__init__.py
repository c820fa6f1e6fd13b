"""The one builder of frontends, public as `kopt.build`; the importer of Python kernels builds with it too.

| module | what |
|---|---|
| `builder` | `OpBuilder`: insertion points, locations, functions, loops |
| `handles` | `Value`, `Array`, `Range`, `IndexValue`: values of the IR with operators |
| `broadcasting` | which dimensions of two tiles meet |
| `blocks` | block sizes that are left open |
| `types` | types of arrays and elements, by their names in specs |
"""
