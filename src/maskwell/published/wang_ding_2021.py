"""Wang & Ding (2021): their urn, the race of 32,561 persons under uniform subset privacy, and their tests.

Tables II and III are data: what follows from them is checked. Left out is what cannot be: times, curves that are drawn
without numbers, and how many more respondents a test needs after masking, for which they do not state the dummies.
"""

from collections.abc import Callable
from functools import cache
from math import sqrt

import numpy as np

from maskwell import designs
from maskwell.auditing import audit
from maskwell.auditing.audit import Audit
from maskwell.designs.base import Matrix
from maskwell.inference import independence_test, individual_leakage
from maskwell.inference.hypotheses.hypothesis_test import chi_square_tail
from maskwell.published.errata.wang_ding_2021 import ERRATA
from maskwell.published.model import EXACT, Explanation, Row, Simulated, Value
from maskwell.published.wang_ding_2021_table_4 import KEY, TABLE_4_ROWS, limits
from maskwell.reports.tally import Tally

_URN = {"black": 0.01, "red": 0.1, "green": 0.2, "blue": 0.69}
_RACE = {
    "Amer-Indian-Eskimo": 311,
    "Asian-Pac-Islander": 1039,
    "Black": 3124,
    "Other": 271,
    "White": 27816,
}
_GENDER_BY_INCOME = np.array([[9592, 1179], [15128, 6662]])
_CUT = Explanation("further digits were cut off", truncated=True)
_REPLICATIONS = 100


def _share(race: str) -> float:
    return _RACE[race] / sum(_RACE.values())


_SHARES = [_share(race) for race in _RACE]


@cache
def _audit(name: str) -> Audit:
    return audit(designs.DESIGNS[name].function(list(_RACE)), prior=_SHARES)


def _leakage(what: str, name: str = "uniform_subsets") -> float:
    return float(getattr(_audit(name), what))


def _individual(race: str, members: set[str]) -> tuple[float, float]:
    """What one report rules out, and whether the best guess from it is the truth."""
    found = individual_leakage(designs.uniform_subsets(list(_RACE)), members, np.array(_SHARES))
    return found.ruled_out, float(found.guess == race)


def _members() -> tuple[Matrix, Matrix]:
    matrix = designs.uniform_subsets(list(_RACE)).matrix()
    return (matrix > 0).astype(float), matrix.max(axis=1)


def _limit(which: int) -> float:
    """n times the mean squared error for many respondents: of the likelihood (0) or of the moments (1)."""
    members, chances = _members()
    return limits(members, chances, np.array(_SHARES))[which]


def _loss_ratio() -> Value:
    """The limit of the likelihood's loss over that of the sample, with the error of 100 replications of either.

    A loss is a weighted sum of squared normals: its variance is twice the summed squares of the covariance.
    """
    w = np.array(_SHARES)
    sample = np.diag(w) - np.outer(w, w)
    members, chances = _members()
    basis = np.vstack([np.eye(4), -np.ones(4)])
    information = (members * (chances / (members @ w))[:, None]).T @ members
    masked = basis @ np.linalg.inv(basis.T @ information @ basis) @ basis.T
    ratio = float(np.trace(masked) / np.trace(sample))
    relative = sum(2 * float((c**2).sum()) / float(np.trace(c)) ** 2 for c in (masked, sample))
    return Simulated(ratio, ratio * sqrt(relative / _REPLICATIONS))


def _pearson_of_the_table() -> float:
    """The p-value of the unmasked table."""
    table = _GENDER_BY_INCOME
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return chi_square_tail(float(((table - expected) ** 2 / expected).sum()), 1)


def _likelihood_ratio_freedom(k: int) -> float:
    part = designs.uniform_subsets(k)
    design = designs.product(part, part)
    found = independence_test(Tally.from_counts(design, np.full(design.report_count(), 10)), "lrt")
    assert found.df is not None
    return float(found.df)


def _row(
    where: str,
    what: str,
    printed: str,
    compute: Callable[[], Value],
    why: Explanation | None = None,
    unit: str | None = None,
) -> Row:
    return Row(KEY, where, what, printed, compute, why, unit=unit)


def _arithmetic(where: str, what: str, printed: str, compute: Callable[[], Value]) -> Row:
    return Row(KEY, where, what, printed, compute, kind="arithmetic")


def _example(what: str, printed: str, members: tuple[str, ...]) -> Row:
    return _arithmetic("Example 2", what, printed, lambda: sum(_URN[c] for c in members))


def _urn_coverage() -> float:
    return 1 - float(audit(designs.uniform_subsets(list(_URN)), prior=list(_URN.values())).size_leakage)


def _race_rows() -> list[Row]:
    shares = zip(_RACE, ("0.009551", "0.031909", "0.095943", "0.008323", "0.854274"), strict=True)
    asian = {"Asian-Pac-Islander", "White"}
    place = "Section V-B"
    return [
        *(_arithmetic("Table II", race, printed, lambda race=race: _share(race)) for race, printed in shares),  # type: ignore[misc]
        _row("Section V-A", "loss of the likelihood over that of the sample", "4", _loss_ratio),
        _row(place, "size leakage, not masked", "0.25", lambda: _leakage("size_leakage", "direct"), _CUT),
        _row(place, "size leakage, uniform design", "0.15", lambda: _leakage("size_leakage"), _CUT),
        _row(place, "prediction leakage, not masked", "1", lambda: _leakage("prediction", "direct"), unit=EXACT),
        _row(place, "prediction leakage, uniform design", "0.9", lambda: _leakage("prediction")),
        _arithmetic(place, "guess without any report", "0.85", lambda: max(_SHARES)),
        _arithmetic(place, "chance of the optimal prediction in Case 12", "0.854", lambda: _share("White")),
        _row(
            place,
            "prediction leakage of Case 12, a White in {Black, White, Asian}",
            "1",
            lambda: _individual("White", {"Black", *asian})[1],
            unit=EXACT,
        ),
        _row(
            place,
            "share of the mutual information that is left",
            "0.5",
            lambda: _leakage("mutual_information") / _leakage("mutual_information", "direct"),
        ),
        _arithmetic(
            place,
            "size leakage of an Asian-Pac-Islander, not masked",
            "0.97",
            lambda: 1 - _share("Asian-Pac-Islander"),
        ),
        _row(
            place,
            "size leakage of an Asian-Pac-Islander in {Asian, White}",
            "0.11",
            lambda: _individual("Asian-Pac-Islander", asian)[0],
        ),
    ]


def _exactly() -> list[Row]:
    values: list[tuple[str, Callable[[], Value]]] = [
        ("size leakage, not masked", lambda: _leakage("size_leakage", "direct")),
        ("size leakage, uniform design", lambda: _leakage("size_leakage")),
        ("mutual information, not masked, bits", lambda: _leakage("mutual_information", "direct")),
        ("mutual information, uniform design, bits", lambda: _leakage("mutual_information")),
        ("prediction leakage, uniform design", lambda: _leakage("prediction")),
        ("n × squared error, sample", lambda: 1 - sum(w**2 for w in _SHARES)),
        ("n × squared error, likelihood", lambda: _limit(0)),
        ("n × squared error, moments", lambda: _limit(1)),
    ]
    return [Row(KEY, "Race example, exactly", what, "", compute, kind="unprinted") for what, compute in values]


ROWS = (
    _example("size of {red, green, blue}", "0.99", ("red", "green", "blue")),
    _example("size of {black, red}", "0.11", ("black", "red")),
    _row("Example 2", "coverage of the uniform design", "0.684", _urn_coverage),
    *_race_rows(),
    *_exactly(),
    _arithmetic("Table III", "persons in all", "32561", lambda: float(_GENDER_BY_INCOME.sum())),
    _row("Section V-C", "p-value of Table III, near", "0", _pearson_of_the_table),
    Row(
        KEY,
        "Section IV-B",
        "degrees of freedom of the likelihood ratio, p=q=4",
        "(p-1)(q-1)",
        lambda: _likelihood_ratio_freedom(4),
        kind="formula",
        formula=lambda: 9.0,
    ),
    *TABLE_4_ROWS,
    *ERRATA,
)
