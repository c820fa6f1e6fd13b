"""``kopt explain``: what became of a kernel, pass by pass, and why; as data, as a page, and in the terminal.

`data` has the facts, which everything else shows. `places`, `printed` and `emitted` tell where each line of each text
comes from, `stages` what passes did, `values` what values were, `launches` what the plan is and costs. `page` makes one
HTML file with `drawings`, `terminal` a table.
"""

from kopt.explain.data import Asked, Compile, explanation

__all__ = ["Asked", "Compile", "explanation"]
