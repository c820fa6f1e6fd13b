"""What the pass ``lower-scatters`` is made of: arrays as rows, updates of them, their formulations, and the choice."""
