"""Two statements of Nayak (2020) that hold only after a correction, each with a computation that shows it."""

from maskwell.published.errata.nayak_zhai_2019 import swapped_product
from maskwell.published.model import Explanation, Row
from maskwell.release.identification.limit import limit_identification

KEY = "nayak-2020"
_PLACE = "Statements that need a correction"


def _growth(margin: bool) -> float:
    """How n² times the added variance of a share changes when n singletons become 2n; 1 if it is of order 1/n².

    The share is that of a margin that half of the cells belong to, or of one cell.
    """
    added = []
    for n in (100, 200):
        table = {"half": [i % 2 for i in range(n)], "number": list(range(n))}
        release = limit_identification(table, keys=["half", "number"], xi=0.395, blocks="whole", seed=1)
        found = release.added_variance(["half"] if margin else ["half", "number"])
        added.append(n**2 * float(found.of_proportions[0]))
    return added[1] / added[0]


ERRATA = (
    swapped_product(KEY, "Section 4.2"),
    Row(
        KEY,
        _PLACE,
        "Section 5.2: growth of n² × added variance of a margin, n singletons to 2n",
        "1.0",
        lambda: _growth(margin=True),
        Explanation("of order 1/n² for one cell; a margin over many sparse cells adds 1/n", lambda: _growth(False)),
        kind="correction",
    ),
)
