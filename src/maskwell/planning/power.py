"""The chance that a survey shows a difference that is there, and the number of respondents that this chance needs.

Two groups are compared by the difference of their estimates over its standard error; one group is compared with a known
share by its Wilson interval, which leaves that share out. Tests are two-sided, or to the side on which the difference
lies, with error rate 1 - level, and normal approximations with the exact variances of the design.

In a complex sample the two parts of the variance grow apart. Clusters and strata change what sampling adds, by the
design effect that a direct question would have; what masking adds is independent from person to person and grows by
unequal weights alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Vector
from maskwell.errors import DesignError
from maskwell.exact import given_fraction
from maskwell.inference.alternatives import Alternative, both_sides, checked
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.planning.inflation import Inflation
from maskwell.planning.sample_size import least
from maskwell.planning.variance_lines import Lines, margin, respondents, share


def power(
    design: Design,
    n: int | tuple[int, int],
    difference: float,
    *,
    baseline: float | None = None,
    reference: float | None = None,
    level: float = 0.95,
    category: Any = None,
    alternative: Alternative = "two-sided",
    design_effect: float = 1.0,
    weight_effect: float = 1.0,
) -> float:
    """The chance to find a category's share different when it differs by ``difference``.

    Between two groups of ``n`` respondents each (or of a pair of sizes), where the first has the share ``baseline`` and
    the second ``baseline + difference``; the worst baseline if not given. With ``reference``, of one group of ``n``
    whose share is ``reference + difference`` against that known share.

    ``alternative`` is "greater" to find a rise alone, "less" for a fall. ``design_effect`` is what the sample does to
    the variance of a direct question, as surveys report it; ``weight_effect`` the part of it that unequal weights have,
    Kish's 1 + cv², which is all that masking noise feels. Groups count as independent, which is safe where clusters
    have people of both.

    >>> from maskwell import designs
    >>> design = designs.minimax(2, epsilon=1)
    >>> round(power(design, 2000, 0.1, baseline=0.2), 3), round(power(design, 2000, 0.1, reference=0.2), 3)
    (0.853, 0.989)
    >>> round(power(design, 2000, 0.1, baseline=0.2, alternative="greater"), 3)
    0.913
    >>> round(power(design, 2000, 0.1, baseline=0.2, design_effect=2, weight_effect=1.2), 3)
    0.74
    """
    sizes = _group_sizes(n, reference)
    sampled = Inflation.of(design_effect, weight_effect)
    question = Question.of(design, difference, baseline, reference, level, category, alternative, sampled)
    return power_of(question, sizes)


def sample_size_for_power(
    design: Design,
    difference: float,
    *,
    power: float = 0.8,
    baseline: float | None = None,
    reference: float | None = None,
    level: float = 0.95,
    category: Any = None,
    alternative: Alternative = "two-sided",
    design_effect: float = 1.0,
    weight_effect: float = 1.0,
) -> int:
    """The least number of respondents, in each group if there are two, that finds ``difference`` with chance ``power``.

    The options are those of ``power``, of which this is the inverse.

    >>> from maskwell import designs
    >>> sample_size_for_power(designs.minimax(2, epsilon=1), 0.1, baseline=0.2)
    1736
    >>> sample_size_for_power(designs.minimax(2, epsilon=1), 0.1, baseline=0.2, alternative="greater")
    1368
    """
    wanted = margin(power, "power")
    sampled = Inflation.of(design_effect, weight_effect)
    question = Question.of(design, difference, baseline, reference, level, category, alternative, sampled)
    if wanted <= 1 - level:
        raise DesignError(
            f"power must exceed 1 - level = {1 - level:.6g}, the rate of false alarms; got {power}.", parameter="power"
        )
    return least(lambda n: power_of(question, (n, n)) >= wanted, f"a power of {power} for a difference of {difference}")


@dataclass(frozen=True)
class Question:
    """What is asked, with the shares checked; ``z`` is the quantile of the test."""

    lines: Lines
    difference: float
    baseline: float | None
    reference: float | None
    z: float
    alternative: Alternative
    sampled: Inflation

    @staticmethod
    def of(
        design: Design,
        difference: Any,
        baseline: Any,
        reference: Any,
        level: float,
        category: Any,
        alternative: Alternative,
        sampled: Inflation,
    ) -> "Question":
        d = float(given_fraction(difference, "difference", DesignError))
        if d == 0 or not -1 < d < 1:
            raise DesignError(
                f"difference must lie between -1 and 1 and not be 0; got {difference}.", parameter="difference"
            )
        if baseline is not None and reference is not None:
            raise DesignError("give baseline= for two groups or reference= for one against a known share, not both.")
        for name, value in (("baseline", baseline), ("reference", reference)):
            if value is not None and not 0 <= share(value, name) + d <= 1:
                raise DesignError(
                    f"{name} + difference must be a share from 0 to 1; got {value} + {difference}. "
                    "A negative difference is a fall."
                )
        if (checked(alternative) == "less" and d > 0) or (alternative == "greater" and d < 0):
            raise DesignError(
                f"alternative {alternative!r} looks for differences on the other side than {difference}; a fall is a "
                "negative difference.",
                parameter="alternative",
            )
        start, known = (None if value is None else share(value, "share") for value in (baseline, reference))
        z = normal_quantile(both_sides(level, alternative))
        return Question(Lines.of(design, category), d, start, known, z, alternative, sampled)


def _group_sizes(n: int | tuple[int, int], reference: float | None) -> tuple[int, int]:
    if not isinstance(n, (tuple, list)):
        size = respondents(n)
        return size, size
    if reference is not None or len(n) != 2:
        raise DesignError(f"n must be one number, or a pair of sizes where two groups are compared; got {n}.")
    return respondents(n[0]), respondents(n[1])


def power_of(question: Question, sizes: tuple[int, int]) -> float:
    """The least power over the lines of the design."""
    from maskwell.numerics.normal import normal_cdf

    lines, d, z, sampled = question.lines, question.difference, question.z, question.sampled
    if question.reference is not None:
        # The Wilson interval leaves the reference out where the estimate is z standard errors from it, these being
        # taken at the reference; how the estimate strays is decided by the true share.
        assumed = np.sqrt(sampled.variance(lines, question.reference) / sizes[0])
        actual = np.sqrt(sampled.variance(lines, question.reference + d) / sizes[0])
    else:
        actual = assumed = np.sqrt(_difference_variance(question, sizes))
    with np.errstate(divide="ignore"):
        chances = normal_cdf((abs(d) - z * assumed) / actual)
        if question.alternative == "two-sided":
            chances = chances + normal_cdf((-abs(d) - z * assumed) / actual)
    return float(chances.min())


def _difference_variance(question: Question, sizes: tuple[int, int]) -> Vector:
    lines, d, sampled = question.lines, question.difference, question.sampled
    first: float | Vector
    if question.baseline is not None:
        first = question.baseline
    else:
        # Where the sum of the two variances peaks: the sizes weigh the two shares around the worst single share.
        pull = d * sizes[0] / (sizes[0] + sizes[1])
        first = np.clip(sampled.peaks(lines) - pull, max(0.0, -d), min(1.0, 1.0 - d))
    result: Vector = sampled.variance(lines, first) / sizes[0] + sampled.variance(lines, first + d) / sizes[1]
    return result
