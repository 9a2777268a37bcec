"""One suite over every design: matrix, privacy, sampler, estimator and storage, against enumeration.

The false-alarm rate of all chi-squares together is 1e-6. Each has 400,000 draws and catches, with power .99, any
sampler that is wrong by 1.2 % in total variation for some truth; thresholds are checked to the last bit without draws.
"""

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from tests.conformance import checks, sampling_checks
from tests.conformance.members import EVERY, MEMBERS, TRUTHS
from tests.statistics_helpers import smallest_error

FALSE_ALARM = 1e-6 / TRUTHS
DRAWS = 400_000
WORST_ERROR = 0.012

every_design = pytest.mark.parametrize("design", EVERY.values(), ids=EVERY.keys())
# A product is drawn by the samplers of its parts, which are members themselves.
every_plain_design = pytest.mark.parametrize("design", MEMBERS.values(), ids=MEMBERS.keys())
every_estimable_design = pytest.mark.parametrize(
    "design",
    [pytest.param(design, id=title) for title, design in EVERY.items() if checks.is_estimable(design)],
)


@every_design
def test_matrix(design: mw.Design) -> None:
    checks.check_matrix(design)


@every_design
def test_privacy(design: mw.Design) -> None:
    checks.check_privacy(design)


@every_design
def test_reports_have_one_form(design: mw.Design) -> None:
    sampling_checks.check_one_form(design)


@every_plain_design
def test_thresholds_to_the_last_bit(design: mw.Design) -> None:
    sampling_checks.check_thresholds(design)


@every_design
def test_sampler_fits_matrix(design: mw.Design) -> None:
    """A chi-square per truth: false alarm 1e-6 over the whole suite; see ``WORST_ERROR`` for what each one catches."""
    sampling_checks.check_sampler(design, n=DRAWS, false_alarm=FALSE_ALARM, worst_error=WORST_ERROR)


def test_error_that_each_chi_square_catches() -> None:
    """From 1 degree of freedom to 127, the most that any member has, in total variation."""
    assert smallest_error(1, DRAWS, FALSE_ALARM) == pytest.approx(0.0065, abs=0.0001)
    assert smallest_error(31, DRAWS, FALSE_ALARM) == pytest.approx(0.0086, abs=0.0001)
    assert smallest_error(127, DRAWS, FALSE_ALARM) == pytest.approx(0.0107, abs=0.0001)
    assert max(design.report_count() for design in EVERY.values()) <= 128


@every_estimable_design
def test_estimators_are_unbiased(design: mw.Design) -> None:
    checks.check_unbiased(design)


@every_estimable_design
def test_covariance(design: mw.Design) -> None:
    checks.check_covariance(design)


@every_estimable_design
def test_added_variance(design: mw.Design) -> None:
    checks.check_added_variance(design)


@pytest.mark.parametrize(
    "design",
    [pytest.param(design, id=title) for title, design in MEMBERS.items() if not checks.is_estimable(design)],
)
def test_what_cannot_be_estimated_is_named(design: mw.Design) -> None:
    checks.check_not_estimable(design)


@every_design
def test_json_gives_the_same_design(design: mw.Design) -> None:
    checks.check_json(design)


@every_design
def test_changed_json_is_refused(design: mw.Design) -> None:
    for what, text in checks.changed_documents(design).items():
        try:
            checks.check_refused(text)
        except BaseException as failure:
            raise AssertionError(f"with {what} changed") from failure


@every_design
def test_truncated_json_is_refused(design: mw.Design) -> None:
    text = design.to_json()
    for length in range(len(text)):
        checks.check_refused(text[:length])


@pytest.mark.parametrize(
    "text", ["", "null", "3", "[]", "{}", '"design"', pytest.param("[" * 100_000, id="deep"), "\x00", '{"a": 1e999}']
)
def test_foreign_json_is_refused(text: str) -> None:
    checks.check_refused(text)


@pytest.mark.parametrize(
    "number", [1, 1.0, Fraction(3, 2), Decimal("1.1"), np.float64(1.5), np.float32(0.5), np.int64(2)]
)
def test_json_of_every_number_that_is_accepted(number: Any) -> None:
    for design in (mw.designs.minimax(5, epsilon=number), mw.designs.minimax(5, gamma=number + 1)):
        again = mw.Design.from_json(design.to_json())
        assert again == design
        assert again.demand == design.demand


def test_json_of_report_labels_from_an_array() -> None:
    design = mw.designs.from_matrix([[0.5, 0.25], [0.5, 0.75]], reports=np.array([10, 20]))
    assert mw.Design.from_json(design.to_json()).report_labels() == [10, 20]


@pytest.mark.parametrize("total", [0, -4, 1 << 65])
def test_a_total_that_the_sampler_cannot_use_is_refused(total: int) -> None:
    """Columns that sum to it are not enough: a record's first number has 64 bits."""
    half = total // 2
    with pytest.raises(mw.DesignError, match=r"total|weights"):
        mw.designs.MatrixDesign((0, 1), ((half, half), (half, half)), total, (0, 1), name="from_matrix")


def test_a_weaker_demand_is_true_and_therefore_read() -> None:
    """The fingerprint covers labels and integers; a demand is checked against them, not against a hash."""
    design = mw.designs.minimax(5, epsilon=1)
    document = json.loads(design.to_json()) | {"demand": {"kind": "ldp", "epsilon": 2}}
    assert mw.Design.from_json(json.dumps(document)).demand == mw.LDP(2)


def test_contract_rows() -> None:
    """ "same" stands first, red cards are counted from 0, "yes" is the first category."""
    assert mw.designs.crosswise(innocuous_prob=0.25).report_labels() == ["same", "different"]
    assert mw.designs.kuk(red_if_yes=0.8, red_if_no=0.4, draws=4).report_labels() == [0, 1, 2, 3, 4]
    warner = mw.designs.warner(truth_prob=Fraction(4, 5))
    assert warner.categories == ("yes", "no")
    assert warner.matrix(exact=True)[0].tolist() == [Fraction(4, 5), Fraction(1, 5)]
