"""``Sample``: how the people were drawn, so that estimates know how they would vary from sample to sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import DataError
from maskwell.inference.sample import replicates as replication
from maskwell.inference.sample.calibration import Margin, margins_of, raked, residuals
from maskwell.inference.sample.replicates import Method, Replicates
from maskwell.inference.sample.stages import LONELY, Lonely, Spread, Stage, spread
from maskwell.results.numbers import counted
from maskwell.results.result import Result
from maskwell.tables.codes import encode
from maskwell.tables.columns import as_arrow, is_column
from maskwell.tables.decimals import blank, first_without_a_number, with_decimal_points
from maskwell.tables.frames import native_columns


class Sample(Result):
    """A sample of records: its weights, and how they were drawn.

    Every argument is a column: an array, or a name if ``data`` is given. ``strata`` and ``clusters`` may be lists of
    columns, one for each stage of sampling, outermost first; clusters count within their stratum. ``fpc`` holds for
    each record the number of clusters (or of people, if there are none) in the population of its stratum, by stage;
    without it, sampling is taken as with replacement, which is safe. Weights default to what ``fpc`` says, else to 1.

    A stratum with a single cluster shows no variation. ``lonely`` says what to do: ``"refuse"``, ``"adjust"`` (compare
    it with all clusters), ``"average"`` (give it the average variance of the others), or ``"certainty"`` (it was bound
    to be drawn: only later stages and masks vary).

    ``replicate_weights`` (columns of whole weights) with ``replicate_method`` ("jk1", "jkn", "brr", "fay" with its
    ``fay``, "bootstrap") take the place of strata and clusters; ``with_replicates`` makes them from these.

    >>> import maskwell as mw
    >>> sample = mw.Sample(weights=[2, 2, 3, 3], strata=["a", "a", "b", "b"])
    >>> sample
    <sample of 4 records, 4 clusters in 2 strata, 2 degrees of freedom>
    """

    def __init__(
        self,
        data: Any = None,
        *,
        weights: Any = None,
        strata: Any = None,
        clusters: Any = None,
        fpc: Any = None,
        replicate_weights: Any = None,
        replicate_method: Method | None = None,
        replicate_scales: Any = None,
        fay: float | None = None,
        lonely: Lonely = "refuse",
    ) -> None:
        if lonely not in LONELY:
            raise DataError(f"lonely must be one of {', '.join(LONELY)}; got {lonely!r}.", parameter="lonely")
        read = _Columns(data)
        self._read = read
        self._lonely: Lonely = lonely
        coded, within = read.coded(strata, "strata"), read.several(clusters, "clusters")
        layers = [codes for codes, _ in coded]
        sizes = [read.numbers(column, "fpc") for column in read.listed(fpc)]
        given = None if weights is None else read.numbers(weights, "weights")
        matrix = None if replicate_weights is None else read.matrix(replicate_weights)
        n = read.length
        if not n:
            raise DataError("a sample needs weights, strata, clusters or replicate weights: one value per record.")
        self._stages = _stages(layers, within, sizes, n, coded[0][1] if coded else ())
        self._labels_in_several_strata = _in_several(layers[0], within[0]) if layers and within else 0
        self.weights = _checked(given, n) if given is not None else _inverse_fractions(self._stages, n)
        self._base_weights = self.weights
        self._margins: list[Margin] = []
        self.replicates: Replicates | None = None
        if matrix is not None:
            if layers or within or sizes:
                raise DataError("replicate_weights take the place of strata, clusters and fpc; give one or the other.")
            if given is None:
                raise DataError("replicate_weights need weights=, those of the whole sample.", parameter="weights")
            self.replicates = replication.given(matrix, replicate_method, fay, replicate_scales)
        elif replicate_method is not None:
            raise DataError(
                "replicate_method goes with replicate_weights; with_replicates(method) makes them from strata and "
                "clusters.",
                parameter="replicate_method",
            )

    def __len__(self) -> int:
        return len(self.weights)

    @cached_property
    def degrees_of_freedom(self) -> int:
        """Clusters less strata of the first stage; for replicates the rank of their weights less one."""
        if self.replicates is not None:
            return self.replicates.degrees_of_freedom
        first = self._stages[0]
        return first.cluster_count - len(first.fractions)

    def with_replicates(
        self, method: Method, *, fay: float | None = None, replicates: int = 500, seed: int | None = None
    ) -> Self:
        """The same sample with replicate weights made from its first stage.

        ``jk1`` and ``jkn`` leave out each cluster in turn, ``brr`` and ``fay`` need two clusters in every stratum,
        ``bootstrap`` draws ``replicates`` times. All take the clusters as drawn with replacement. Strata with a single
        cluster follow the sample's rule ``lonely``; "adjust" needs ``jkn``. No replicate shows what masks add to a
        single cluster that was bound to be drawn ("certainty", or an ``fpc`` of 1): masked answers then need
        linearisation.
        """
        if self.replicates is not None:
            raise DataError("this sample has replicate weights already.")
        if method not in replication.METHODS:
            raise DataError(f"method must be one of {', '.join(replication.METHODS)}; got {method!r}.", "method")
        made = self._copied()
        built = replication.made(self._stages[0], self._base_weights, method, fay, replicates, seed, self._lonely)
        made.replicates = built if not self._margins else replace(built, weights=_each_raked(built, self._margins))
        return made

    def calibrate(self, margins: Any, **columns: Any) -> Self:
        """The same sample with weights that add up to known totals: one margin post-stratifies, several rake.

        ``margins`` gives the total of each category by variable: ``{"sex": {"f": 5200, "m": 4800}}``. The variables are
        columns of the sample's ``data``, or given here by name.
        """
        if not isinstance(margins, Mapping) or not margins:
            raise DataError('margins must be known totals by variable: {"sex": {"f": 5200, "m": 4800}}.', "margins")
        found = {name: self._read.arrow(columns.get(name, name), name) for name in margins}
        made = self._copied()
        made._margins = [*self._margins, *margins_of(margins, found)]
        made.weights = raked(self.weights, made._margins)
        if self.replicates is not None:
            made.replicates = replace(self.replicates, weights=_each_raked(self.replicates, made._margins))
        return made

    @property
    def is_census(self) -> bool:
        """Whether everybody of the population is in the sample, by its finite population correction."""
        return self.replicates is None and all((stage.fractions == 1).all() for stage in self._stages)

    @property
    def has_population_correction(self) -> bool:
        """Whether variances shrink because a share of the population was drawn."""
        return self.replicates is None and bool(self._stages[0].fractions.any())

    @property
    def calibrated(self) -> bool:
        """Whether the weights meet known totals."""
        return bool(self._margins)

    @property
    def variance_kind(self) -> str:
        """How variances are found."""
        return "linearised over the sample" if self.replicates is None else f"replicates ({self.replicates.method})"

    def spread(self, values: Matrix) -> Spread:
        """How the weighted total of some values varies over samples, by linearisation."""
        if self._margins:
            values = residuals(values, self._base_weights, self._margins)
        return spread(self._stages, values * self.weights[:, None], self._lonely)

    def effective_n(self, used: NDArray[np.bool_] | None = None) -> float:
        """Kish's (sum of weights)^2 / (sum of squared weights)."""
        weights = self.weights if used is None else self.weights[used]
        return float(weights.sum() ** 2 / (weights**2).sum())

    def require_length(self, n: int, what: str) -> None:
        """An error unless the sample has so many records."""
        if len(self) != n:
            raise DataError(
                f"sample must have one record per {what}, in the same order: {n:,} are needed, it has {len(self):,}.",
                parameter="sample",
            )

    def _copied(self) -> Self:
        made = object.__new__(type(self))
        made.__dict__.update({name: value for name, value in vars(self).items() if name != "degrees_of_freedom"})
        return made

    @property
    def records_per_cluster(self) -> tuple[int, int]:
        """The least and the most records in a cluster of the first stage."""
        found = np.bincount(self._stages[0].clusters)
        return int(found.min()), int(found.max())

    @property
    def described(self) -> str:
        r"""Records, clusters, strata and degrees of freedom, and what shows whether columns were taken as meant.

        >>> import maskwell as mw
        >>> print(mw.Sample(strata=["a", "a", "b", "b", "b"], clusters=[1, 2, 1, 1, 2]).described.replace("; ", "\n"))
        5 records, 4 clusters in 2 strata, 2 degrees of freedom
        1 to 2 records in a cluster
        2 cluster labels stand in several strata, for another cluster in each
        """
        text = repr(self)[1:-1].removeprefix("sample of ")
        if self.replicates is not None:
            return text
        least, most = self.records_per_cluster
        if most > 1:
            text += (
                f"; {least:,} to {most:,} records in a cluster"
                if least < most
                else f"; {most:,} records in each cluster"
            )
        if self._labels_in_several_strata:
            labels = counted(self._labels_in_several_strata, "cluster label stands", "cluster labels stand")
            text += f"; {labels} in several strata, for another cluster in each"
        return text

    def summary(self) -> str:
        """The sample in plain text."""
        lines = [f"sample of {self.described}"]
        lines.append(f"weights   {self.weights.sum():,.0f} in all, as precise as {self.effective_n():,.0f} equal ones")
        if self.replicates is not None:
            lines.append(f"variance  from {self.replicates.weights.shape[1]} replicates ({self.replicates.method})")
        else:
            corrected = ", with a finite population correction" if self.has_population_correction else ""
            lines.append(f"variance  by linearisation over {len(self._stages)} stage(s){corrected}")
        if self._margins:
            lines.append(f"calibrated to {', '.join(margin.name for margin in self._margins)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """What the sample is, as plain values."""
        first = self._stages[0]
        return {
            "n": len(self),
            "clusters": first.cluster_count,
            "records_per_cluster": self.records_per_cluster,
            "strata": len(first.fractions),
            "degrees_of_freedom": self.degrees_of_freedom,
            "sum_of_weights": float(self.weights.sum()),
            "effective_n": self.effective_n(),
            "replicates": None if self.replicates is None else self.replicates.weights.shape[1],
            "replicate_method": None if self.replicates is None else self.replicates.method,
            "calibrated_to": [margin.name for margin in self._margins],
        }

    def __repr__(self) -> str:
        first = self._stages[0]
        if self.replicates is not None:
            how = f"{self.replicates.weights.shape[1]} {self.replicates.method} replicates"
        else:
            how = f"{first.cluster_count} clusters in {counted(len(first.fractions), 'stratum', 'strata')}"
        return f"<sample of {len(self)} records, {how}, {self.degrees_of_freedom} degrees of freedom>"


class _Columns:
    """Columns that are given as arrays or by name, all of one length."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.length: int | None = None

    def listed(self, value: Any) -> list[Any]:
        """One column or several, as a list."""
        if value is None:
            return []
        nested = isinstance(value, (list, tuple)) and value and all(is_column(v) or isinstance(v, str) for v in value)
        if nested and not (self.data is None and all(isinstance(v, str) for v in value)):
            return list(value)
        return [value]

    def arrow(self, value: Any, what: str) -> Any:
        """A column as Arrow holds it."""
        if isinstance(value, str):
            if self.data is None:
                raise DataError(f"{what} names the column {value!r}, but there is no data; pass data=frame.", what)
            value = native_columns(self.data, [value], "data")[value]
        array = as_arrow(value) if is_column(value) else None
        if array is None:
            raise DataError(f"{what} must be a column: one value per record.", parameter=what)
        if self.length is not None and len(array) != self.length:
            raise DataError(f"{what} has {len(array):,} values, others have {self.length:,}.", parameter=what)
        self.length = len(array)
        if array.null_count:
            raise _missing_in(array.is_null(), what)
        return array

    def coded(self, value: Any, what: str) -> list[tuple[NDArray[np.int64], Sequence[Any]]]:
        """Codes of one column or of several, each with its labels."""
        found = [encode(self.arrow(column, what), what) for column in self.listed(value)]
        return [(one.codes.astype(np.int64), one.labels) for one in found]

    def several(self, value: Any, what: str) -> list[NDArray[np.int64]]:
        """Codes of one column or of several."""
        return [codes for codes, _ in self.coded(value, what)]

    def numbers(self, value: Any, what: str) -> Vector:
        """A column of finite numbers."""
        import pyarrow as pa

        array = self.arrow(value, what)
        try:
            found = with_decimal_points(array).cast(pa.float64())
        except pa.ArrowException:
            empty = blank(array)
            if empty is not None:
                raise _missing_in(empty, what) from None
            row = first_without_a_number(array)
            raise DataError(
                f"{what} must be numbers"
                + ("." if row is None else f"; data row {row + 1:,} holds none: write 1234.5."),
                parameter=what,
            ) from None
        numbers = np.asarray(found.to_numpy(zero_copy_only=False), float)
        if np.isnan(numbers).any():
            raise _missing_in(found.is_null(nan_is_null=True), what)
        if not np.isfinite(numbers).all():
            row = int(np.argmin(np.isfinite(numbers)))
            raise DataError(f"{what} must be finite; data row {row + 1:,} is not.", parameter=what)
        return numbers

    def matrix(self, value: Any) -> Matrix:
        """Columns of replicate weights: names, or a table of numbers."""
        if isinstance(value, np.ndarray):
            if value.ndim != 2 or not np.isfinite(value).all():
                raise DataError("replicate_weights must be a table of finite numbers.", "replicate_weights")
            self.length = self.length or len(value)
            if len(value) != self.length:
                raise DataError(f"replicate_weights has {len(value):,} rows, others {self.length:,}.")
            return value.astype(float)
        if not isinstance(value, Sequence) and not is_column(value) and hasattr(value, "to_numpy"):
            return self.matrix(np.asarray(value.to_numpy(), float))
        if hasattr(value, "columns") and hasattr(value, "to_numpy"):
            return self.matrix(np.asarray(value.to_numpy(), float))
        return np.column_stack([self.numbers(column, "replicate_weights") for column in self.listed(value)])


def _missing_in(absent: Any, what: str) -> DataError:
    """The error about records without a value."""
    import pyarrow.compute as pc

    count, row = pc.sum(absent).as_py(), pc.index(absent, True).as_py()
    verb = "are" if what.endswith("s") or what == "strata" else "is"
    remedy = "; give whoever is to count for nobody the weight 0" if what == "weights" else ""
    return DataError(
        f"{what} {verb} missing in {count:,} of {len(absent):,} rows, first in data row {row + 1:,}{remedy}.", what
    )


def _checked(weights: Vector, n: int) -> Vector:
    if len(weights) != n or (weights < 0).any() or not weights.any():
        bad = int((weights < 0).sum())
        why = f"{bad} are negative" if bad else "all are zero"
        raise DataError(f"weights must be numbers >= 0, one per record, not all zero; {why}.", parameter="weights")
    return weights


def _stages(
    strata: list[NDArray[np.int64]],
    clusters: list[NDArray[np.int64]],
    sizes: list[Vector],
    n: int,
    names: Sequence[Any],
) -> list[Stage]:
    """The stages of sampling; each stratum and cluster counts within the cluster of the stage before.

    ``names`` are the labels of the first stage's strata.
    """
    stages: list[Stage] = []
    within = np.zeros(n, np.int64)
    for number in range(max(len(strata), len(clusters), len(sizes), 1)):
        layer = strata[number] if number < len(strata) else np.zeros(n, np.int64)
        stratum = _paired(within, layer)
        if number < len(clusters):
            cluster = _paired(stratum, clusters[number])
        elif number <= len(clusters):
            cluster = np.arange(n)  # people are drawn
        else:
            raise DataError("there are more stages in strata or fpc than in clusters; people are the last stage.")
        stages.append(Stage(stratum, cluster, _fractions(stratum, cluster, sizes, number), () if number else names))
        within = cluster
    return stages


def _in_several(strata: NDArray[np.int64], clusters: NDArray[np.int64]) -> int:
    """How many labels of clusters stand in more than one stratum."""
    pairs = np.unique(np.column_stack([clusters, strata]), axis=0)
    return int((np.bincount(pairs[:, 0]) > 1).sum())


def _paired(outer: NDArray[np.int64], inner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers for the pairs that occur."""
    found: NDArray[np.int64] = np.unique(outer * (int(inner.max()) + 1) + inner, return_inverse=True)[1].ravel()
    return found


def _fractions(stratum: NDArray[np.int64], cluster: NDArray[np.int64], sizes: list[Vector], number: int) -> Vector:
    strata = int(stratum.max()) + 1
    if number >= len(sizes):
        return np.zeros(strata)
    of_cluster = np.empty(int(cluster.max()) + 1, np.int64)
    of_cluster[cluster] = stratum
    drawn = np.bincount(of_cluster, minlength=strata)
    population = np.empty(strata)
    population[stratum] = sizes[number]
    if (population[stratum] != sizes[number]).any():
        raise DataError("fpc must be the same for all records of a stratum: its population size.", parameter="fpc")
    if (population < drawn).any():
        worst = int(np.argmax(drawn - population))
        raise DataError(
            f"fpc must be population sizes, at least as many as were drawn; one stratum has {drawn[worst]:,} drawn of "
            f"{population[worst]:g}.",
            parameter="fpc",
        )
    return drawn / population


def _inverse_fractions(stages: list[Stage], n: int) -> Vector:
    weights = np.ones(n)
    for stage in stages:
        fraction = stage.fractions[stage.strata]
        weights /= np.where(fraction > 0, fraction, 1.0)
    return weights


def _each_raked(found: Replicates, margins: list[Margin]) -> Matrix:
    return np.column_stack([raked(column, margins) for column in found.weights.T])
