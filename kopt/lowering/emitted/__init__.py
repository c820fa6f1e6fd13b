"""Functions that emitted modules define for themselves, as text. Nothing else may have their names."""
