"""The chance that a survey shows a difference that is there, and the number of respondents that this chance needs.

Two groups are compared by the difference of their estimates over its standard error; one group is compared with a known
share by its Wilson interval, which leaves that share out. Both are two-sided tests with error rate 1 - level, and
normal approximations with the exact variances of the design.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Vector
from maskwell.errors import DesignError
from maskwell.exact import fraction
from maskwell.inference.intervals.closed_form import normal_quantile
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
) -> float:
    """The chance to find a category's share different when it differs by ``difference``.

    Between two groups of ``n`` respondents each (or of a pair of sizes), where the first has the share ``baseline`` and
    the second ``baseline + difference``; the worst baseline if not given. With ``reference``, of one group of ``n``
    whose share is ``reference + difference`` against that known share.

    >>> from maskwell import designs
    >>> design = designs.minimax(2, epsilon=1)
    >>> round(power(design, 2000, 0.1, baseline=0.2), 3), round(power(design, 2000, 0.1, reference=0.2), 3)
    (0.853, 0.989)
    """
    sizes = _group_sizes(n, reference)
    return _power(_Question.of(design, difference, baseline, reference, level, category), sizes)


def sample_size_for_power(
    design: Design,
    difference: float,
    *,
    power: float = 0.8,
    baseline: float | None = None,
    reference: float | None = None,
    level: float = 0.95,
    category: Any = None,
) -> int:
    """The least number of respondents, in each group if there are two, that finds ``difference`` with chance ``power``.

    The options are those of ``power``, of which this is the inverse.

    >>> from maskwell import designs
    >>> sample_size_for_power(designs.minimax(2, epsilon=1), 0.1, baseline=0.2)
    1736
    """
    wanted = margin(power, "power")
    question = _Question.of(design, difference, baseline, reference, level, category)
    if wanted <= 1 - level:
        raise DesignError(
            f"power must exceed 1 - level = {1 - level:.6g}, the rate of false alarms; got {power}.", parameter="power"
        )
    return least(lambda n: _power(question, (n, n)) >= wanted, f"a power of {power} for a difference of {difference}")


@dataclass(frozen=True)
class _Question:
    """What is asked, with the shares checked; ``z`` is the quantile of the test."""

    lines: Lines
    difference: float
    baseline: float | None
    reference: float | None
    z: float

    @staticmethod
    def of(design: Design, difference: Any, baseline: Any, reference: Any, level: float, category: Any) -> "_Question":
        d = float(fraction(difference, "difference", DesignError))
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
        start, known = (None if value is None else float(value) for value in (baseline, reference))
        return _Question(Lines.of(design, category), d, start, known, normal_quantile(level))


def _group_sizes(n: int | tuple[int, int], reference: float | None) -> tuple[int, int]:
    if not isinstance(n, (tuple, list)):
        size = respondents(n)
        return size, size
    if reference is not None or len(n) != 2:
        raise DesignError(f"n must be one number, or a pair of sizes where two groups are compared; got {n}.")
    return respondents(n[0]), respondents(n[1])


def _power(question: _Question, sizes: tuple[int, int]) -> float:
    """The least power over the lines of the design."""
    from maskwell.numerics.normal import normal_cdf

    lines, d, z = question.lines, question.difference, question.z
    if question.reference is not None:
        # The Wilson interval leaves the reference out where the estimate is z standard errors from it, these being
        # taken at the reference; how the estimate strays is decided by the true share.
        assumed = np.sqrt(lines.variance(question.reference) / sizes[0])
        actual = np.sqrt(lines.variance(question.reference + d) / sizes[0])
    else:
        actual = assumed = np.sqrt(_difference_variance(question, sizes))
    with np.errstate(divide="ignore"):
        chances = normal_cdf((abs(d) - z * assumed) / actual) + normal_cdf((-abs(d) - z * assumed) / actual)
    return float(chances.min())


def _difference_variance(question: _Question, sizes: tuple[int, int]) -> Vector:
    lines, d = question.lines, question.difference
    first: float | Vector
    if question.baseline is not None:
        first = question.baseline
    else:
        # Where the sum of the two variances peaks: the sizes weigh the two shares around the worst single share.
        pull = d * sizes[0] / (sizes[0] + sizes[1])
        first = np.clip(lines.slope / 2 - pull, max(0.0, -d), min(1.0, 1.0 - d))
    result: Vector = lines.variance(first) / sizes[0] + lines.variance(first + d) / sizes[1]
    return result
