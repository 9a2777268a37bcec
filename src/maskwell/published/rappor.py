"""What RAPPOR adds to the variance for five categories at ε = 1, under three estimators, beside the minimax design.

No paper prints these values; the tests repeat them by enumerating every report. That RAPPOR is improved by dropping its
empty and its full report applies the source's Section 4.
"""

from collections.abc import Callable

from maskwell import designs
from maskwell.published.model import Row
from maskwell.published.quantities import total_variance

_K = 5
_UNIFORM = (1 / _K,) * _K


def _moments() -> float:
    masked = total_variance(designs.rappor(_K, epsilon=1), _UNIFORM, "moments")
    return masked - total_variance(designs.direct(_K), _UNIFORM)


def _reference(what: str, compute: Callable[[], float]) -> Row:
    return Row(
        key="chai-nayak-2018",
        where="RAPPOR, k=5, ε=1: added variance",
        what=what,
        printed="",
        compute=compute,
        kind="unprinted",
    )


ROWS = (
    _reference("RAPPOR, moments", _moments),
    _reference("RAPPOR, linear", lambda: designs.rappor(_K, epsilon=1).added_variance),
    _reference("trimmed RAPPOR, linear", lambda: designs.trimmed_rappor(_K, epsilon=1).added_variance),
    _reference("minimax", lambda: designs.minimax(_K, epsilon=1).added_variance),
)
