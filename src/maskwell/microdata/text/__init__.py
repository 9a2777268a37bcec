"""CSV files: cells as they are spelled."""
