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
