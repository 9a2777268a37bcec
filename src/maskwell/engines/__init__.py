"""Masking and counting on the engines that people already run, over one contract on Arrow record batches."""

from maskwell.engines.contract import Counting, Masking
from maskwell.engines.dispatch import mask, repeated_ids, tally
from maskwell.engines.duckdb import duckdb_function
from maskwell.engines.parts import Outcome, mask_file, mask_files

__all__ = [
    "Counting",
    "Masking",
    "Outcome",
    "duckdb_function",
    "mask",
    "mask_file",
    "mask_files",
    "repeated_ids",
    "tally",
]
