"""Samples from complex surveys: weights, strata, clusters, replicate weights and calibration."""
