"""Charts: every picture of a result, as an Altair chart."""
