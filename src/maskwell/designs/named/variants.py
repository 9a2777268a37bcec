"""Further survey designs of the literature: variants of the classical ones, and names under which others know them.

Where two procedures have the same channel, privacy and precision are the same, whatever the respondent does with cards;
each docstring says what its design equals.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from maskwell.designs.channels.table import refuse_many_weights
from maskwell.designs.kinds.matrix import MatrixDesign
from maskwell.designs.named.binary import YES_NO, Chance, binary, chance_of, forced_categories, forced_chances
from maskwell.designs.named.matrices import build
from maskwell.designs.registry import named
from maskwell.designs.rounding import refuse_long_denominator
from maskwell.errors import DesignError
from maskwell.tables.labels import as_labels

Categories = Iterable[Any] | int


@named("mangat-1994", examples=({"truth_prob": 0.7}, {"truth_prob": "2/3"}))
def mangat(categories: Categories = YES_NO, *, truth_prob: Chance) -> MatrixDesign:
    r"""Who would say yes says yes; everybody else answers as in Warner's design.

    With the spinner on the statement with chance :math:`p`, :math:`P(yes \mid yes) = 1` and
    :math:`P(yes \mid no) = 1 - p`, so the estimate of the share :math:`\pi` has the variance
    :math:`\pi(1-\pi)/n + (1-\pi)(1-p)/(np)`. A no tells that the answer is no: there is no finite parity. Equal to
    ``forced_response(yes_prob=1 - p, no_prob=0)``.

    >>> from maskwell.designs import forced_response
    >>> mangat(truth_prob="2/3") == forced_response(yes_prob="1/3", no_prob=0)
    True
    """
    p = chance_of(truth_prob, "truth_prob")
    return binary(categories, (Fraction(1), 1 - p), "mangat", {"truth_prob": truth_prob})


@named(
    "mangat-singh-1990", examples=({"direct_prob": 0.3, "truth_prob": 0.7}, {"direct_prob": "1/4", "truth_prob": 0.2})
)
def mangat_singh(categories: Categories = YES_NO, *, direct_prob: Chance, truth_prob: Chance) -> MatrixDesign:
    r"""A first device asks for the truth with chance ``direct_prob``, and otherwise sends to Warner's.

    With :math:`T` and :math:`p`, :math:`P(yes \mid yes) = P(no \mid no) = T + (1-T)p`: equal to ``warner`` with that
    ``truth_prob``, in privacy and in precision. The variance is :math:`\pi(1-\pi)/n +
    (1-T)(1-p)[1-(1-T)(1-p)] / (n[2p-1+2T(1-p)]^2)`.

    >>> from maskwell.designs import warner
    >>> mangat_singh(direct_prob="1/4", truth_prob="2/3") == warner(truth_prob="3/4")
    True
    """
    t, p = chance_of(direct_prob, "direct_prob"), chance_of(truth_prob, "truth_prob")
    kept = t + (1 - t) * p
    return binary(categories, (kept, 1 - kept), "mangat_singh", {"direct_prob": direct_prob, "truth_prob": truth_prob})


@named("devore-1977", examples=({"sensitive_prob": 0.7},))
def devore(categories: Categories = YES_NO, *, sensitive_prob: Chance) -> MatrixDesign:
    """An unrelated question to which everybody's answer is yes, so that its share need not be known.

    Equal to ``unrelated_question`` with ``innocuous_yes=1``. A no tells that the answer is no.

    >>> from maskwell.designs import unrelated_question
    >>> devore(sensitive_prob="7/10") == unrelated_question(sensitive_prob="7/10", innocuous_yes=1)
    True
    """
    s = chance_of(sensitive_prob, "sensitive_prob")
    return binary(categories, (Fraction(1), 1 - s), "devore", {"sensitive_prob": sensitive_prob})


@named("yu-2008", examples=({"innocuous_prob": 0.25}, {"innocuous_prob": "2/3"}))
def triangular(categories: Categories = YES_NO, *, innocuous_prob: Chance) -> MatrixDesign:
    r"""Tick the triangle if the answer to the sensitive or to an innocuous question is yes, else the circle.

    With :math:`u` the chance of an innocuous yes, :math:`P(triangle \mid yes) = 1` and
    :math:`P(triangle \mid no) = u`: the variance is :math:`\pi(1-\pi)/n + (1-\pi)u/(n(1-u))`. A circle tells that the
    answer is no. The channel is that of ``forced_response(yes_prob=u, no_prob=0)``, with other reports.

    >>> triangular(innocuous_prob="1/4").report_labels()
    ['triangle', 'circle']
    """
    u = chance_of(innocuous_prob, "innocuous_prob")
    parameters = {"innocuous_prob": innocuous_prob}
    return binary(categories, (Fraction(1), u), "triangular", parameters, ("triangle", "circle"))


@named("singh-joarder-1997", examples=({"truth_prob": 0.7}, {"truth_prob": "3/5"}))
def singh_joarder(categories: Categories = YES_NO, *, truth_prob: Chance) -> MatrixDesign:
    r"""Warner's design, in which who would say yes spins again where the first statement was not the true one.

    With :math:`p` the chance of the statement, :math:`P(yes \mid yes) = p + (1-p)p` and :math:`P(yes \mid no) = 1 - p`.
    Nobody sees how often a respondent spun.

    >>> print(*singh_joarder(truth_prob="3/5").matrix(exact=True)[0])
    21/25 2/5
    """
    p = chance_of(truth_prob, "truth_prob")
    return binary(categories, (p + (1 - p) * p, 1 - p), "singh_joarder", {"truth_prob": truth_prob})


@named("christofides-2003", examples=({"card_probs": [0.2, 0.3, 0.5]}, {"card_probs": ["1/2", "1/4", "1/8", "1/8"]}))
def christofides(categories: Categories = YES_NO, *, card_probs: Sequence[Chance]) -> MatrixDesign:
    r"""Draw a card with a number from 1 to L; who would say no reports it, who would say yes reports L + 1 minus it.

    :math:`P(d \mid no) = p_d` and :math:`P(d \mid yes) = p_{L+1-d}`. The estimate of the paper is the mean report,
    rescaled, with the variance :math:`\pi(1-\pi)/n + V/(n(L+1-2\mu)^2)`, where :math:`\mu` and :math:`V` are mean and
    variance of the number on a card; ``linear`` weighs each number for itself and is at least as precise where the two
    answers are equally common. With two cards it is ``warner``.

    >>> print(*christofides(card_probs=["1/2", "1/3", "1/6"]).matrix(exact=True)[0])
    1/6 1/2
    """
    labels = as_labels(categories)
    if len(labels) != 2:
        raise DesignError(f"christofides asks a yes/no question and needs 2 categories; got {len(labels)}.")
    if not isinstance(card_probs, (list, tuple)) or len(card_probs) < 2:
        raise DesignError(
            "card_probs must list the share of the cards with each number, 1 to L, of at least 2 numbers; for example "
            "['1/2', '1/4', '1/4'].",
            parameter="card_probs",
        )
    refuse_many_weights(len(card_probs), 2)
    chances = [chance_of(value, "card_probs") for value in card_probs]
    refuse_long_denominator(chances, "card_probs")
    if abs(sum(chances, Fraction(0)) - 1) > Fraction(1, 10**9):
        raise DesignError(f"card_probs must sum to 1; they sum to {float(sum(chances)):.12g}.", parameter="card_probs")
    chances = [chance / sum(chances, Fraction(0)) for chance in chances]
    if chances == chances[::-1]:
        raise DesignError(
            "card_probs is the same from both ends, so yes and no give the same reports and nothing can be estimated; "
            "change a share."
        )
    matrix = [list(pair) for pair in zip(reversed(chances), chances, strict=True)]
    numbers = range(1, len(chances) + 1)
    return build(labels, matrix, numbers, name="christofides", parameters={"card_probs": list(card_probs)})


@named(
    "eriksson-1973", examples=({"k": 5, "truth_prob": 0.5}, {"k": 3, "truth_prob": "2/3", "forced": ["1/6", 0, "1/6"]})
)
def eriksson(
    categories: Categories, *, truth_prob: Chance, forced: Mapping[Any, Chance] | Sequence[Chance] | None = None
) -> MatrixDesign:
    """Draw a card that asks for the truth, with chance ``truth_prob``, or else tells which category to report.

    ``forced`` has the share of the cards with each category; equally many of each if it is not given. Equal to
    ``forced_response`` with the same ``forced``; with equal shares to k-ary randomized response (``gamma_diagonal``).

    >>> from maskwell.designs import forced_response
    >>> eriksson(4, truth_prob="2/3") == forced_response(4, forced=["1/12"] * 4)
    True
    """
    labels, truth = as_labels(categories), chance_of(truth_prob, "truth_prob")
    parameters: dict[str, Any] = {"truth_prob": truth_prob}
    if forced is None:
        chances = [(1 - truth) / len(labels)] * len(labels)
    else:
        chances = forced_chances(labels, forced)
        parameters["forced"] = chances
        if abs(truth + sum(chances) - 1) > Fraction(1, 10**9):
            raise DesignError(
                f"truth_prob and the chances of forced must sum to 1; they sum to {float(truth + sum(chances)):.12g}."
            )
    return forced_categories(labels, chances, "eriksson", parameters)
