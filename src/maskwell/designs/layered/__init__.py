"""Designs of two layers, for questions that are asked again and again: a permanent report, masked anew each time."""
