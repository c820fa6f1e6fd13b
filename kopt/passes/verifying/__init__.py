"""What the last passes before text is printed share, and what host code of each family is made of."""
