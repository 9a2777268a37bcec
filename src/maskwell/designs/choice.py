"""Which design has the least error within a parity, and why: sets, hyperplanes or single categories.

No design of a parity has less worst-case error than the minimax one, whose report is a set: k bits, drawn and counted
in time that grows with k. Where sets have one member it is k-ary response, and the report one category. For long lists
the projective design comes within a few per cent of that error with a report of log2 k bits, drawn in a time that does
not depend on k and counted in one step.
"""

import math
from contextlib import suppress
from fractions import Fraction

from maskwell.designs.base import Design
from maskwell.designs.named.projective import projective
from maskwell.designs.named.symmetric import Categories, Number, gamma_diagonal, minimax, minimax_size
from maskwell.errors import DesignError
from maskwell.results.numbers import counted
from maskwell.sampling.samplers import MOST_CATEGORIES
from maskwell.tables.labels import as_labels

MOST_IN_SETS = 4096
"""Categories up to which sets are taken: a report of 512 bytes, as much as everything else that is sent with it."""
WORTH_SETS = 1.1
"""Beyond that many categories sets are taken where they can be drawn and all else has a tenth more error."""


_TAKEN = ("minimax", "projective", "gamma_diagonal")


def best_design(categories: Categories, *, epsilon: Number | None = None, gamma: Number | None = None) -> Design:
    """The design to take at this parity; ``why_taken`` gives the reason.

    >>> best_design(10, epsilon=1).name, best_design(10_000, epsilon=1).name, best_design(10_000, epsilon=12).sizes
    ('minimax', 'projective', (1,))
    """
    labels = as_labels(categories)
    k = len(labels)
    if k <= MOST_IN_SETS:
        return minimax(labels, epsilon=epsilon, gamma=gamma)
    single = gamma_diagonal(labels, epsilon=epsilon, gamma=gamma)
    assert single.demand is not None
    bound = Fraction(single.demand.exact_bound())
    size = minimax_size(k, bound)
    if size == 1:
        return minimax(labels, epsilon=epsilon, gamma=gamma)
    others: list[Design] = [single]
    with suppress(DesignError):  # no space has room
        others.append(projective(labels, epsilon=epsilon, gamma=gamma))
    least = min(others, key=lambda design: design.added_variance)
    if k <= MOST_CATEGORIES and least.added_variance > WORTH_SETS * _added_variance(k, float(bound), size):
        return minimax(labels, epsilon=epsilon, gamma=gamma)
    return least


def why_taken(design: Design) -> str:
    """What speaks for a design that ``plan`` takes: error and bits beside those of sets and of single categories.

    Empty for other designs.

    >>> why_taken(minimax(100, epsilon=1)).partition(";")[0]
    'No design of this parity has less worst-case error'
    """
    parity = design.exact_parity()
    if design.name not in _TAKEN or not isinstance(parity, Fraction) or not math.isfinite(design.added_variance):
        return ""
    k, size = design.k, minimax_size(design.k, parity)
    sets, single = (_added_variance(k, float(parity), s) for s in (size, 1))
    bits = report_bits(design)
    if design.channel.sizes and size == 1:
        words = counted(bits, "bit", "bits")
        return f"At this parity the best sets have one member: reports are single categories of {words}."
    ratio = float(f"{single / design.added_variance:.2g}")
    times = f"Single categories would add {ratio:,g} times as much."
    if design.added_variance <= sets * (1 + 1e-9):
        return f"No design of this parity has less worst-case error; a report is {bits:,} bits. {times}"
    more = f"{100 * (design.added_variance / sets - 1):.1f} % more added variance than the best sets"
    if design.channel.sizes:
        limit = "; sets cannot be drawn from so many categories" if k > MOST_CATEGORIES else ""
        return f"Reports are single categories: {more}{limit}."
    return (
        f"Reports are hyperplanes: {more}, which would be {k:,} bits a report; a hyperplane is {bits:,} bits, drawn in "
        f"a time that does not depend on k. {times}"
    )


def report_bits(design: Design) -> int:
    """The bits of a report as it is packed, but for the padding to whole bytes.

    >>> report_bits(minimax(1000, epsilon=1)), report_bits(projective(1000, epsilon=1))
    (1000, 11)
    """
    return design.k if design.codec.bit_masks else max(1, (design.report_count() - 1).bit_length())


def _added_variance(k: int, gamma: float, size: int) -> float:
    """Of sets of one size at this parity (``minimax``)."""
    f = k**2 * (size * gamma**2 + k - size) / (size * gamma + k - size) ** 2
    return (k - 1) ** 2 / (f - k) + 1 / k - 1
