"""What ``canonicalize`` does to the ops of each dialect, one file a dialect and family."""
