"""What keeps the plan of a launch from being right for its kernel and its chip, at the place of whom it is about. Pure.

`tpu` and `gpu` list the problems of a launch, `tpu_memory` those of a TPU's memory. What holds of every plan, whatever
its kernel, is checked by the verifier of `tile.grid`.
"""
