"""Power and people for regressions with masked variables."""
