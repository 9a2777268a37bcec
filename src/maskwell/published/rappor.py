"""What RAPPOR adds to the variance for five categories at ε = 1, under three estimators, beside the minimax design.

No paper prints these values: they are references, and the tests repeat them by enumerating every report. That RAPPOR
is improved by dropping its empty and its full report applies the source's Section 4.
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


def _reference(what: str, printed: str, compute: Callable[[], float]) -> Row:
    return Row(
        key="chai-nayak-2018",
        where="RAPPOR, k=5, ε=1: added variance",
        what=what,
        printed=printed,
        compute=compute,
        note="references computed by enumeration, not in print",
    )


ROWS = (
    _reference("RAPPOR, moments", "19.5885", _moments),
    _reference("RAPPOR, linear", "15.2205", lambda: designs.rappor(_K, epsilon=1).added_variance),
    _reference("trimmed RAPPOR, linear", "14.1099", lambda: designs.trimmed_rappor(_K, epsilon=1).added_variance),
    _reference("minimax", "11.4298", lambda: designs.minimax(_K, epsilon=1).added_variance),
)
