"""Words as every view has them: what privacy a design gives, what a report looks like, how sure an interval is."""

import math

from maskwell.designs.base import Design
from maskwell.inference import Estimate
from maskwell.results.numbers import limit


def level_words(level: float, simultaneous: bool = False) -> str:
    """The name of an interval: ``95 % interval``."""
    return f"{100 * level:g} % {'simultaneous ' if simultaneous else ''}interval"


def privacy_words(design: Design) -> str:
    """What privacy the design gives, in one line."""
    if math.isfinite(design.epsilon):
        return (
            f"ε = {limit(design.epsilon)}, so no report moves anyone's odds by more than a factor of "
            f"{limit(design.exact_parity())}"
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
