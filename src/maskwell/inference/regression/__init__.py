"""Regression with masked variables: the outcome, the predictors, or both were never seen."""
