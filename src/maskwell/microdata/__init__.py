"""Microdata files: CSV, Parquet, Arrow, Stata and SPSS, read and written with labels, codes and category order kept."""

from maskwell.microdata.files import READABLE, read, write, write_to
from maskwell.microdata.model import Microdata, Variable

__all__ = ["read", "write", "write_to", "Microdata", "Variable", "READABLE"]
