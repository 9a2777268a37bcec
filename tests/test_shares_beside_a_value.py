"""Tests of one share beside a value: the binomial law, whichever reports speak for the category."""

from typing import Any

import pytest
from scipy import stats

import maskwell as mw

D = mw.designs


@pytest.mark.parametrize("alternative", ["less", "greater", "two-sided"])
@pytest.mark.parametrize(
    ("design", "counts"),
    [
        (D.warner(truth_prob=0.8), [130, 70]),
        (D.warner(truth_prob=0.25), [80, 120]),  # a no is what most who mean yes say
        (D.crosswise(innocuous_prob="1/4"), [90, 110]),
        (D.kuk(red_if_yes=0.2, red_if_no=0.7, draws=1), [115, 85]),
        (D.forced_response(yes_prob="1/6", no_prob="1/6"), [90, 110]),
    ],
)
def test_exact_tests_look_where_the_share_lies(design: mw.Design, counts: list[int], alternative: Any) -> None:
    """A share is larger where more reports come that are likelier for people who have it."""
    chances = design.matrix()
    own = int((chances[:, 0] - chances[:, 1]).argmax())
    found = mw.estimate(mw.Tally.from_counts(design, counts))
    for value in (0.1, 0.3, 0.6):
        chance = float(chances[own] @ [value, 1 - value])
        tails = [stats.binomtest(counts[own], 200, chance, alternative=side).pvalue for side in ("less", "greater")]
        expected = {"less": tails[0], "greater": tails[1], "two-sided": min(1.0, 2 * min(tails))}[alternative]
        exact = found.test("yes", value, alternative, "exact")
        assert exact.p_value == pytest.approx(expected)
        assert exact.statistic == counts[own]
        # The score test, which needs no counts, looks in the same direction.
        score = found.test("yes", value, alternative, "score").p_value
        assert exact.p_value == pytest.approx(score, abs=0.08)
        other = {"less": "greater", "greater": "less"}.get(alternative, alternative)
        assert found.test("no", 1 - value, other, "exact").p_value == pytest.approx(exact.p_value)
