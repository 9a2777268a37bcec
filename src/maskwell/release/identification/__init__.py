"""Limit identification: records move among sensitive cells until no match is right with more than a given chance."""
