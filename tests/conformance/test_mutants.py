"""Samplers and designs with a planted fault, each caught by a named test of the suite.

Every mutant is an honest design with one part replaced, handed to the very test that runs on all designs.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import maskwell as mw
from maskwell.designs import DESIGNS, Entry, ProductDesign, SubsetDesign
from maskwell.sampling.samplers import SingleSampler
from maskwell.tables.frames import columns_of_variables
from tests.conformance import test_designs, test_parity_grid
from tests.conformance.masking_helpers import planted

SPAN = 1 << 64


class SortingSampler:
    """A second, slower sampler of one-size designs: the categories with the smallest random words are the members.

    Honest as it stands; a fault is a function ``(words by category, truth)`` that spoils the words.
    """

    def __init__(self, design: SubsetDesign, fault: Callable[[NDArray[Any], NDArray[Any]], None] | None = None) -> None:
        (self.size,), (self.inside,), _ = design.sizes, design.inside, design.outside
        self.k, self.fault = design.k, fault
        self.width = 2 + self.k

    def empty(self, n: int) -> NDArray[np.uint8]:
        return np.empty((n, (self.k + 7) // 8), np.uint8)

    def members(self, truth: NDArray[Any], words: NDArray[Any], stride: int) -> NDArray[np.int64]:
        slots = words[: len(truth) * stride].reshape(len(truth), stride)
        chosen = slots[:, 0] | slots[:, 1].astype(np.uint64) << np.uint64(32)
        first = slots[:, 2 : 2 + self.k].astype(np.int64)
        if self.fault is not None:
            self.fault(first, truth)
        rows = np.arange(len(truth))
        first[rows, truth] = np.where(chosen < np.uint64(self.inside), -1, SPAN // 4)
        return np.argsort(first, axis=1)[:, : self.size]

    def run(self, truth: Any, words: Any, stride: int, out: Any, exhausted: Any) -> None:
        bits = np.zeros((len(truth), self.k), np.uint8)
        np.put_along_axis(bits, self.members(truth, words, stride), 1, axis=1)
        out[:] = np.packbits(bits, axis=1, bitorder="little")


class ListSampler(SortingSampler):
    """Stores the members as a list in the order in which they were drawn: the truth, if it is one, comes first."""

    def empty(self, n: int) -> NDArray[np.uint8]:
        return np.empty((n, self.size), np.uint8)

    def run(self, truth: Any, words: Any, stride: int, out: Any, exhausted: Any) -> None:
        out[:] = self.members(truth, words, stride)


class CarelessSampler(SingleSampler):
    """Lies with any of the k categories, the truth included."""

    def run(self, truth: Any, words: Any, stride: int, out: Any, exhausted: Any) -> None:
        slots = words[: len(truth) * stride].reshape(len(truth), stride)
        chosen = slots[:, 0] | slots[:, 1].astype(np.uint64) << np.uint64(32)
        lie = slots[:, 2].astype(np.uint64) * np.uint64(self.k) >> np.uint64(32)
        out[:] = np.where(chosen < np.uint64(self.stay), truth, lie)


@pytest.fixture(scope="module")
def sets() -> SubsetDesign:
    """Sets of 3 out of 7."""
    return mw.designs.minimax(7, epsilon=0.3)


@pytest.fixture(scope="module")
def single() -> SubsetDesign:
    return mw.designs.gamma_diagonal(5, epsilon=1.0)


def test_without_a_fault_the_second_sampler_passes(sets: SubsetDesign) -> None:
    honest = planted(sets, sampler=SortingSampler(sets))
    test_designs.test_reports_have_one_form(honest)
    test_designs.test_thresholds_to_the_last_bit(honest)
    test_designs.test_sampler_fits_matrix(honest)


def test_truth_listed_first(sets: SubsetDesign) -> None:
    """Caught by ``test_reports_have_one_form``, whether the reader sees the order or only the file does."""
    sampler = ListSampler(sets)
    as_lists = planted(sets, sampler=sampler, decode=lambda packed: [tuple(row) for row in packed.tolist()])
    as_sets = planted(sets, sampler=sampler, decode=lambda packed: [frozenset(row) for row in packed.tolist()])
    with pytest.raises(AssertionError, match="no row"):
        test_designs.test_reports_have_one_form(as_lists)
    with pytest.raises(AssertionError, match="stored in two ways"):
        test_designs.test_reports_have_one_form(as_sets)
    # As sets the frequencies are right: it is the order alone that gives the truth away.
    test_designs.test_sampler_fits_matrix(as_sets)


def _last_category(words: NDArray[Any], truth: NDArray[Any]) -> None:
    words[:, -1] = SPAN // 8


def _last_of_the_others(words: NDArray[Any], truth: NDArray[Any]) -> None:
    k = words.shape[1]
    words[np.arange(len(truth)), np.where(truth == k - 1, k - 2, k - 1)] = SPAN // 8


@pytest.mark.parametrize("fault", [_last_category, _last_of_the_others])
def test_off_by_one_subset_draw(sets: SubsetDesign, fault: Any) -> None:
    """The members beside the truth come from one category too few: caught by ``test_sampler_fits_matrix``."""
    with pytest.raises(AssertionError, match="p-value"):
        test_designs.test_sampler_fits_matrix(planted(sets, sampler=SortingSampler(sets, fault)))


def test_seven_bit_threshold(single: SubsetDesign) -> None:
    """A threshold of 52/128 in place of .40460: caught by ``test_thresholds_to_the_last_bit``.

    The error of .0017 is one that the chi-squares do not promise to see, which is why thresholds are checked exactly.
    Kept in the design itself, the coarse integer breaks the claim, and ``test_privacy`` sees that.
    """
    coarse = round(single.inside[0] * 128 / SPAN) * SPAN // 128
    with pytest.raises(AssertionError):
        test_designs.test_thresholds_to_the_last_bit(planted(single, sampler=SingleSampler(single.k, coarse)))
    with pytest.raises(AssertionError):
        test_designs.test_privacy(planted(single, inside=(coarse,), outside=(SPAN - coarse,)))


def test_threshold_off_by_one(single: SubsetDesign) -> None:
    """The smallest fault there is: caught by ``test_thresholds_to_the_last_bit``."""
    for step in (-1, 1):
        wrong = planted(single, sampler=SingleSampler(single.k, single.inside[0] + step))
        with pytest.raises(AssertionError):
            test_designs.test_thresholds_to_the_last_bit(wrong)


def _from_floats(k: int, *, epsilon: float) -> SubsetDesign:
    """The k-ary design as it is usually written: a float times 2^64, to the nearest integer."""
    stay = round(Fraction(math.exp(epsilon) / (math.exp(epsilon) + k - 1)) * SPAN)
    return SubsetDesign(tuple(range(k)), (1,), (stay,), (SPAN - stay,), name="gamma_diagonal", demand=mw.LDP(epsilon))


def test_float_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A last bit beyond the claim: caught by ``test_no_design_exceeds_its_claim``, in many designs of its grid."""
    entry = DESIGNS["gamma_diagonal"]
    monkeypatch.setitem(DESIGNS, "gamma_diagonal", Entry(_from_floats, entry.references, entry.examples))
    with pytest.raises(AssertionError, match="gamma_diagonal"):
        test_parity_grid.test_no_design_exceeds_its_claim("gamma_diagonal")
    points = {(k, epsilon) for _, k, epsilon in test_parity_grid.GRID}
    violations = sum(not mw.LDP(e).holds_for(_from_floats(k, epsilon=e)) for k, e in points)
    assert violations > len(points) / 4


def test_a_lie_that_may_equal_the_truth(single: SubsetDesign) -> None:
    """The truth then comes out too often: caught by ``test_sampler_fits_matrix``."""
    careless = CarelessSampler(single.k, single.inside[0])
    with pytest.raises(AssertionError, match="p-value"):
        test_designs.test_sampler_fits_matrix(planted(single, sampler=careless))


def test_bits_packed_in_the_other_order(sets: SubsetDesign) -> None:
    """Category j written to bit 7 - j of its byte: caught by ``test_reports_have_one_form``."""

    class Reversed(SortingSampler):
        def run(self, truth: Any, words: Any, stride: int, out: Any, exhausted: Any) -> None:
            super().run(truth, words, stride, out, exhausted)
            out[:] = np.packbits(np.unpackbits(out, axis=1), axis=1, bitorder="little")

    with pytest.raises(AssertionError, match=r"no row|two ways"):
        test_designs.test_reports_have_one_form(planted(sets, sampler=Reversed(sets)))


def test_unary_encoding_at_twice_its_epsilon() -> None:
    """Each bit flipped as if it alone had the whole ε: caught by ``test_privacy``, for the demand does not hold."""
    wrong = mw.designs.rappor(5, epsilon=2.0)
    with pytest.raises(AssertionError):
        test_designs.test_privacy(planted(wrong, demand=mw.LDP(1.0)))


@pytest.fixture(scope="module")
def pair() -> ProductDesign:
    """Two variables with the same design, so that a shared draw would show."""
    part = mw.designs.gamma_diagonal(3, epsilon=1.0)
    return mw.designs.product(part, part)


def test_two_variables_from_one_draw(pair: ProductDesign) -> None:
    """Each variable alone is drawn as it should be; caught by ``test_sampler_fits_matrix`` of the joint reports."""

    def shared(values: Any, source: Any, missing: Any, first: int) -> mw.Reports:
        parts = zip(pair.parts, columns_of_variables(values, pair.names), strict=True)
        masked = [part._mask(column, source, missing, first) for part, column in parts]
        return mw.Reports(wrong, pair.join([reports.packed for reports in masked]), None, masked[0].randomness)

    wrong = planted(pair, _mask=shared)
    with pytest.raises(AssertionError, match="p-value"):
        test_designs.test_sampler_fits_matrix(wrong)


def test_one_variable_of_a_product_left_unmasked(pair: ProductDesign) -> None:
    """Caught by ``test_sampler_fits_matrix``: reports come out that have another chance, or none."""
    open_part = planted(pair.parts[1], sampler=mw.designs.direct(3).sampler)
    with pytest.raises(AssertionError, match="p-value"):
        test_designs.test_sampler_fits_matrix(planted(pair, parts=(pair.parts[0], open_part)))


def test_the_parity_of_one_variable_for_the_whole(pair: ProductDesign) -> None:
    """The largest of the parts' parities in place of their product: caught by ``test_privacy``."""
    wrong = planted(pair, exact_parity=lambda: max(part.exact_parity() for part in pair.parts))
    with pytest.raises(AssertionError):
        test_designs.test_privacy(wrong)


def test_variables_stored_in_the_other_order() -> None:
    """Caught by ``test_sampler_fits_matrix``: what is read has the open answer where the masked one belongs."""
    product = mw.designs.product(mw.designs.gamma_diagonal(["a", "b", "c"], epsilon=1.0), mw.designs.direct(3))
    wrong = planted(product, join=lambda packed: product.join(packed[::-1]))
    with pytest.raises(AssertionError, match="probability zero"):
        test_designs.test_sampler_fits_matrix(wrong)
