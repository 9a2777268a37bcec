"""Terminal: results as text and tables for a terminal."""
