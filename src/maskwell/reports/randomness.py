"""How reports were drawn, as they say of themselves."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from maskwell.errors import ReportError, SimulationWarning

EXTERNAL = "external"
UNKNOWN = "unknown"
_KINDS = {"secure", "keyed", "seeded", EXTERNAL, UNKNOWN}
AND = " and "


def joined_randomness(parts: Iterable[tuple[str, float]]) -> str:
    """How reports from several sources were drawn, from each source's randomness and how many reports it has.

    >>> joined_randomness([("secure", 10), ("secure", 20), ("keyed", 5)])
    'keyed and secure'
    """
    sources = list(parts)
    # A source without reports drew nothing.
    kinds = {kind for source, n in sources if n or not any(n for _, n in sources) for kind in source.split(AND)}
    seeded = [is_simulated(source) for source, n in sources if n]
    if any(seeded) and not all(seeded):
        warnings.warn(
            "reports drawn from a seed, which protect nobody, are counted together with others: for simulation only.",
            SimulationWarning,
            stacklevel=3,
        )
    return AND.join(sorted(kinds))


def is_external(randomness: str) -> bool:
    """Whether some of the reports were drawn elsewhere, by a die or another program."""
    return EXTERNAL in randomness.split(AND)


def is_simulated(randomness: str) -> bool:
    """Whether some of the reports were drawn from a seed."""
    return "seeded" in randomness.split(AND)


def checked_randomness(found: Any, name: str) -> str:
    """What a file says of how its reports were drawn, if it is one of the things it can say."""
    kinds = found.split(AND) if isinstance(found, str) else []
    if not kinds or not set(kinds) <= _KINDS or kinds != sorted(set(kinds)):
        raise ReportError(f"{name!r} does not say how its reports were drawn.")
    return str(found)
