"""Named conditional subset designs: chances of your choice for sets that hold the truth, or for questions to ask."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from maskwell.demands import LocalDiversity
from maskwell.designs.channels.table import refuse_many_weights
from maskwell.designs.kinds.conditional import ConditionalDesign, by_size_and_mask
from maskwell.designs.registry import named
from maskwell.designs.rounding import balanced_set_weights, largest_remainder, refuse_long_denominator, sums_by_category
from maskwell.errors import DesignError
from maskwell.exact import given_fraction
from maskwell.sampling.samplers import TOTAL
from maskwell.tables.labels import Label, as_labels, shown

Subset = frozenset[int]


def _positions(place: Mapping[Label, int], members: Any) -> Subset:
    listed = [members] if isinstance(members, (str, int)) else list(members)
    try:
        return frozenset(place[c] for c in listed)
    except (KeyError, TypeError):
        unknown = next(c for c in listed if not isinstance(c, (str, int)) or c not in place)
        raise DesignError(
            f"a subset names {unknown!r}, which is not a category; categories: {shown(tuple(place))}."
        ) from None


def _pairs(given: object, name: str, k: int) -> list[tuple[Any, Any]]:
    """Subsets with their chances, from a mapping or from a list of pairs, as JSON has them."""
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    if not isinstance(pairs, list) or not pairs or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise DesignError(f"{name} must map subsets to probabilities, as in {{('a', 'b'): 0.5, ...}}.")
    refuse_many_weights(len(pairs), k)
    return [(members, value) for members, value in pairs]


def _chances(labels: tuple[Label, ...], given: object, name: str, least: int, most: int) -> dict[Subset, Fraction]:
    """Chances by set of positions, zeros left out; sizes checked."""
    chances: dict[Subset, Fraction] = {}
    place = {label: position for position, label in enumerate(labels)}
    pairs = [(members, given_fraction(value, name, DesignError)) for members, value in _pairs(given, name, len(labels))]
    refuse_long_denominator((chance for _, chance in pairs), name)
    for members, chance in pairs:
        subset = _positions(place, members)
        if chance < 0:
            raise DesignError(f"{name} must be probabilities; one is {float(chance):.6g}.")
        if chance == 0:
            continue
        if not least <= len(subset) <= most:
            raise DesignError(
                f"{name}: a subset of {len(subset)} of {len(labels)} categories is not allowed, only {least} to "
                f"{most}; a single category would be the truth in the open."
            )
        chances[subset] = chances.get(subset, Fraction(0)) + chance
    return chances


def _build(
    labels: tuple[Label, ...], weights: Mapping[Subset, int], total: int, name: str, parameters: dict[str, Any]
) -> ConditionalDesign:
    ordered = sorted((tuple(sorted(subset)) for subset, weight in weights.items() if weight), key=by_size_and_mask)
    return ConditionalDesign(
        labels,
        tuple(ordered),
        tuple(weights[frozenset(subset)] for subset in ordered),
        total,
        name=name,
        parameters=parameters,
        demand=LocalDiversity(2),
    )


def _kept(given: object, name: str, labels: tuple[Label, ...]) -> dict[str, Any]:
    """Parameters for storage: pairs of labels and chance."""
    place = {label: position for position, label in enumerate(labels)}
    pairs = _pairs(given, name, len(labels))
    return {name: [[[labels[j] for j in sorted(_positions(place, m))], p] for m, p in pairs]}


@named(
    "wang-ding-2021",
    examples=(
        {"k": 3, "subset_probs": {(0, 1): "1/2", (1, 2): "1/2", (0, 2): "1/2"}},
        {"k": 4, "subset_probs": {(0, 1): 0.25, (2, 3): 0.25, (0, 2): 0.35, (1, 3): 0.35, (0, 3): 0.4, (1, 2): 0.4}},
    ),
)
def conditional(categories: Iterable[Any] | int, *, subset_probs: Mapping[Any, Any]) -> ConditionalDesign:
    """Report a set that holds the truth, by the chance given to each set (subset privacy).

    For every category, the chances of the sets that hold it must sum to 1. A list of pairs does instead of a mapping.

    >>> conditional(3, subset_probs={(0, 1): "1/2", (1, 2): "1/2", (0, 2): "1/2"}).added_variance
    2.0
    """
    labels = as_labels(categories)
    chances = _chances(labels, subset_probs, "subset_probs", 2, len(labels))
    sums, one = sums_by_category(chances, len(labels))
    for label, total in zip(labels, sums, strict=True):
        if abs(total - one) * 10**9 > one:
            raise DesignError(
                f"subset_probs of the subsets that hold {label!r} must sum to 1; they sum to "
                f"{float(Fraction(total, one)):.12g}. independent(question_probs=) has no such condition."
            )
    weights, out_of = balanced_set_weights(chances, len(labels))
    return _build(labels, weights, out_of, "conditional", _kept(subset_probs, "subset_probs", labels))


@named(
    "wang-ding-2021",
    examples=(
        {"k": 4, "question_probs": {(0, 1): 0.3, (0, 2): 0.3, (0, 3): 0.4}},
        {"k": 5, "question_probs": {(0, 1): 1, (1, 2): 2, (2, 3): 3, (3, 4): 2, (0, 4): 1, (0, 2): 1}},
    ),
)
def independent(categories: Iterable[Any] | int, *, question_probs: Mapping[Any, Any]) -> ConditionalDesign:
    """Ask a random question "is your answer one of …?" and report the named set or its complement, by the answer.

    ``question_probs`` gives each set's chance of being asked (any positive weights; they are made to sum to 1).
    """
    labels = as_labels(categories)
    k = len(labels)
    if k < 4:
        raise DesignError(
            f"independent needs k >= 4 categories, so that neither answer names a single one; got k={k}. "
            "Combine two variables into one, or use local_diversity."
        )
    chances = _chances(labels, question_probs, "question_probs", 2, k - 2)
    if not chances:
        raise DesignError(
            "question_probs must give at least one set a positive probability.", parameter="question_probs"
        )
    total = sum(chances.values(), Fraction(0))
    asked = dict(zip(chances, largest_remainder([p / total for p in chances.values()]), strict=True))
    if not all(asked.values()):
        raise DesignError("question_probs: a set is too rare to be given in integers out of 2^64; leave it out.")
    everything = frozenset(range(k))
    weights: dict[Subset, int] = {}
    for subset, weight in asked.items():
        for side in (subset, everything - subset):
            weights[side] = weights.get(side, 0) + weight
    return _build(labels, weights, TOTAL, "independent", _kept(question_probs, "question_probs", labels))
