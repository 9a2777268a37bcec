"""Recoding: making the values of keys coarser before a file is released, and what that costs and saves."""
