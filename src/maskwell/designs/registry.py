"""The list of named designs: each is a function that returns a design, and an entry here says what it is.

The command line, the documentation table and the conformance tests read this list, so a new design needs nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from maskwell.designs.base import Design
from maskwell.errors import DesignError

F = TypeVar("F", bound=Callable[..., Design])
Recogniser = Callable[[Design, dict[str, Any]], bool]

REFERENCES = {
    "nayak-zhai-2019": "Nayak, T. K. and Zhai, X. (2019). A local l-diversity mechanism for privacy protected "
    "categorical data collection. Research Report Series (Statistics #2019-08), U.S. Census Bureau.",
    "chai-nayak-2018": "Chai, J. and Nayak, T. K. (2018). A criterion for privacy protection in data collection "
    "and its "
    "attainment via randomized response procedures. Electronic Journal of Statistics 12, 4264-4287.",
    "nayak-2020": "Nayak, T. K. (2020). A review of rigorous randomized response methods for protecting respondent's "
    "privacy and data confidentiality. Research Report Series, U.S. Census Bureau.",
    "wang-ding-2021": "Wang, G. and Ding, J. (2021). Subset privacy: draw from an obfuscated urn.",
    "ayed-2020": "Ayed, F., Battiston, M. and Camerlenghi, F. (2020). An information theoretic approach to post "
    "randomization "
    "methods under differential privacy. Statistics and Computing.",
    "ye-barg-2018": "Ye, M. and Barg, A. (2018). Optimal schemes for discrete distribution estimation under locally "
    "differential privacy. IEEE Transactions on Information Theory 64, 5662-5676.",
    "park-nam-lee-2023": "Park, H.-Y., Nam, S.-H. and Lee, S.-H. (2023). Block design-based local differential privacy "
    "mechanisms.",
    "erlingsson-2014": "Erlingsson, U., Pihur, V. and Korolova, A. (2014). RAPPOR: randomized aggregatable "
    "privacy-preserving ordinal response. ACM CCS, 1054-1067.",
    "wang-2017": "Wang, T., Blocki, J., Li, N. and Jha, S. (2017). Locally differentially private protocols for "
    "frequency "
    "estimation. USENIX Security, 729-745.",
    "warner-1965": "Warner, S. L. (1965). Randomized response: a survey technique for eliminating evasive answer bias. "
    "Journal of the American Statistical Association 60, 63-69.",
    "boruch-1971": "Boruch, R. F. (1971). Assuring confidentiality of responses in social research. "
    "American Sociologist 6, 308-311.",
    "greenberg-1969": "Greenberg, B. G., Abul-Ela, A.-L. A., Simmons, W. R. and Horvitz, D. G. (1969). The "
    "unrelated question "
    "randomized response model. Journal of the American Statistical Association 64, 520-539.",
    "yu-2008": "Yu, J.-W., Tian, G.-L. and Tang, M.-L. (2008). Two new models for survey sampling with sensitive "
    "characteristic. Metrika 67, 251-263.",
    "kuk-1990": "Kuk, A. Y. C. (1990). Asking sensitive questions indirectly. Biometrika 77, 436-438.",
}


@dataclass(frozen=True)
class Entry:
    """A named design: its function, its sources, and example parameters (``k`` says for how many categories).

    ``recognise`` tells whether a design with these parameters may bear the name, where the parameters alone do not give
    the design back.
    """

    function: Callable[..., Design]
    references: tuple[str, ...]
    examples: tuple[dict[str, Any], ...]
    recognise: Recogniser | None = None

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (self.function.__doc__ or "").strip().splitlines()[0]


DESIGNS: dict[str, Entry] = {}

# Designs that are computed rather than named: by improving another, or by an optimiser.
_DERIVED = {"improved": ("chai-nayak-2018",), "most_informative": ("ayed-2020",)}


def named(
    *references: str, examples: tuple[dict[str, Any], ...], recognise: Recogniser | None = None
) -> Callable[[F], F]:
    """Enter a function that returns a design into the list."""

    def enter(function: F) -> F:
        DESIGNS[function.__name__] = Entry(function, references, examples, recognise)
        return function

    return enter


def citation(name: str) -> str:
    """The references of a named design, one a line."""
    keys = DESIGNS[name].references if name in DESIGNS else _DERIVED.get(name)
    if keys is None:
        raise DesignError(f"no reference is known for a design named {name!r}; known: {', '.join(DESIGNS)}.")
    return "\n".join(REFERENCES[key] for key in keys)
