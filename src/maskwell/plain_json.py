"""Results as JSON for programs: arrays become lists, fractions and dates text, and what is not finite null."""

import json
import math
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

VOCABULARY = 1
"""The version of the words of ``--json``: raised when one changes its meaning or goes (``cli/output.schema.json``)."""


def jsonable(value: Any) -> Any:
    """The same in what JSON has; what is not finite, such as no bound on the parity, becomes null.

    >>> jsonable({"bound": math.inf, "parity": Fraction(9, 2), "counts": np.arange(2)})
    {'bound': None, 'parity': '9/2', 'counts': [0, 1]}
    """
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return jsonable(value.tolist())
    if isinstance(value, (Fraction, Decimal, Path, date, time)):  # groups may be dates
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def json_text(content: Any, indent: int | None = 1) -> str:
    """Any result as JSON text."""
    return json.dumps(jsonable(content), indent=indent, ensure_ascii=False, allow_nan=False)
