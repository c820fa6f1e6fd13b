"""What the pass ``lower-gathers`` is made of: the plan for one access, and its rewriting."""
