"""Designs of each kind, a fresh interpreter, and what a refusal looks like."""

import copy
import dataclasses
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import maskwell as mw

KEY = bytes(range(32))
QUESTION = "health 2026/habit"
KEYED: Any = {"key": KEY, "question": QUESTION}
CODES = mw.designs.gamma_diagonal(4, epsilon=1)
SETS = mw.designs.minimax(40, epsilon=0.5)
PAIRS = mw.designs.local_diversity(4, l=2)
WARNER = mw.designs.warner(truth_prob=0.8)
PRODUCT = mw.designs.product(WARNER, PAIRS, mw.designs.direct(2))
KINDS = {
    "codes": CODES,
    "sets": SETS,
    "pairs": PAIRS,
    "matrix": WARNER,
    "direct": mw.designs.direct(4),
    "product": PRODUCT,
}
every_kind = pytest.mark.parametrize("design", KINDS.values(), ids=KINDS.keys())
every_column = pytest.mark.parametrize("design", [pytest.param(d, id=k) for k, d in KINDS.items() if d is not PRODUCT])


def planted(thing: Any, **parts: Any) -> Any:
    """A copy of a design or a sampler with some of its parts replaced."""
    altered = copy.copy(thing)
    if dataclasses.is_dataclass(thing):
        # What was computed from the parts is computed anew.
        fields = {field.name for field in dataclasses.fields(thing)}
        vars(altered).clear()
        vars(altered).update({name: value for name, value in vars(thing).items() if name in fields})
    vars(altered).update(parts)
    return altered


def narrow(design: mw.Design, width: int = 2) -> mw.Design:
    """The design with slots so short that nearly every record must go on in an extension."""
    sampler = planted(design.sampler, width=width)
    return planted(design, sampler=sampler)


def values_for(design: mw.Design, n: int, seed: int = 0) -> np.ndarray:
    """Truths drawn uniformly from the design's categories; for a product the rows of a table."""
    labels = np.array(design.categories, object if isinstance(design, mw.designs.ProductDesign) else None)
    return labels[np.random.default_rng(seed).integers(0, design.k, n)]


def run_python(source: str) -> str:
    """What a fresh interpreter prints."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def attempt(action: Callable[[], Any]) -> Any:
    """What an action returns, or the one-line error that it is refused with."""
    try:
        return action()
    except mw.MaskwellError as error:
        return error


def refused(error: type[Exception], match: str | None, action: Callable[[], Any]) -> str:
    """The message of a refusal, which has one line."""
    with pytest.raises(error, match=match) as caught:
        action()
    assert "\n" not in str(caught.value)
    return str(caught.value)
