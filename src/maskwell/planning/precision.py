"""What a design's masking costs, foreseen from its integers: for planning, before any report exists."""

import math
from dataclasses import dataclass

from maskwell.designs.base import Design

SHARES = (0.01, 0.1, 0.5)


@dataclass(frozen=True)
class Expected:
    """What to expect of the estimated share of a category that this share of people hold; half-widths are for 95 %."""

    share: float
    standard_error: float
    half_width: float
    direct_half_width: float


def expected(design: Design, n: int) -> list[Expected]:
    """The precision with n respondents, for the category and the population that fare worst."""
    from maskwell.designs import direct
    from maskwell.planning.sample_size import half_width
    from maskwell.planning.variance_lines import Lines

    if math.isinf(design.added_variance):
        return []
    lines, unmasked = Lines.of(design), direct(2)
    return [
        Expected(
            share,
            math.sqrt(float(lines.variance(share).max()) / n),
            half_width(design, n, proportion=share),
            half_width(unmasked, n, proportion=share),
        )
        for share in SHARES
    ]


def least_found(design: Design, n: int, level: float = 0.95) -> float | None:
    """The share that a category must have for its lower limit to be above 0 with an even chance among all of them.

    The limits are those of ``estimate.top``, which hold for all categories together. None where no share is enough.

    >>> from maskwell.designs import minimax
    >>> round(least_found(minimax(1000, epsilon=1), 1_000_000), 5)
    0.00779
    """
    from maskwell.inference.intervals.closed_form import level_of_each, normal_quantile
    from maskwell.planning.variance_lines import Lines

    if math.isinf(design.added_variance):
        return None
    width, lines, share = normal_quantile(level_of_each(level, design.k)), Lines.of(design), 0.0
    for _ in range(100):  # the variance hardly depends on the share, so this settles at once
        again = width * math.sqrt(float(lines.variance(share).max()) / n)
        if abs(again - share) <= 1e-9 * again:
            break
        share = again
    return again if again < 1 else None
