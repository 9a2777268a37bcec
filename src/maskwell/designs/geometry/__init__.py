"""Finite projective spaces: fields, points and hyperplanes without a list, and sums over hyperplanes."""
