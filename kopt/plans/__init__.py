"""Plans as data and as text: what is decided about a launch, its words, and what a configuration pins of it."""
