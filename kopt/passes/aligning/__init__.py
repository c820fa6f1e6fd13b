"""The cases of `align-accesses`: loops, loads, stores; and supersets, the aligned blocks around any others."""
