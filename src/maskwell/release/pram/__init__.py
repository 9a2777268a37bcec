"""Post-randomization of columns by transition matrices, invariant ones too, and what can be estimated after it."""
