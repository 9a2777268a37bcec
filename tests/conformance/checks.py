"""What every design must satisfy, each check by enumeration of its matrix.

A check is a plain function of a design that raises AssertionError; the suite runs it on all members, and on mutants.
Scores of an estimator are always asked of the library, by estimating from one report at a time.
"""

import json
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import maskwell as mw

Floats = NDArray[np.float64]
METHODS = ("linear", "moments")
ROUND_OFF = np.finfo(float).eps


def check_matrix(design: mw.Design) -> None:
    """Columns sum to exactly 1; floats are the nearest to the fractions; rows are in the promised order."""
    exact = design.matrix(exact=True)
    labels = design.report_labels()
    assert exact.shape == (len(labels), design.k)
    assert all(isinstance(p, Fraction) and 0 <= p <= 1 for p in exact.flat)
    assert [sum(column) for column in exact.T] == [1] * design.k
    assert (design.matrix() == exact.astype(float)).all()
    assert len(set(labels)) == len(labels)
    if all(isinstance(label, frozenset) for label in labels):
        masks = [sum(1 << j for j, c in enumerate(design.categories) if c in label) for label in labels]
        order = [(len(label), mask) for label, mask in zip(labels, masks, strict=True)]
        assert order == sorted(order), "sets come by size, then by bit mask"
    elif isinstance(design, mw.designs.SubsetDesign):
        assert labels == list(design.categories), "reports of one category come in the order of the categories"


def row_parity(row: NDArray[np.object_]) -> Fraction | float:
    """Largest over least entry, with 0/0 = 1 and a/0 infinite."""
    if not any(row):
        return Fraction(1)
    return max(row) / min(row) if min(row) else math.inf


def check_privacy(design: mw.Design) -> None:
    """Parity, ε, column distance and diversity are those of the exact matrix, and the stated demand holds."""
    exact = design.matrix(exact=True)
    parity = max(row_parity(row) for row in exact)
    assert design.exact_parity() == parity
    assert design.parity == float(parity)
    check_epsilon(design.epsilon, parity)
    columns = list(exact.T)
    distance = max(sum(abs(a - b)) for i, a in enumerate(columns) for b in columns[i + 1 :])
    assert design.column_distance() == distance
    supports = [[p for p in row if p] for row in exact if any(row)]
    equal = all(len(set(support)) == 1 for support in supports)
    assert design.diversity() == (min(map(len, supports)) if equal else 0)
    assert design.demand is None or design.demand.holds_for(design)
    audit = mw.audit(design)
    assert (audit.exact_parity, audit.parity, audit.epsilon) == (parity, float(parity), design.epsilon)
    assert (audit.l1, audit.average_security) == (float(distance), float(1 + distance / 2))
    assert (audit.diversity, audit.added_variance) == (design.diversity(), design.added_variance)
    assert audit.demand_holds is (None if design.demand is None else True)


def check_epsilon(epsilon: float, parity: Fraction | float) -> None:
    """ε is at least ln(parity) and at most two floats above it, decided with 60 digits."""
    if parity == math.inf:
        assert epsilon == math.inf
        return
    with mpmath.workdps(60):
        logarithm = mpmath.log(mpmath.mpf(parity.numerator) / parity.denominator)
        assert mpmath.mpf(epsilon) >= logarithm
        two_below = math.nextafter(math.nextafter(epsilon, -math.inf), -math.inf)
        assert mpmath.mpf(two_below) < logarithm or epsilon == 0


def populations(k: int) -> list[Floats]:
    """Proportions to try: uniform, falling by powers of two, one category absent, everyone in the last one."""
    falling = 0.5 ** np.arange(1, k + 1)
    falling[-1] *= 2
    absent = np.append(0.0, np.full(k - 1, 1 / (k - 1)))
    return [np.full(k, 1 / k), falling, absent, np.eye(k)[-1]]


def scores(design: mw.Design, method: Any) -> Floats:
    """Row z holds the estimate from a single report z: the estimator is the mean of these."""
    possible = design.matrix().any(axis=1)
    units = np.eye(len(possible))
    rows = [
        mw.estimate(mw.Tally.from_counts(design, unit), method).proportions if can_occur else np.zeros(design.k)
        for unit, can_occur in zip(units, possible, strict=True)
    ]
    return np.array(rows)


def tolerance(L: Floats) -> float:
    """Round-off allowed in sums over reports of products of scores.

    The scores solve least squares whose condition number is at most the largest score times the norm of P, below
    sqrt(k); each entry is then off by some (rows + columns) units of round-off times that square.
    """
    return 8 * sum(L.shape) * math.sqrt(L.shape[1]) * ROUND_OFF * max(1.0, float(np.abs(L).max())) ** 2


def is_estimable(design: mw.Design) -> bool:
    return bool(np.linalg.matrix_rank(design.matrix()) == design.k)


def check_unbiased(design: mw.Design) -> None:
    """From exactly expected counts, either method returns the proportions that they were expected under."""
    for method in METHODS:
        allowed = tolerance(scores(design, method))
        for population in populations(design.k):
            expected = design.matrix() @ population
            found = mw.estimate(mw.Tally.from_counts(design, expected), method)
            assert np.abs(found.proportions - population).max() <= allowed


def check_not_estimable(design: mw.Design) -> None:
    """The error names every category that takes part in a change of the proportions that no report shows."""
    assert design.added_variance == math.inf
    _, values, vectors = np.linalg.svd(design.matrix())
    hidden = vectors[int((values > 1e-9).sum()) :]
    touched = [c for j, c in enumerate(design.categories) if np.abs(hidden[:, j]).max() > 1e-9]
    tally = mw.Tally.from_counts(design, np.ones(design.report_count(), int))
    for method in METHODS:
        with pytest.raises(mw.EstimationError) as caught:
            mw.estimate(tally, method)
        assert all(repr(category) in str(caught.value) for category in touched)
        assert "\n" not in str(caught.value)
    # What the reports do show can still be estimated: the chance of each report is itself such a sum.
    independent_rows = np.linalg.matrix_rank(design.matrix()) == design.report_count()
    for population in populations(design.k):
        chances = design.matrix() @ population
        expected = mw.Tally.from_counts(design, 1000 * chances)
        for row, chance in zip(design.matrix(), chances, strict=True):
            contrast = mw.estimate_contrast(expected, row)
            assert abs(contrast.value - chance) <= 256 * ROUND_OFF
            if independent_rows:
                # There is then one way to estimate it, the share of that report.
                assert abs(contrast.standard_error**2 - chance * (1 - chance) / 1000) <= 256 * ROUND_OFF


def check_covariance(design: mw.Design) -> None:
    """n Cov is the sum over reports of chance times score times score', less p p', for either method."""
    n = 1000.0
    for method in METHODS:
        L = scores(design, method)
        allowed = tolerance(L)
        for population in populations(design.k):
            chances = design.matrix() @ population
            enumerated = (L.T * chances) @ L - np.outer(population, population)
            found = mw.estimate(mw.Tally.from_counts(design, n * chances), method)
            covariance = found.covariance
            assert np.abs(n * covariance - enumerated).max() <= allowed
            # Compared as variances: the root of a variance near 0 magnifies round-off.
            assert np.abs(n * found.standard_errors**2 - np.diag(enumerated)).max() <= allowed
            if method == "linear" and not _counts_inclusions(design):
                assert np.abs(n * covariance.sum(axis=0)).max() <= allowed * design.k, "proportions sum to 1"


def _counts_inclusions(design: mw.Design) -> bool:
    """Independent bits, and a projective design with points to spare: proportions sum to 1 on average only."""
    if isinstance(design, mw.designs.ProjectiveDesign):
        return design.space.points > design.k
    return isinstance(design, mw.designs.BitsDesign | mw.designs.LayeredBits)


def check_added_variance(design: mw.Design) -> None:
    """``added_variance`` is the largest, over truths, of n trace(Cov), the sampling variance being 0 there."""
    L = scores(design, "linear")
    by_truth = design.matrix().T @ (L**2).sum(axis=1) - 1
    assert design.added_variance == pytest.approx(by_truth.max(), rel=1e-9, abs=tolerance(L))


def check_json(design: mw.Design) -> None:
    """Reading back gives the same design in every respect."""
    text = design.to_json()
    again = mw.Design.from_json(text)
    assert again == design
    assert type(again) is type(design)
    assert (again.fingerprint, again.categories, again.name) == (design.fingerprint, design.categories, design.name)
    assert again.demand == design.demand
    assert again.parameters == design.parameters
    assert again.to_json() == text
    assert (again.matrix(exact=True) == design.matrix(exact=True)).all()
    assert again.report_labels() == design.report_labels()
    assert mw.Design.from_json(text.encode()) == design


def check_refused(text: str) -> None:
    """A design that was changed is an error in one line."""
    with pytest.raises(mw.MaskwellError) as caught:
        mw.Design.from_json(text)
    assert isinstance(caught.value, (mw.DesignError, mw.DemandError))
    assert "\n" not in str(caught.value)


def changed_documents(design: mw.Design) -> dict[str, str]:
    """The design's JSON with one thing changed, by what was changed."""
    document = json.loads(design.to_json())
    changed: dict[str, Any] = {
        "version": {**document, "version": 2},
        "no version": {key: value for key, value in document.items() if key != "version"},
        "unknown kind": {**document, "kind": "blocks of wood"},
        "another kind": {**document, "kind": "matrix" if design.kind == "subsets" else "subsets"},
        "kind not text": {**document, "kind": ["subsets"]},
        "fingerprint": {**document, "fingerprint": "0" * 64},
        "another document": {**document, "maskwell": "reports"},
        "too strict a demand": {**document, "demand": {"kind": "local-diversity", "l": design.k + 1}},
        "unknown demand": {**document, "demand": {"kind": "trust me"}},
        "a label left out": {**document, "categories": document["categories"][1:]},
        "labels in another order": {**document, "categories": document["categories"][::-1]},
    }
    for key in ("categories", "weights", "demand", "parameters", "name"):
        changed[f"no {key}"] = {k: v for k, v in document.items() if k != key}
    for key in ("categories", "weights", "demand", "parameters"):
        changed[f"{key} not as expected"] = {**document, key: "text"}
    if math.isfinite(design.parity):
        changed["a smaller epsilon"] = {**document, "demand": {"kind": "ldp", "epsilon": design.epsilon * 0.999}}
    for j, label in enumerate(document["categories"]):
        other = f"{label}?" if isinstance(label, str) else label + 1000
        relabelled = [other if i == j else c for i, c in enumerate(document["categories"])]
        changed[f"label {j}"] = {**document, "categories": relabelled}
    if isinstance(design, mw.designs.ProductDesign):
        weights = document["weights"]
        changed["names in another order"] = {**document, "weights": {**weights, "names": weights["names"][::-1]}}
        changed["parts in another order"] = {**document, "weights": {**weights, "parts": weights["parts"][::-1]}}
        changed["a part left out"] = {**document, "weights": {**weights, "parts": weights["parts"][1:]}}
        changed["labels of its own"] = {**document, "categories": ["yes", "no"]}
    for path, value in _integers(document["weights"]):
        if "parameters" in path:
            continue  # of a part; they are told, and not part of what a fingerprint covers
        for step in (-1, 1):
            altered = json.loads(design.to_json())
            _assign(altered["weights"], path, type(value)(int(value) + step))
            changed[f"weights {path} {step:+d}"] = altered
    # A product's labels stand in its parts: the empty list at its top has no first label and no order.
    return {what: json.dumps(altered) for what, altered in changed.items() if altered != document}


def _integers(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Every whole number below a node of JSON, written as a number or as digits."""
    if isinstance(node, (dict, list)):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        return [found for key, child in items for found in _integers(child, (*path, key))]
    return [(path, node)] if isinstance(node, int) or (isinstance(node, str) and node.isdigit()) else []


def _assign(node: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
