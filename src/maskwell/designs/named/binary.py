"""Survey designs for a yes/no question: each is two chances, of the first report given yes and given no.

Chances are numbers or fractions as text, such as "1/6".
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import comb, lcm
from typing import Any

from maskwell.designs.base import Design
from maskwell.designs.channels.table import refuse_many_weights
from maskwell.designs.kinds.matrix import MatrixDesign
from maskwell.designs.named.matrices import build
from maskwell.designs.registry import named
from maskwell.designs.rounding import refuse_long_denominator
from maskwell.errors import DesignError
from maskwell.exact import fraction, given_fraction
from maskwell.limits import MOST_BITS
from maskwell.tables.labels import as_labels, shown, text_of

Chance = float | Fraction | str
YES_NO = ("yes", "no")

# The chance of a count of cards is a product over the draws, each as long as the chance of a card.
_MOST_BITS_OF_DRAWS = 4 * MOST_BITS
# So close to the chance of a count are the integers out of 2^64 that stand for it.
_CLOSE = 2.0**-40


def chance_of(value: Any, name: str) -> Fraction:
    """A probability as a number or as text, exactly."""
    chance = given_fraction(value, name, DesignError)
    if not 0 <= chance <= 1:
        raise DesignError(f"{name} must be a probability from 0 to 1; got {value}.")
    return chance


def binary(
    categories: Iterable[Any] | int,
    chances: tuple[Fraction, Fraction],
    name: str,
    parameters: dict[str, Any],
    reports: Sequence[Any] | None = None,
) -> MatrixDesign:
    """A design for a yes/no question from the chances of its first report, given yes and given no."""
    labels = as_labels(categories)
    if len(labels) != 2:
        raise DesignError(
            f"{name} asks a yes/no question and needs 2 categories; got {len(labels)}. Use minimax or "
            "gamma_diagonal for more."
        )
    if chances[0] == chances[1]:
        raise DesignError(
            f"{name} with {_shown(parameters)} gives the same reports for yes and no, so nothing can be "
            "estimated; change a probability."
        )
    matrix = [list(chances), [1 - chance for chance in chances]]
    return build(labels, matrix, reports or labels, name=name, parameters=parameters)


def _shown(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in parameters.items())


@named("warner-1965", examples=({"truth_prob": 0.8}, {"truth_prob": Fraction(3, 4)}, {"truth_prob": 0.3}))
def warner(categories: Iterable[Any] | int = YES_NO, *, truth_prob: Chance) -> MatrixDesign:
    """A spinner picks the statement or its negation, and the respondent says whether it is true.

    >>> warner(truth_prob=Fraction(4, 5)).exact_parity()
    Fraction(4, 1)
    """
    p = chance_of(truth_prob, "truth_prob")
    return binary(categories, (p, 1 - p), "warner", {"truth_prob": truth_prob})


@named(
    "boruch-1971",
    "eriksson-1973",
    examples=(
        {"yes_prob": 0.1, "no_prob": 0.2},
        {"yes_prob": 0.25, "no_prob": 0},
        {"k": 4, "forced": ["1/12", "1/12", "1/6", 0]},
    ),
)
def forced_response(
    categories: Iterable[Any] | int = YES_NO,
    *,
    yes_prob: Chance | None = None,
    no_prob: Chance | None = None,
    forced: Mapping[Any, Chance] | Sequence[Chance] | None = None,
) -> MatrixDesign:
    r"""A die forces a yes or a no with these chances; otherwise the respondent tells the truth.

    With more categories ``forced`` has the chance of being made to report each, by label or in their order, whatever
    the truth is: :math:`P(i \mid j) = f_i + (1 - \sum f)\,[i = j]`.

    >>> die = forced_response(["never", "once", "often"], forced={"never": "1/6", "often": "1/6"})
    >>> print(*die.matrix(exact=True)[0])
    5/6 1/6 1/6
    """
    if forced is not None:
        if yes_prob is not None or no_prob is not None:
            raise DesignError("forced_response takes forced= for all categories, or yes_prob= and no_prob=, not both.")
        labels = as_labels(categories)
        chances = forced_chances(labels, forced)
        return forced_categories(labels, chances, "forced_response", {"forced": chances})
    if (yes_prob is None or no_prob is None) and (several := _more_than_two(categories)):
        raise DesignError(
            f"forced_response of {len(several)} categories needs forced=, the chance of being made to report each: "
            f'forced={{"{text_of(several[0])}": "1/6", "{text_of(several[-1])}": "1/6"}}. The eriksson design is '
            "another one for several categories."
        )
    if yes_prob is None or no_prob is None:
        raise DesignError(
            "forced_response needs yes_prob= and no_prob=, the chances of a forced yes and a forced no, or forced= "
            "with the chance of each category."
        )
    yes, no = chance_of(yes_prob, "yes_prob"), chance_of(no_prob, "no_prob")
    if yes + no > 1:
        raise DesignError(
            f"yes_prob + no_prob must be below 1; got {yes_prob} + {no_prob}: no truthful answer is left."
        )
    return binary(categories, (1 - no, yes), "forced_response", {"yes_prob": yes_prob, "no_prob": no_prob})


def _more_than_two(categories: Any) -> tuple[Any, ...]:
    """The labels, if there are more than two."""
    labels = as_labels(categories)
    return labels if len(labels) > 2 else ()


def forced_chances(labels: tuple[Any, ...], forced: Any) -> list[Fraction]:
    """The chance of being made to report each category, from a mapping or a list."""
    if isinstance(forced, Mapping):
        unknown = [label for label in forced if label not in labels]
        if unknown:
            raise DesignError(f"forced names {unknown[0]!r}, which is not a category; categories: {shown(labels)}.")
        forced = [forced.get(label, 0) for label in labels]
    if not isinstance(forced, (list, tuple)) or len(forced) != len(labels):
        raise DesignError(
            f"forced must have a chance for each of {len(labels)} categories, in their order or by label.",
            parameter="forced",
        )
    chances = [chance_of(value, "forced") for value in forced]
    refuse_long_denominator(chances, "forced")
    if sum(chances) >= 1:
        raise DesignError(
            f"the chances of forced must sum to less than 1; they sum to {float(sum(chances)):.6g}: no truthful "
            "answer is left."
        )
    return chances


def forced_categories(
    labels: tuple[Any, ...], chances: list[Fraction], name: str, parameters: dict[str, Any]
) -> MatrixDesign:
    """The truth, or else a category that chance picks."""
    refuse_many_weights(len(labels), len(labels))
    truth = 1 - sum(chances)
    matrix = [[chance + (truth if i == j else 0) for j in range(len(labels))] for i, chance in enumerate(chances)]
    return build(labels, matrix, labels, name=name, parameters=parameters)


@named("greenberg-1969", examples=({"sensitive_prob": 0.7, "innocuous_yes": 0.25},))
def unrelated_question(
    categories: Iterable[Any] | int = YES_NO, *, sensitive_prob: Chance, innocuous_yes: Chance
) -> MatrixDesign:
    """The respondent answers the sensitive question, or else an innocuous one whose share of yes is known."""
    s, u = chance_of(sensitive_prob, "sensitive_prob"), chance_of(innocuous_yes, "innocuous_yes")
    parameters = {"sensitive_prob": sensitive_prob, "innocuous_yes": innocuous_yes}
    return binary(categories, (s + (1 - s) * u, (1 - s) * u), "unrelated_question", parameters)


@named("yu-2008", examples=({"innocuous_prob": 0.25}, {"innocuous_prob": 0.8}))
def crosswise(categories: Iterable[Any] | int = YES_NO, *, innocuous_prob: Chance) -> MatrixDesign:
    """The respondent says whether the answers to the sensitive and to an innocuous question are the same."""
    u = chance_of(innocuous_prob, "innocuous_prob")
    return binary(categories, (u, 1 - u), "crosswise", {"innocuous_prob": innocuous_prob}, ("same", "different"))


@named(
    "kuk-1990",
    examples=(
        {"red_if_yes": 0.7, "red_if_no": 0.2, "draws": 1},
        {"red_if_yes": 0.8, "red_if_no": 0.4, "draws": 4},
    ),
    recognise=lambda design, parameters: _counts_cards(design, **parameters),
)
def kuk(
    categories: Iterable[Any] | int = YES_NO, *, red_if_yes: Chance, red_if_no: Chance, draws: int = 1
) -> MatrixDesign:
    """The respondent draws cards from one of two packs, by the true answer, and reports how many are red."""
    labels = as_labels(categories)
    if len(labels) != 2:
        raise DesignError(f"kuk asks a yes/no question and needs 2 categories; got {len(labels)}.")
    if fraction(draws, "draws", DesignError).denominator != 1 or draws < 1:
        raise DesignError(f"draws must be a whole number of cards >= 1; got {draws}.", parameter="draws")
    chances = chance_of(red_if_yes, "red_if_yes"), chance_of(red_if_no, "red_if_no")
    if chances[0] == chances[1]:
        raise DesignError(
            f"kuk needs red_if_yes and red_if_no to differ; both are {red_if_yes}, so nothing can be estimated."
        )
    draws = int(draws)
    length = lcm(*(chance.denominator for chance in chances)).bit_length()
    if draws * length > _MOST_BITS_OF_DRAWS:
        raise DesignError(
            f"{draws:,} draws take {draws * length:,} bits to be told exactly with these chances (limit "
            f"{_MOST_BITS_OF_DRAWS:,}); "
            "draw fewer cards, or pass simple fractions such as Fraction(7, 10)."
        )
    ways = list(accumulate(range(draws), lambda ways, red: ways * (draws - red) // (red + 1), initial=1))
    matrix = [[ways[red] * p**red * (1 - p) ** (draws - red) for p in chances] for red in range(draws + 1)]
    parameters = {"red_if_yes": red_if_yes, "red_if_no": red_if_no, "draws": draws}
    return build(labels, matrix, range(draws + 1), name="kuk", parameters=parameters)


def _counts_cards(design: Design, red_if_yes: Any, red_if_no: Any, draws: Any = 1) -> bool:
    """Whether the integers are binomial chances: cheaper than to build the design anew, in which each is exact."""
    if not isinstance(design, MatrixDesign) or type(draws) is not int or len(design.reports) != draws + 1:
        return False
    if design.reports != tuple(range(draws + 1)):
        return False
    chances = [float(chance_of(red_if_yes, "red_if_yes")), float(chance_of(red_if_no, "red_if_no"))]
    return design.k == 2 and all(
        abs(weight / design.total - comb(draws, red) * p**red * (1 - p) ** (draws - red)) < _CLOSE
        for red, row in enumerate(design.weights)
        for weight, p in zip(row, chances, strict=True)
    )
