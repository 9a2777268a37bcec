"""What Wang & Ding (2021) print of their urn and of the race of 32,561 persons under uniform subset privacy.

Their Table III is data, and Table IV a simulation: its limits are compared within their Monte-Carlo error by the tests.
"""

from maskwell import designs
from maskwell.auditing import audit
from maskwell.published.model import Explanation, Row

_KEY = "wang-ding-2021"
_URN = {"black": 0.01, "red": 0.1, "green": 0.2, "blue": 0.69}
_RACE = {
    "Amer-Indian-Eskimo": 311,
    "Asian-Pac-Islander": 1039,
    "Black": 3124,
    "Other": 271,
    "White": 27816,
}
_CUT = Explanation("further digits were cut off", truncated=True)


def _share(race: str) -> float:
    return _RACE[race] / sum(_RACE.values())


def _leakage(what: str, name: str = "uniform_subsets") -> float:
    design = designs.DESIGNS[name].function(list(_RACE))
    return float(getattr(audit(design, prior=[_share(race) for race in _RACE]), what))


def _urn_coverage() -> float:
    return 1 - float(audit(designs.uniform_subsets(list(_URN)), prior=list(_URN.values())).size_leakage)


def _example(what: str, printed: str, members: tuple[str, ...]) -> Row:
    return Row(_KEY, "Example 2", what, printed, lambda: sum(_URN[c] for c in members))


ROWS = (
    _example("size of {red, green, blue}", "0.99", ("red", "green", "blue")),
    _example("size of {black, red}", "0.11", ("black", "red")),
    Row(_KEY, "Example 2", "coverage of the uniform design", "0.684", _urn_coverage),
    *(
        Row(_KEY, "Table II", race, printed, lambda race=race: _share(race))  # type: ignore[misc]
        for race, printed in zip(_RACE, ("0.009551", "0.031909", "0.095943", "0.008323", "0.854274"), strict=True)
    ),
    Row(_KEY, "Section V-B", "size leakage, not masked", "0.25", lambda: _leakage("size_leakage", "direct"), _CUT),
    Row(_KEY, "Section V-B", "size leakage, uniform design", "0.15", lambda: _leakage("size_leakage"), _CUT),
    Row(_KEY, "Section V-B", "prediction leakage, not masked", "1", lambda: _leakage("prediction", "direct")),
    Row(_KEY, "Section V-B", "prediction leakage, uniform design", "0.9", lambda: _leakage("prediction")),
    Row(
        _KEY,
        "Section V-B",
        "share of the mutual information that is left",
        "0.5",
        lambda: _leakage("mutual_information") / _leakage("mutual_information", "direct"),
    ),
    Row(
        _KEY,
        "Section V-B",
        "size leakage of an Asian-Pac-Islander, not masked",
        "0.97",
        lambda: 1 - _share("Asian-Pac-Islander"),
    ),
)
