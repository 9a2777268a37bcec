"""Survey designs of the literature against their published probabilities, variances and estimators."""

from fractions import Fraction as F

import numpy as np
import pytest

import maskwell as mw

D = mw.designs
SHARE = np.array([0.15, 0.5, 0.85])


def variance(design: mw.Design, share: float) -> float:
    """n times the variance of the estimated share of yes."""
    population = np.array([share, 1 - share])
    return float(design.scores("linear").second_moment_diagonal(population)[0] - share**2)


@pytest.mark.parametrize("share", SHARE)
@pytest.mark.parametrize("p", [0.3, 0.7, 0.9])
def test_published_variances(share: float, p: float) -> None:
    own = share * (1 - share)
    # Mangat (1994)
    assert variance(D.mangat(truth_prob=p), share) == pytest.approx(own + (1 - share) * (1 - p) / p)
    # Mangat and Singh (1990), with T = .35
    t = 0.35
    wrong, slope = (1 - t) * (1 - p), 2 * p - 1 + 2 * t * (1 - p)
    expected = own + wrong * (1 - wrong) / slope**2
    assert variance(D.mangat_singh(direct_prob=t, truth_prob=p), share) == pytest.approx(expected)
    # Yu, Tian and Tang (2008)
    assert variance(D.triangular(innocuous_prob=p), share) == pytest.approx(own + (1 - share) * p / (1 - p))
    # Devore (1977): the unrelated question with a known share of 1
    yes = p * share + 1 - p
    assert variance(D.devore(sensitive_prob=p), share) == pytest.approx(yes * (1 - yes) / p**2)
    # Singh and Joarder (1997)
    yes = share * (p + (1 - p) * p) + (1 - share) * (1 - p)
    if abs((2 * p - 1) + p * (1 - p)) > 1e-9:
        expected = yes * (1 - yes) / ((2 * p - 1) + p * (1 - p)) ** 2
        assert variance(D.singh_joarder(truth_prob=p), share) == pytest.approx(expected)


@pytest.mark.parametrize("share", SHARE)
@pytest.mark.parametrize("cards", [[0.2, 0.3, 0.5], [0.5, 0.25, 0.125, 0.125], [0.9, 0.1]])
def test_christofides_mean_of_the_reports_has_the_published_variance(share: float, cards: list[float]) -> None:
    design = D.christofides(card_probs=cards)
    numbers, matrix = np.array(design.report_labels()), design.matrix()
    mu = float(numbers @ cards)
    spread = float(numbers**2 @ cards) - mu**2
    slope = len(cards) + 1 - 2 * mu
    scores = (numbers - mu) / slope
    assert scores @ matrix == pytest.approx([1, 0])  # unbiased: 1 for who would say yes
    chances = matrix @ [share, 1 - share]
    published = share * (1 - share) + spread / slope**2
    assert scores**2 @ chances - share**2 == pytest.approx(published)
    if share == 0.5:
        assert variance(design, share) <= published * (1 + 1e-12)


def test_christofides_with_two_cards_is_warner() -> None:
    matrix = D.christofides(card_probs=["1/4", "3/4"]).matrix(exact=True)
    assert (matrix == D.warner(truth_prob="3/4").matrix(exact=True)).all()


@pytest.mark.parametrize("p", ["1/5", "3/4", F(2, 5)])
def test_designs_that_equal_others(p: str | F) -> None:
    q = F(p)
    assert D.mangat(truth_prob=p) == D.forced_response(yes_prob=1 - q, no_prob=0)
    assert D.mangat_singh(direct_prob="1/4", truth_prob=p) == D.warner(truth_prob=F(1, 4) + F(3, 4) * q)
    assert D.devore(sensitive_prob=p) == D.unrelated_question(sensitive_prob=p, innocuous_yes=1)
    assert (D.triangular(innocuous_prob=p).matrix() == D.forced_response(yes_prob=q, no_prob=0).matrix()).all()
    assert D.forced_response(forced={"yes": p, "no": 0}) == D.forced_response(yes_prob=p, no_prob=0)


def test_forced_categories_are_drawn_whatever_the_truth() -> None:
    design = D.forced_response(["a", "b", "c"], forced={"c": "1/6", "a": "1/3"})
    truth = F(1, 2)
    expected = [[truth * (i == j) + f for j in range(3)] for i, f in enumerate([F(1, 3), F(0), F(1, 6)])]
    assert (design.matrix(exact=True) == np.array(expected)).all()
    assert D.eriksson(["a", "b", "c"], truth_prob="1/2", forced=["1/3", 0, "1/6"]) == design
    k = 5
    even = D.eriksson(k, truth_prob="1/2")
    assert even.exact_parity() == k + 1
    assert even.added_variance == pytest.approx(D.gamma_diagonal(k, gamma=k + 1).added_variance)
    assert mw.Design.from_json(design.to_json()) == design


@pytest.mark.parametrize(
    ("make", "about"),
    [
        (lambda: D.forced_response(["a", "b"]), "yes_prob= and no_prob="),
        (lambda: D.forced_response(3, yes_prob=0.1, no_prob=0.1, forced=[0.1] * 3), "not both"),
        (lambda: D.forced_response(3, forced=[0.1] * 2), "each of 3"),
        (lambda: D.forced_response(3, forced=["1/3"] * 3), "less than 1"),
        (lambda: D.forced_response(3, forced={7: 0.1}), "names 7"),
        (lambda: D.forced_response(3, forced=["-1/3", 0, 0]), "from 0 to 1"),
        (lambda: D.eriksson(3, truth_prob=0.5, forced=[0.1, 0.1, 0.1]), "sum to 1"),
        (lambda: D.christofides(card_probs=["1/2", "1/2"]), "the same from both ends"),
        (lambda: D.christofides(card_probs=["1/2", "1/4"]), "sum to 1"),
        (lambda: D.christofides(card_probs=0.5), "at least 2"),
        (lambda: D.christofides(3, card_probs=[0.4, 0.6]), "2 categories"),
        (lambda: D.mangat(truth_prob="five"), "fraction as text"),
        (lambda: D.mangat(truth_prob=0), "the same reports"),
        (lambda: D.triangular(innocuous_prob="3/2"), "from 0 to 1"),
    ],
)
def test_what_cannot_be_built_says_why(make: object, about: str) -> None:
    with pytest.raises(mw.DesignError, match=about):
        make()  # type: ignore[operator]


def test_fractions_are_taken_as_text() -> None:
    assert D.gamma_diagonal(3, gamma="5/2") == D.gamma_diagonal(3, gamma=F(5, 2))
    assert D.minimax(3, epsilon="1/2").demand == mw.LDP(F(1, 2))
    assert D.average_secure(3, phi="3/2") == D.average_secure(3, phi=F(3, 2))
    assert mw.RhoPrivacy("1/10", "1/2") == mw.RhoPrivacy(F(1, 10), F(1, 2))
    assert D.kuk(red_if_yes="4/5", red_if_no="2/5") == D.kuk(red_if_yes=F(4, 5), red_if_no=F(2, 5))
    assert mw.planning.half_width(D.direct(2), 1000, proportion="1/2") == mw.planning.half_width(
        D.direct(2), 1000, proportion=0.5
    )
    for design in (D.warner(truth_prob="3/4"), D.gamma_diagonal(3, gamma="5/2"), D.mangat(truth_prob="2/3")):
        assert mw.Design.from_json(design.to_json()) == design
