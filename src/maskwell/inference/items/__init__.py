"""Several sensitive items of one person: correlations between them, and sums of their scores."""
