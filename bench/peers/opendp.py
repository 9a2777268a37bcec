"""OpenDP: a measurement in Rust, called for one record at a time; reports of one category are left to be counted."""

from collections.abc import Iterator
from math import exp

import numpy as np
import opendp.prelude as dp

from bench.frame.stages import Stage
from bench.peers import EPSILON, truths

dp.enable_features("contrib")


def kary(k: int, n: int) -> Iterator[Stage]:
    mask = dp.m.make_randomized_response(list(range(k)), exp(EPSILON) / (exp(EPSILON) + k - 1))
    values = truths(k, n)
    yield Stage("mask", n, lambda: [mask(value) for value in values])


def unary(k: int, n: int) -> Iterator[Stage]:
    """Its bits are flipped symmetrically, with the chance that gives this epsilon to a vector with a single 1."""
    flipped = 2 / (exp(EPSILON / 2) + 1)
    mask = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=flipped)
    vectors = [np.packbits(np.arange(k) == value, bitorder="little").tobytes() for value in truths(k, n)]
    yield Stage("mask", n, lambda: [mask(vector) for vector in vectors])
    reports = [mask(vector) for vector in vectors]
    yield Stage("tally", n, lambda: dp.m.debias_randomized_response_bitvec(reports, flipped))
