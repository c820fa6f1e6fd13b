"""Planning: from the model of a launch to a plan of its memory and loops. Pure: no IR, no chip but as an argument."""
