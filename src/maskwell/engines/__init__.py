"""Masking and counting on the engines that people already run, over one contract on Arrow record batches."""

from maskwell.engines.contract import Counting, Masking
from maskwell.engines.dispatch import mask, repeated_ids, tally
from maskwell.engines.duckdb import duckdb_function

__all__ = ["Counting", "Masking", "duckdb_function", "mask", "repeated_ids", "tally"]
