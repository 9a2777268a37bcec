"""What peers do with the same values, in their own environment: this folder imports neither ours nor one another's.

Each works on one record at a time, as it offers to, in a Python loop as its documentation shows it.
"""

EPSILON = 1.0


def truths(k: int, n: int) -> list[int]:
    """The values that ours and the peers mask: every category equally often, neighbours apart."""
    return [(i * 7919) % k for i in range(n)]
