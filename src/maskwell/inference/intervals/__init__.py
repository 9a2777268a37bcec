"""Confidence limits of proportions: in closed form, from the profile of a likelihood, and by the bootstrap."""
