"""diffprivlib: a mechanism object for yes/no answers, one record at a time, which does not count its reports."""

from collections.abc import Iterator

from diffprivlib.mechanisms import Binary

from bench.frame.stages import Stage
from bench.peers import EPSILON, truths


def kary(k: int, n: int) -> Iterator[Stage]:
    if k != 2:
        raise ValueError("its randomized response has two categories")
    mechanism = Binary(epsilon=EPSILON, value0="no", value1="yes")
    values = ["yes" if value else "no" for value in truths(k, n)]
    yield Stage("mask", n, lambda: [mechanism.randomise(value) for value in values])
