"""Planning a regression with masked variables: the power for a coefficient, and the people that a power needs.

What a fit will be able to tell follows from its expected information: for each kind of people, every report that can
occur counts with its chance, and the likelihood of these reports, or their corrected scores, is worked out as for real
ones. Designs with too many reports to list count some drawn at random instead. ``simulate`` fits whole surveys, which
shows what the formula, exact in large samples, leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.designs.base import Design, Vector, require_design
from maskwell.designs.channels.numbers import Matrix
from maskwell.errors import DataError, DesignError, EstimationError
from maskwell.inference.draws import derived_seed, draw_uniforms
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.inference.regression.covariance import inverse, sandwich
from maskwell.inference.regression.families import FAMILIES
from maskwell.inference.regression.families.family import Family
from maskwell.inference.regression.fit import Method, fitted
from maskwell.inference.regression.frame.model_frame import ModelFrame
from maskwell.inference.regression.likelihood import Likelihood
from maskwell.inference.regression.newton import maximise, solve
from maskwell.numerics.chi_square import chi_square_quantile, noncentral_chi_square_cdf
from maskwell.plain_text import among
from maskwell.planning.inflation import effect_of_sample
from maskwell.planning.power_curve import error_of_power
from maskwell.planning.regressions.truth import Truth, designs_of, planned
from maskwell.planning.sample_size import least
from maskwell.planning.variance_lines import margin, respondents
from maskwell.results.result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class RegressionPlan(Result):
    """What a regression will be able to tell: the covariance of its coefficients, times the number of people."""

    formula: str
    method: Method
    names: tuple[str, ...]
    terms: Mapping[str, tuple[int, ...]]
    coefficients: Vector
    covariance: Matrix
    """For one person; divided by n it is that of a fit of n people."""
    open_covariance: Matrix
    family: Family
    frame: ModelFrame = field(repr=False)
    truth: Truth = field(repr=False)

    def standard_errors(self, n: int, *, design_effect: float = 1.0) -> pd.Series[float]:
        """The standard errors that a fit of ``n`` people is expected to have.

        A ``design_effect``, here and below, counts them as n / design_effect people from a simple random sample, which
        is on the safe side: what masks add does not grow with clusters.
        """
        import pandas as pd

        variances = np.diagonal(self.covariance) * effect_of_sample(design_effect) / respondents(n)
        return pd.Series(np.sqrt(variances), index=list(self.names))

    @property
    def precision_kept(self) -> pd.Series[float]:
        """For each coefficient the part of its precision that masking will leave."""
        import pandas as pd

        return pd.Series(np.diagonal(self.open_covariance) / np.diagonal(self.covariance), index=list(self.names))

    def power(self, term: str, n: int, *, level: float = 0.95, design_effect: float = 1.0) -> float:
        """The chance that Wald's test finds a coefficient, or the coefficients of a term, different from 0."""
        return self._power(self._places(term), respondents(n) / effect_of_sample(design_effect), level)

    def sample_size(self, term: str, *, power: float = 0.8, level: float = 0.95, design_effect: float = 1.0) -> int:
        """The least number of people whose fit finds the term with chance ``power``."""
        places, wanted = self._places(term), margin(power, "power")
        if wanted <= 1 - level:
            raise DesignError(
                f"power must exceed 1 - level = {1 - level:.6g}, the rate of false alarms; got {power}.",
                parameter="power",
            )
        if not self.coefficients[places].any():
            raise DesignError(f"{term} has no effect in the plan, so no number of people finds one.", parameter="term")
        effect = effect_of_sample(design_effect)
        return least(lambda n: self._power(places, n / effect, level) >= wanted, f"a power of {power} for {term}")

    def curve(
        self, term: str, ns: Iterable[int] | None = None, *, level: float = 0.95, design_effect: float = 1.0
    ) -> pd.DataFrame:
        """Power by number of people, masked and if everybody answered openly; up to .99, unless ``ns`` says where."""
        import pandas as pd

        if ns is None:
            most = self.sample_size(term, power=0.99, level=level, design_effect=design_effect)
            ns = sorted({max(2, round(most * share)) for share in np.linspace(0.04, 1, 25)})
        counts, places, effect = [respondents(n) for n in ns], self._places(term), effect_of_sample(design_effect)
        powers = {
            name: [self._power(places, n / effect, level, covariance) for n in counts]
            for name, covariance in (("power", self.covariance), ("power_open", self.open_covariance))
        }
        return pd.DataFrame({"n": counts, **powers})

    def simulate(
        self,
        term: str,
        n: int,
        *,
        surveys: int = 400,
        seed: int = 0,
        level: float = 0.95,
        design_effect: float = 1.0,
    ) -> SimulatedRegression:
        """The power found when surveys of ``n`` people are drawn from the population, masked and fitted."""
        places, worth = self._places(term), max(round(respondents(n) / effect_of_sample(design_effect)), 1)
        normal_quantile(level)
        estimates, errors, found = [], [], 0
        critical = _critical(len(places), level)
        if type(surveys) is not int or surveys < 2:
            raise DesignError(f"surveys must be a whole number, 2 or more; got {surveys!r}.", parameter="surveys")
        for number in range(surveys):
            try:
                fit = self._survey(worth, derived_seed(seed, "survey", number))
            except EstimationError:
                continue
            part, block = fit.estimates[places], fit.covariance[np.ix_(places, places)]
            found += float(part @ np.linalg.solve(block, part)) > critical
            estimates.append(fit.estimates)
            errors.append(np.sqrt(np.diagonal(fit.covariance)))
        if len(estimates) < 2:
            few = len(estimates) or "none"
            raise EstimationError(f"{few} of {surveys} surveys of {n:,} people could be fitted; ask more people.")
        return SimulatedRegression(
            term, n, surveys, surveys - len(estimates), found / surveys, self.names, self.coefficients,
            np.array(estimates), np.array(errors), level,
        )  # fmt: skip

    def _survey(self, n: int, seed: int | None) -> Any:
        rows = (draw_uniforms(n, derived_seed(seed, "people")) * self.frame.n).astype(np.int64)
        frame = self.truth.asked(self.frame.at(rows), rows, seed)
        return fitted(self.formula, frame, self.family, self.method, _kind(self.method), np.ones(n))

    def _power(self, places: list[int], n: float, level: float, covariance: Matrix | None = None) -> float:
        part = self.coefficients[places]
        block = (self.covariance if covariance is None else covariance)[np.ix_(places, places)]
        distance = n * float(part @ np.linalg.solve(block, part))
        return 1 - noncentral_chi_square_cdf(_critical(len(places), level), len(places), min(distance, 1e6))

    def _places(self, term: str) -> list[int]:
        if term in self.names:
            return [self.names.index(term)]
        if term not in self.terms:
            known = [*self.names, *(name for name in self.terms if name not in self.names)]
            raise DataError(f"the model has no term {term!r}; {among(str(term), known)}.", parameter="term")
        return list(self.terms[term])

    def _title(self) -> str:
        return f"plan of a {self.family.name} regression by {self.method}: {self.formula}"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        return {
            "coefficient": list(self.names),
            "value": self.coefficients.tolist(),
            "standard error, n = 1,000": self.standard_errors(1000).tolist(),
            "precision kept": self.precision_kept.tolist(),
            "n for power .8": [self._needed(name) if value else None for name, value in self._with_values()],
        }

    def _needed(self, name: str) -> int | None:
        """The number of people for a power of .8; None where no number that is worth saying is enough."""
        try:
            return self.sample_size(name)
        except DesignError:
            return None

    def _with_values(self) -> list[tuple[str, float]]:
        return list(zip(self.names, self.coefficients.tolist(), strict=True))

    def _remarks(self) -> list[str]:
        return ["Powers are those of two-sided Wald tests in large samples; simulate(term, n) shows smaller ones."]

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        return {
            "formula": self.formula,
            "family": self.family.name,
            "method": self.method,
            "coefficients": dict(self._with_values()),
            "covariance": self.covariance.tolist(),
            "precision_kept": self.precision_kept.to_dict(),
        }

    def __repr__(self) -> str:
        return f"<{self._title()}>"


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedRegression(Result):
    """The power that simulated surveys had; one whose fit was refused found nothing."""

    term: str
    n: int
    surveys: int
    refused: int
    power: float
    names: tuple[str, ...]
    coefficients: Vector
    estimates: Matrix
    errors: Matrix
    level: float

    @property
    def standard_error(self) -> float:
        """Of the power, from the number of surveys."""
        return error_of_power(self.power, self.surveys)

    @property
    def coverage(self) -> Vector:
        """By coefficient, how often its interval held the value of the plan."""
        far = np.abs(self.estimates - self.coefficients)
        return np.asarray((far <= normal_quantile(self.level) * self.errors).mean(axis=0))

    def _title(self) -> str:
        return f"power for {self.term}, n = {self.n:,}: {self.power:.3f} in {self.surveys:,} surveys"

    def _figures(self) -> dict[str, Any]:
        return {"power": self.power, "standard error": self.standard_error, "fits refused": self.refused}

    def _columns(self) -> dict[str, Any]:
        return {
            "coefficient": list(self.names),
            "value": self.coefficients.tolist(),
            "mean estimate": self.estimates.mean(axis=0).tolist(),
            "standard deviation": self.estimates.std(axis=0, ddof=1).tolist(),
            "mean standard error": self.errors.mean(axis=0).tolist(),
            "coverage": self.coverage.tolist(),
        }

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        about = {"term": self.term, "n": self.n, "surveys": self.surveys}
        return about | {name.replace(" ", "_"): value for name, value in self._figures().items()} | self._columns()

    def __repr__(self) -> str:
        return f"<{self._title()}>"


def plan_regression(
    formula: str,
    population: Any,
    *,
    masked: Mapping[str, Design],
    coefficients: Mapping[str, float],
    family: str = "logit",
    method: Method = "likelihood",
    event: Any = None,
    scale: float | None = None,
) -> RegressionPlan:
    """Plan a regression whose outcome, predictors or both will be masked.

    ``population`` is a made-up or earlier file of people like those who will be asked, with a column for every
    predictor; one that will be masked holds the truths that are supposed. ``masked`` has the design of each masked
    variable; an outcome of categories that will be seen has ``designs.direct``. ``coefficients`` are the effects to be
    found, by the names that ``mw.regress`` gives them. ``scale`` is the residual standard deviation of a normal model.

    >>> import maskwell as mw
    >>> import numpy as np
    >>> people = {"age": np.linspace(-2, 2, 50)}
    >>> effects = {"Intercept": -1.0, "age": 0.3}
    >>> plan = mw.planning.plan_regression(
    ...     "used ~ age", people, masked={"used": mw.designs.warner(truth_prob=0.8)}, coefficients=effects
    ... )
    >>> plan.sample_size("age"), round(plan.power("age", 1500), 2)
    (1135, 0.9)
    """
    if family not in FAMILIES:
        raise DataError(f"family must be one of {', '.join(FAMILIES)}; got {family!r}.", parameter="family")
    if method not in ("likelihood", "corrected"):
        raise DataError(f"method must be likelihood or corrected; got {method!r}.", parameter="method")
    for design in designs_of(masked).values():
        require_design(design)
        if method == "corrected":
            design.require_estimable()
    truth, frame, model = planned(formula, population, masked, coefficients, family, event, scale)
    size = model.reported(frame.matrices.shape[2])
    names = tuple(model.parameter_names(frame.terms, frame.outcome.categories)[:size])
    expected = truth.expected(frame)
    likelihood = Likelihood(expected.frame, model, expected.weights)
    solution = maximise(likelihood, names)
    covariance, unmasked = inverse(solution.at.information), inverse(solution.complete)
    if method == "corrected":
        start = solution.theta[: likelihood.outcome_size]
        at = solve(likelihood, names, start).at
        assert at.scores is not None
        covariance = sandwich(at.information, (at.scores * expected.weights[:, None]).T @ at.scores)
    people = float(expected.weights.sum())
    return RegressionPlan(
        formula, method, names, _terms(frame, model, size), truth.theta[:size], people * covariance[:size, :size],
        people * unmasked[:size, :size], model, frame, truth,
    )  # fmt: skip


def _terms(frame: ModelFrame, model: Family, size: int) -> dict[str, tuple[int, ...]]:
    """The places of the coefficients of each term."""
    blank = [""] * len(frame.outcome.categories)
    owners = [name.removeprefix(": ") for name in model.parameter_names(frame.terms, blank)[:size]]
    found = {}
    for term, part in frame.slices.items():
        columns = set(frame.terms[part])
        found[term] = tuple(at for at, owner in enumerate(owners) if owner in columns)
    return {term: places for term, places in found.items() if places and term != "1"}


def _kind(method: Method) -> Any:
    return "observed" if method == "likelihood" else "robust"


def _critical(df: int, level: float) -> float:
    normal_quantile(level)
    return chi_square_quantile(df, level)
