"""Stata and SPSS files, whose values have codes, labels, several kinds of missing, and dates of their own."""
