"""Proofs of the order of designs, checked without the code that found them, and random tables to try it on."""

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

import maskwell as mw
from maskwell.ordering import Domination, dominates

Table = NDArray[np.float64]


def check_proof(verdict: Domination, better: Table, worse: Table) -> None:
    """The verdict's own evidence, and nothing else, must show that it is right."""
    if verdict:
        assert verdict.C is not None
        assert verdict.witness is None
        assert verdict.C.min() >= 0
        assert np.abs(verdict.C.sum(axis=0) - 1).max() < 1e-12
        assert np.abs(verdict.C @ better - worse).max() <= 1e-9
        assert verdict.slack <= 1e-9
    else:
        assert verdict.C is None
        assert verdict.witness is not None
        payoffs, prior = verdict.witness.payoffs, verdict.witness.prior
        assert payoffs.shape == worse.shape
        best_use = ((better * prior) @ payoffs.T).max(axis=1).sum()
        followed = (worse * prior * payoffs).sum()
        assert followed > best_use
        assert verdict.witness.value_better == pytest.approx(best_use, abs=1e-12)
        assert verdict.witness.value_worse == pytest.approx(followed, abs=1e-12)
        assert verdict.slack > 0


def judged(better: mw.Design | Table, worse: mw.Design | Table) -> Domination:
    """A verdict whose proof has been checked."""
    verdict = dominates(better, worse)
    tables = [d.matrix() if isinstance(d, mw.Design) else d for d in (better, worse)]
    check_proof(verdict, *tables)
    return verdict


@st.composite
def tables(draw: st.DrawFn, k: int, rows: tuple[int, int] = (1, 5), least: int = 0) -> Table:
    """Small whole numbers over their column sums: zeros, ties and proportional rows are frequent."""
    m = draw(st.integers(*rows))
    entries = st.lists(st.integers(least, 4), min_size=m, max_size=m).filter(any)
    columns = np.array([draw(entries) for _ in range(k)], float)
    return (columns / columns.sum(axis=1, keepdims=True)).T


@st.composite
def several(draw: st.DrawFn, count: int, least: int = 0) -> list[Table]:
    """Tables over the same categories, the later ones often drawn from the earlier."""
    k = draw(st.integers(2, 4))
    found = [draw(tables(k, least=least))]
    while len(found) < count:
        source = draw(st.sampled_from([None, *found]))
        found.append(draw(tables(k, least=least)) if source is None else draw(tables(len(source))) @ source)
    return found


def dirichlet(rows: int, columns: int, generator: np.random.Generator, concentration: float = 0.5) -> Table:
    return generator.dirichlet(np.full(rows, concentration), size=columns).T
