"""What the exit code of the command line says; 0 is done."""

MISMATCH = 1
"""``reproduce`` found a number that does not come out as it is recorded."""
BAD_INPUT = 2
"""Bad input, or an output that cannot be written."""
WOULD_STOP = 3
"""``release --dry-run`` found what would stop the release."""
INTERNAL = 70
"""A mistake in Maskwell itself."""
INTERRUPTED = 130
READER_GONE = 141
"""Whoever read the output went away."""
TERMINATED = 143
