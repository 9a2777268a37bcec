"""A fitted regression: coefficients with their covariance, tests, predictions, effects, and what masking cost."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import DataError, EstimationError
from maskwell.inference.alternatives import p_value, quantile
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.inference.regression.covariance import CovarianceType
from maskwell.inference.regression.families.family import Family
from maskwell.inference.regression.frame.formulas import labels_in
from maskwell.inference.regression.frame.model_frame import ModelFrame
from maskwell.inference.regression.likelihood import linear_predictors
from maskwell.inference.regression.newton import Solution
from maskwell.inference.regression.summary import summary_lines
from maskwell.inference.sample.sample import Sample
from maskwell.plain_text import among, visible_lines
from maskwell.results.result import Result
from maskwell.tables.frames import native_columns

if TYPE_CHECKING:
    import pandas as pd

    from maskwell.inference.regression.effects import Effects


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Result):
    """A fitted model. ``open_covariance`` is what the covariance would be if nothing had been masked.

    With a sample it is that of a simple random sample of as many people, from as large a population.
    """

    formula: str
    method: str
    cov_type: CovarianceType
    names: tuple[str, ...]
    estimates: Vector
    covariance: Matrix
    open_covariance: Matrix
    family: Family
    frame: ModelFrame
    weights: Vector
    sample: Sample | None
    correction_withheld: bool
    """Whether the sample's population correction was left out, which makes variances too large rather than too small:
    reports tell too little of what masks add, are of too many kinds, or were drawn by the likelihood's arms."""
    degrees_of_freedom: float
    solution: Solution

    @property
    def n(self) -> int:
        """The number of records in the fit."""
        return self.frame.n

    @property
    def nobs(self) -> int:
        """The same, by the name that statsmodels has for it."""
        return self.n

    @property
    def dropped(self) -> int:
        """The number of records that lacked a value."""
        return int((~self.frame.kept).sum())

    @property
    def params(self) -> pd.Series[float]:
        """The coefficients by name."""
        return self._series(self.estimates)

    @property
    def standard_errors(self) -> pd.Series[float]:
        """Their standard errors."""
        return self._series(np.sqrt(np.diagonal(self.covariance)))

    @property
    def bse(self) -> pd.Series[float]:
        """The same, by the name that statsmodels has for it."""
        return self.standard_errors

    @property
    def tvalues(self) -> pd.Series[float]:
        """Coefficients over their standard errors."""
        return self.params / self.standard_errors

    @property
    def pvalues(self) -> pd.Series[float]:
        """Two-sided p-values of the coefficients: normal, or Student's with the degrees of freedom of the sample."""
        return self._series([p_value(float(t), self.degrees_of_freedom) for t in self.tvalues])

    def cov_params(self) -> pd.DataFrame:
        """The covariance by name."""
        import pandas as pd

        return pd.DataFrame(self.covariance, index=list(self.names), columns=list(self.names))

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Limits at level ``1 - alpha``, in the columns 0 and 1 as statsmodels has them."""
        import pandas as pd

        return pd.DataFrame(self.interval(1 - alpha), index=list(self.names))

    def interval(self, level: float = 0.95) -> Matrix:
        """Lower and upper Wald limits of the coefficients."""
        margin = quantile(level, self.degrees_of_freedom) * np.sqrt(np.diagonal(self.covariance))
        return np.column_stack([self.estimates - margin, self.estimates + margin])

    @property
    def scale(self) -> float:
        """The residual standard deviation of a normal model."""
        if not self.family.numeric:
            raise EstimationError(f"a {self.family.name} model has no scale.")
        return float(np.exp(self.solution.theta[len(self.names)]))

    # The likelihood.

    @property
    def llf(self) -> float:
        """The log-likelihood, up to a constant that depends on the reports alone."""
        self._require_likelihood("a log-likelihood")
        return self.solution.at.value

    @property
    def aic(self) -> float:
        """Akaike's criterion; compare models of the same reports."""
        return -2 * self.llf + 2 * len(self.solution.theta)

    @property
    def bic(self) -> float:
        """Schwarz's criterion, likewise."""
        return -2 * self.llf + math.log(self.n) * len(self.solution.theta)

    @property
    def gradient(self) -> Vector:
        """The gradient at the solution: the certificate of the fit, with ``information``."""
        return self.solution.at.gradient

    @property
    def information(self) -> Matrix:
        """The observed information of all parameters; for corrected scores their negative Jacobian."""
        return self.solution.at.information

    def _require_likelihood(self, what: str) -> None:
        if self.method != "likelihood":
            raise EstimationError(f"{what} needs method='likelihood'; corrected scores have none.")

    # What masking cost.

    @property
    def precision_kept(self) -> pd.Series[float]:
        """For each coefficient the part of its precision that masking left: open variance over variance.

        With a sample, what masking, weights and clusters left of the precision of a simple random sample.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            kept = np.diagonal(self.open_covariance) / np.diagonal(self.covariance)
        return self._series(np.where(kept > 0, kept, np.nan))

    @property
    def people_needed(self) -> pd.Series[float]:
        """How many masked people would be as telling as these were if they had answered openly.

        Not a number with a population correction, which more people would change too.
        """
        corrected = self.sample is not None and self.sample.has_population_correction and not self.correction_withheld
        return (math.nan if corrected else self.n) / self.precision_kept

    # Tests of terms.

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of the formula, without the intercept."""
        return tuple(term for term in self.frame.slices if term != "1")

    def wald_test(self, term: str) -> HypothesisTest:
        """Whether all coefficients of a term are 0, by their covariance."""
        from maskwell.inference.regression.comparisons import wald

        at = self._places(term)
        block = self.covariance[np.ix_(at, at)]
        return wald(f"Wald test of {term}", self.estimates[at], block, self.degrees_of_freedom)

    def lr_test(self, term: str) -> HypothesisTest:
        """Whether a term can be left out, by the likelihood ratio of the two fits."""
        from maskwell.inference.regression.comparisons import term_ratio

        return term_ratio(self, self._term(term))

    def arms_test(self, variable: str | None = None, *, effects: Literal["level", "all"] = "level") -> HypothesisTest:
        """Whether the arms of a masked variable agree: whether how people were asked changes what the model finds.

        ``"level"`` gives each arm an intercept of its own, ``"all"`` every coefficient, and tests these together: by
        the likelihood ratio where the covariance is that of observed information, otherwise by Wald's test with the
        covariance of the fit. ``variable`` is needed where several have arms.
        """
        from maskwell.inference.regression.comparisons import arms_test

        return arms_test(self, variable, effects)

    def term_tests(self) -> pd.DataFrame:
        """A Wald test of every term."""
        import pandas as pd

        tests = {term: self.wald_test(term) for term in self.terms}
        return pd.DataFrame(
            {
                "statistic": [test.statistic for test in tests.values()],
                "df": [test.df for test in tests.values()],
                "p_value": [test.p_value for test in tests.values()],
            },
            index=list(tests),
        )

    def _term(self, term: Any) -> str:
        if not isinstance(term, str) or term not in self.terms:
            raise DataError(f"the model has no term {term!r}; {among(str(term), self.terms)}.", parameter="term")
        return term

    def _places(self, term: str) -> list[int]:
        columns = set(self.frame.terms[self.frame.slices[self._term(term)]])
        names = self.family.parameter_names(self.frame.terms, self.frame.outcome.categories)
        owners = self.family.parameter_names(list(self.frame.terms), [""] * len(self.frame.outcome.categories))
        return [at for at in range(len(self.names)) if names[at] in columns or owners[at].removeprefix(": ") in columns]

    # Predictions.

    def predict(self, data: Any = None) -> Any:
        """What is predicted for records: the chance of the event, of every category by name, or the expected number.

        ``data`` must hold every predictor, masked ones as if their truth were known; without it, and without masked
        predictors, the records of the fit are predicted.
        """
        import pandas as pd

        if data is None:
            if len(self.frame.predictors) > 1:
                raise DataError("predict needs data with a column for each masked predictor.", parameter="data")
            matrix = self.frame.matrices[0]
        else:
            matrix = self._matrix(data)
        predicted = self.family.mean(self._eta(matrix))
        if predicted.shape[1] <= 2:
            return predicted[:, 0]
        return pd.DataFrame(predicted, columns=[str(c) for c in self.frame.outcome.categories])

    def _matrix(self, data: Any) -> Matrix:
        import pandas as pd
        from formulaic.errors import FormulaicError

        names = self.frame.names
        table = pd.DataFrame({name: np.asarray(column) for name, column in native_columns(data, names, "data").items()})
        for name in names:
            if table[name].isna().any():
                row = int(np.argmax(table[name].isna()))
                raise DataError(f"data lack a value, first {name!r} in row {row}; leave such rows out.", "data")
            variable = self.frame.masked.get(name)
            if variable is None:
                self._require_labels(name, table[name])
                continue
            known = {str(c): c for c in variable.categories}
            if unknown := [row for row, label in enumerate(table[name]) if str(label) not in known]:
                raise DataError(
                    f"{name!r} must hold categories of its design; row {unknown[0]} does not.", parameter="data"
                )
            if table[name].dtype.kind not in "iuf":
                texts = [str(c) for c in variable.categories]
                table[name] = pd.Categorical(table[name].map(str), categories=texts)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # labels that the fit did not have
                return np.asarray(self.frame.spec.get_model_matrix(table, na_action="raise", output="numpy"), float)
        except (FormulaicError, ValueError, KeyError, TypeError, Warning) as error:
            raise DataError(f"data do not fit the formula ({type(error).__name__}).", parameter="data") from None

    def _require_labels(self, name: str, column: Any) -> None:
        """An error where a column of labels has one that the fit did not have."""
        fitted = self.frame.table[name]
        if fitted.dtype.kind in "iuf" and name not in labels_in(self.frame.spec.formula):
            return
        known = set(fitted.unique().tolist())
        if unknown := [row for row, label in enumerate(column.tolist()) if label not in known]:
            raise DataError(f"{name!r} must hold labels that the fit had; row {unknown[0]} does not.", parameter="data")

    def _eta(self, matrix: Matrix) -> Matrix:
        maps = self.family.maps(matrix.shape[1])
        return linear_predictors(matrix, maps, self.solution.theta[: maps[0].shape[1]])

    def marginal_effects(self) -> Effects:
        """Average marginal effects: how much the predicted chance changes with each predictor, all else as it is."""
        from maskwell.inference.regression.effects import marginal_effects

        return marginal_effects(self)

    # Showing.

    def summary(self, level: float = 0.95) -> str:
        """The fit in plain text: what was modelled, the coefficients, and what masking cost."""
        return visible_lines(summary_lines(self, level))

    def _title(self) -> str:
        return f"{self.family.name} regression by {self.method}: {self.formula}"

    def _figures(self) -> dict[str, Any]:
        return {"n": self.n, "left out": self.dropped, "covariance": self.cov_type}

    def _columns(self) -> dict[str, Any]:
        frame = self.to_frame()
        return {"term": list(self.names), **{str(name): frame[name].tolist() for name in frame}}

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:  # type: ignore[override]
        """A data frame: estimate, standard error, limits, p-value, and the precision that masking left."""
        import pandas as pd

        lower, upper = self.interval(level).T
        return pd.DataFrame(
            {
                "estimate": self.estimates,
                "standard_error": np.asarray(self.standard_errors),
                "lower": lower,
                "upper": upper,
                "p_value": np.asarray(self.pvalues),
                "precision_kept": np.asarray(self.precision_kept),
            },
            index=list(self.names),
        )

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The fit as plain values."""
        return {
            "formula": self.formula,
            "family": self.family.name,
            "method": self.method,
            "cov_type": self.cov_type,
            **({"correction_withheld": True} if self.correction_withheld else {}),
            "n": self.n,
            "dropped": self.dropped,
            "coefficients": {
                str(name): {column: _plain(value) for column, value in row.items()}
                for name, row in self.to_frame(level).iterrows()
            },
            "log_likelihood": self.llf if self.method == "likelihood" else None,
            "aic": self.aic if self.method == "likelihood" else None,
        }

    def __repr__(self) -> str:
        return f"<{self.family.name} regression, {self.method}: {self.formula}, n = {self.n}>"

    def _series(self, values: Vector | Sequence[float]) -> pd.Series[float]:
        import pandas as pd

        return pd.Series(np.asarray(values, float), index=list(self.names))


def _plain(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
