"""Which pair of layers to take for two demands, and what error is left however often one asks."""

import numpy as np

from maskwell.designs import LayeredDesign
from maskwell.designs.layered.base import require_layers
from maskwell.planning.variance_lines import respondents
from maskwell.rounds.pairs import Categories, Number, kary, unary
from maskwell.tables.labels import as_labels

_MOST_IN_TABLES = 1000  # k-ary response is better up to about 3 e^ε categories


def plan(categories: Categories, *, longitudinal: Number, per_round: Number, rounds: int = 1) -> LayeredDesign:
    """The pair with the least error of the mean over ``rounds`` rounds in which nobody's answer changes.

    It is k-ary response where categories are few for the ε, and bits where they are many.

    >>> [plan(k, longitudinal=2, per_round=1).kind for k in (3, 50)]
    ['layered tables', 'layered bits']
    """
    labels, count = as_labels(categories), respondents(rounds)
    asked = {"longitudinal": longitudinal, "per_round": per_round}
    pairs: list[LayeredDesign] = [unary(labels, **asked)]
    if len(labels) <= _MOST_IN_TABLES:
        pairs.append(kary(labels, **asked))
    return min(pairs, key=lambda pair: _mean_variance(pair, count))


def long_run_variance(design: LayeredDesign) -> float:
    """What masking still adds to n times the total variance of the mean over ever more rounds about one answer.

    >>> design = unary(10, longitudinal=2, per_round=1)
    >>> long_run_variance(design) < design.added_variance
    True
    """
    layered = require_layers(design)
    # For the worst truth; what both rounds share of one person's scores, less the answer itself.
    shares = np.eye(layered.k)
    kept = (np.trace(layered.shared_moment(np.diag(share))) for share in shares[: layered.channel.kinds_of_truth])
    return float(max(kept)) - 1


def _mean_variance(design: LayeredDesign, rounds: int) -> float:
    kept = long_run_variance(design)
    return kept + (design.added_variance - kept) / rounds
