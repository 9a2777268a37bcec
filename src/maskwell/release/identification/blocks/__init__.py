"""Blocks of sensitive cells, among which records move, and the ways of forming them."""
