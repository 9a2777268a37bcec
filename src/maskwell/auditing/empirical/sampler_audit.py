"""An audit that trusts nothing but draws: a lower confidence bound on the ε of any sampler.

For every event E about a report and any two truths j and l, ε is at least the logarithm of P(E | j) / P(E | l). A
first part of the draws searches for the event and the two truths that look worst; the rest, which is independent of the
search, tests them: Clopper-Pearson limits for both probabilities, shared out over all comparisons (Bonferroni), give a
lower bound on ε that is too high with at most the stated probability.

It cannot prove privacy. An excess of ε needs draws in inverse proportion to its square, ``draws_needed`` says how many:
millions for thresholds of seven bits. Prove with ``exact_parity``, then audit what was deployed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.auditing.empirical.event_search import Candidate, Search
from maskwell.auditing.empirical.report_cells import CellReader, Cells
from maskwell.designs.base import Design
from maskwell.errors import DataError, DesignError
from maskwell.results.result import Result

Sampler = Callable[[NDArray[np.int64]], Any]

_SEARCH_SHARE = 0.25
_COMPARISONS = 5
_BATCH_CELLS = 4_000_000
_MOST_NAMES = 10_000


@dataclass(frozen=True)
class EmpiricalAudit(Result):
    """What draws show about a sampler.

    ``epsilon_lower`` exceeds the true ε with probability at most ``false_alarm``; ``flagged`` says whether it exceeds
    the ``claimed`` one. It was found where ``event`` happened: ``counts`` times in ``draws`` reports of each of the two
    ``truths``, the best of ``comparisons``. ``n`` counts all draws, those of the search included.
    """

    epsilon_lower: float
    claimed: float | None
    confidence: float
    event: str
    truths: tuple[Any, Any]
    counts: tuple[int, int]
    draws: tuple[int, int]
    comparisons: int
    n: int

    @property
    def flagged(self) -> bool:
        """Whether the draws prove that the claim does not hold."""
        return self.claimed is not None and self.epsilon_lower > self.claimed

    @property
    def false_alarm(self) -> float:
        """The chance that a sampler which keeps its claim is flagged all the same."""
        return 1 - self.confidence

    def _title(self) -> str:
        return "audit of a sampler by its draws"

    def _remarks(self) -> list[str]:
        return [self._sentence()]

    def _sentence(self) -> str:
        """The finding in two sentences."""
        claim = "" if self.claimed is None else f" (claimed: {self.claimed:.6g})"
        verdict = "the sampler gives less privacy than it claims." if self.flagged else "this does not prove privacy."
        return (
            f"ε is at least {self.epsilon_lower:.6g}{claim}, at {100 * self.confidence:.8g} % confidence: {self.event} "
            f"in {self.counts[0]} of {self.draws[0]} reports of {self.truths[0]!r} and in {self.counts[1]} of "
            f"{self.draws[1]} of {self.truths[1]!r}. After {self.n} draws, {verdict}"
        )


def audit_sampler(
    sampler: Design | Sampler,
    k: int | None = None,
    *,
    n: int = 400_000,
    claimed: float | None = None,
    confidence: float = 0.999,
    seed: int | None = None,
) -> EmpiricalAudit:
    """Search ``n`` draws for evidence that a sampler's ε is larger than claimed; false alarm at most 1 - confidence.

    ``sampler`` is a design, or a function that takes an array of true codes 0 .. k-1 and returns one report for each:
    an array, or a list of numbers, text, sets or sequences. Batches are drawn one at a time and only counted. A design
    claims its own ε unless another one is given; ``seed`` makes its draws repeatable.

    >>> from maskwell import designs
    >>> audit_sampler(designs.minimax(4, epsilon=1), n=20_000, seed=1).flagged
    False
    """
    design: Design | None = None
    # A function that somebody else wrote is audited like a design: the one place that tells the two apart.
    if isinstance(sampler, Design):
        design, draw = sampler, _masker(sampler, seed)
        claimed = design.epsilon if claimed is None else claimed
    else:
        draw = sampler
    k = _categories(design, draw, k)
    _refuse_nonsense(k, n, claimed, confidence)
    reader = CellReader(k)
    search = Search(k, reader)
    first = max(2 * k, int(n * _SEARCH_SHARE))
    for codes, cells in _batches(draw, reader, range(k), first):
        search.add(codes, cells)
    chosen = search.worst(_COMPARISONS)
    hits, draws = _tested(draw, reader, chosen, n - first)
    error = error_share(confidence, len(chosen))
    bounds = [_bound(*hit, *drawn, error) for hit, drawn in zip(hits, draws, strict=True)]
    at = int(np.argmax(bounds))
    labels: Sequence[Any] = range(k) if design is None else design.categories
    return EmpiricalAudit(
        epsilon_lower=bounds[at],
        claimed=claimed,
        confidence=confidence,
        event=search.describe(chosen[at].event, labels, _report_names(design)),
        truths=(labels[chosen[at].truth], labels[chosen[at].other]),
        counts=hits[at],
        draws=draws[at],
        comparisons=len(chosen),
        n=n,
    )


def draws_needed(
    chance: float, other_chance: float, claimed: float, *, confidence: float = 0.999, power: float = 0.99
) -> int:
    """How many draws an audit needs to flag an event with these chances under two truths, with this power.

    For a RAPPOR client at ε = 1 that sets a bit with chance 48/128 in place of .3775:

    >>> round(draws_needed(0.625**2, 0.375**2, claimed=1.0), -5)
    2300000
    """
    from maskwell.numerics.normal import normal_quantile

    excess = math.log(chance / other_chance) - claimed
    if excess <= 0:
        raise DesignError(
            f"claimed = {claimed:.6g} is not exceeded by chances {chance:.6g} and {other_chance:.6g}; "
            "no number of draws shows an excess that is not there."
        )
    quantiles = normal_quantile(1 - error_share(confidence, _COMPARISONS)) * (
        math.sqrt((1 - chance) / chance) + math.sqrt((1 - other_chance) / other_chance)
    ) + normal_quantile(power) * math.sqrt((1 - chance) / chance + (1 - other_chance) / other_chance)
    return math.ceil(2 * (float(quantiles) / excess) ** 2 / (1 - _SEARCH_SHARE))


def _categories(design: Design | None, sampler: object, k: int | None) -> int:
    if design is not None:
        if k not in (None, design.k):
            raise DesignError(f"k = {k} does not fit the design, which has {design.k} categories; leave k out.")
        return design.k
    if not callable(sampler):
        raise DesignError(
            f"sampler must be a design or a function of an array of true codes; got {type(sampler).__name__}."
        )
    if k is None or k < 2:
        raise DesignError(
            f"k must be the number of true codes, at least 2, that the function takes; got {k}.", parameter="k"
        )
    return k


def _refuse_nonsense(k: int, n: int, claimed: float | None, confidence: float) -> None:
    if n < 20 * k:
        raise DesignError(f"n must be at least {20 * k}, 20 draws per category; got {n}. Try n = {2000 * k} or more.")
    if not 0 < confidence < 1:
        raise DesignError(
            f"confidence must lie between 0 and 1; got {confidence}. The false-alarm rate is the rest.",
            parameter="confidence",
        )
    if claimed is not None and not claimed >= 0:
        raise DesignError(f"claimed must be an epsilon of at least 0; got {claimed}.", parameter="claimed")


def _masker(design: Design, seed: int | None) -> Sampler:
    """Masking as a user would do it; under a seed each batch has a seed of its own."""
    batches = 0
    labels: list[Any] = list(design.categories)

    def draw(codes: NDArray[np.int64]) -> Any:
        nonlocal batches
        batches += 1
        values: Any = codes
        if labels != list(range(len(labels))):
            values = [labels[code] for code in codes.tolist()]
            values = np.array(values, object) if isinstance(labels[0], tuple) else values
        return design.mask(values, seed=None if seed is None else (seed << 32) + batches)

    return draw


def _batches(
    draw: Sampler, reader: CellReader, truths: Sequence[int], n: int
) -> Iterator[tuple[NDArray[np.int64], Cells]]:
    """True codes that go round the truths, and the cells of their reports."""
    rows = max(1024, min(1 << 16, _BATCH_CELLS // reader.k))
    for start in range(0, n, rows):
        codes = np.resize(np.array(truths, np.int64), min(rows, n - start))
        cells = reader.read(draw(codes.copy()))
        if len(cells) != len(codes):
            raise DataError(
                f"the sampler returned {len(cells)} reports for {len(codes)} true codes; it must return one for each."
            )
        yield codes, cells


def _tested(
    draw: Sampler, reader: CellReader, chosen: list[Candidate], n: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """For each candidate how often its event happened, and among how many draws, for its truth and for the other."""
    pair = (chosen[0].truth, chosen[0].other)
    hits = np.zeros((len(chosen), 2), np.int64)
    draws = np.zeros(2, np.int64)
    for codes, cells in _batches(draw, reader, pair, n):
        first = codes == pair[0]
        draws += (int(first.sum()), int((~first).sum()))
        for at, candidate in enumerate(chosen):
            happens = candidate.event.happens(cells)
            hits[at] += (int((happens & first).sum()), int((happens & ~first).sum()))
    turned = [slice(None, None, 1 if candidate.truth == pair[0] else -1) for candidate in chosen]
    return (
        [tuple(row[turn].tolist()) for row, turn in zip(hits, turned, strict=True)],
        [tuple(draws[turn].tolist()) for turn in turned],
    )


def error_share(confidence: float, comparisons: int) -> float:
    """The error that each limit may have so that all of them hold together: two for each comparison (Bonferroni).

    >>> error_share(0.75, 5)
    0.025
    """
    return (1 - confidence) / (2 * comparisons)


def _bound(hits: int, other_hits: int, draws: int, other_draws: int, error: float) -> float:
    """The logarithm of the least likely ratio of the two chances, at ``error`` on each side; never below 0."""
    from maskwell.numerics.beta import beta_quantile

    if hits == 0 or other_hits == other_draws:
        return 0.0
    low = float(beta_quantile(hits, draws - hits + 1, error))
    high = float(beta_quantile(other_hits + 1, other_draws - other_hits, 1 - error))
    return max(0.0, math.log(low / high))


def _report_names(design: Design | None) -> Sequence[Any] | None:
    """What the codes of a design's reports stand for, where they are codes."""
    if design is None or design.sampler.empty(0).ndim > 1 or design.report_count() > _MOST_NAMES:
        return None
    return design.report_labels()
