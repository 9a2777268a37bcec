"""Balanced block designs: the catalogue of those that can be built, their constructions, and the fields they need."""
