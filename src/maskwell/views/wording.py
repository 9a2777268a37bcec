"""Words and numbers as every view shows them: shares, margins, and what privacy a design gives."""

import math

from maskwell.designs.base import Design, Matrix
from maskwell.inference import Estimate

_MINUS = "\N{MINUS SIGN}"


def number(value: float, decimals: int) -> str:
    """A number with a true minus sign and never a negative zero.

    >>> number(-0.004, 2), number(-1.5, 1)
    ('0.00', '−1.5')
    """
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", _MINUS)


def percent(share: float, decimals: int) -> str:
    """A share as a percentage.

    >>> percent(0.8543, 1)
    '85.4 %'
    """
    return f"{number(100 * share, decimals)} %"


def decimals_for(limits: Matrix) -> int:
    """How many decimals of a percentage the widths of these intervals justify: two digits of the median half-width."""
    widths = sorted((limits[:, 1] - limits[:, 0]).tolist())
    half = 100 * widths[len(widths) // 2] / 2
    return 2 if half <= 0 else min(max(1 - math.floor(math.log10(half)), 0), 5)


def level_words(level: float, simultaneous: bool = False) -> str:
    """The name of an interval: ``95 % interval``."""
    return f"{100 * level:g} % {'simultaneous ' if simultaneous else ''}interval"


def privacy_words(design: Design) -> str:
    """What privacy the design gives, in one line."""
    if math.isfinite(design.epsilon):
        return (
            f"ε = {design.epsilon:.4g}, so no report moves anyone's odds by more than a factor of {design.parity:.4g}"
        )
    diversity = design.diversity()
    if diversity > 1:
        return f"l = {diversity}, so every report leaves at least {diversity} categories equally plausible; no finite ε"
    return "no finite ε: some reports rule categories out"


def report_words(design: Design) -> str:
    """What one report looks like.

    >>> from maskwell.designs import rappor
    >>> report_words(rappor(5, epsilon=1))
    '0 to 5 of 5 categories'
    """
    if design.set_range is None:
        return f"one of {design.report_count()} reports"
    low, high = design.set_range
    return f"{low} of {design.k} categories" if low == high else f"{low} to {high} of {design.k} categories"


def simulation_words(estimate: Estimate) -> list[str]:
    """A line for an estimate from reports that were drawn from a seed; none for others."""
    return ["Drawn from a seed: a simulation, not a survey."] if estimate.tally.simulated else []
