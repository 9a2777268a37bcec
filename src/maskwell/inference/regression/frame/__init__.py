"""From a formula, data and reports to the numbers that a fit needs."""
