"""Every page of results in Chromium, on a phone and on a desk: as wide as the screen, with nothing on anything else."""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maskwell as mw
from maskwell.errors import SimulationWarning
from maskwell.views import chart
from maskwell.views.charts.joint import joint_chart
from maskwell.views.comparison import compare_designs
from maskwell.views.pages.audit import audit_page
from maskwell.views.pages.compare import compare_page
from maskwell.views.pages.plan import plan_page
from maskwell.views.pages.release import external_page, internal_page
from maskwell.views.pages.risk import risk_page
from maskwell.views.saving import rendered
from tests.browser.harness import browser, npm_part
from tests.browser.respondents import DESKTOP, PHONE

D = mw.designs
STATUSES = ["Never married", "Married, spouse present", "Married, spouse absent", "Separated", "Divorced", "Widowed"]
STATUSES += ["Registered partnership", "Refused to answer", "Does not know"]
ANSWERS = ["never", "once", "often", "daily", "refused"]
LOOK = Path(__file__).with_name("look.js").read_text(encoding="utf-8").strip().removesuffix(";")
LOOK = LOOK[LOOK.index("() =>") :]
DRAWN = "() => [...document.querySelectorAll('figure')].every((figure) => figure.dataset.drawn)"


def five_designs() -> str:
    """Designs of one ε whose points lie close together."""
    named = {name: getattr(D, name)(ANSWERS, epsilon=1) for name in ("minimax", "rappor", "trimmed_rappor")}
    others = {"optimized unary": D.optimized_unary(ANSWERS, epsilon=1), "nearly": D.minimax(ANSWERS, epsilon=1.01)}
    return compare_page(compare_designs({**named, **others}))


def drawn(design: mw.Design, n: int = 4000) -> mw.Estimate:
    """An estimate from simulated people, the first categories the most common."""
    p = np.arange(design.k, 0, -1.0)
    truth = np.random.default_rng(1).choice(design.k, n, p=p / p.sum())
    return mw.estimate(design.mask([design.categories[i] for i in truth], seed=3))


def near_empty_group() -> str:
    """A joint table in which hardly anybody is in the last group."""
    first, second = D.minimax(["single", "married", "widowed", "other"], epsilon=1.5), D.minimax(3, epsilon=1.5)
    rng = np.random.default_rng(1)
    groups = rng.choice(first.categories, 3000, p=[0.5, 0.4, 0.094, 0.006])
    table = pd.DataFrame({"status": groups, "income": rng.integers(0, 3, 3000)})
    reports = D.product(first, second, names=["status", "income"]).mask(table, seed=3)
    estimate: Any = mw.estimate(reports)
    return rendered(joint_chart(estimate), ".html").decode()


def persons() -> pd.DataFrame:
    """A file with long labels and many categories."""
    rng = np.random.default_rng(1)
    n = 1500
    regions = [f"Region of {name}" for name in ("North", "South", "East", "the Highlands")]
    return pd.DataFrame(
        {
            "sex": rng.choice(["female", "male"], n),
            "age": rng.integers(18, 90, n),
            "region": rng.choice(regions, n),
            "marital status": rng.choice(STATUSES, n),
            "illness": rng.choice(["none", "asthma", "diabetes"], n),
        }
    )


def released() -> Any:
    """A release of it."""
    keys = ["sex", "age", "region", "marital status"]
    return mw.release.limit_identification(persons(), keys=keys, xi=0.5, within=["sex"], seed=1)


PAGES: dict[str, Callable[[], str]] = {
    "audit of 9": lambda: audit_page(mw.audit(D.gamma_diagonal(STATUSES, epsilon=2))),
    "audit of a product": lambda: audit_page(mw.audit(D.product(D.minimax(2, epsilon=1), D.minimax(3, epsilon=1)))),
    "plan for 2": lambda: plan_page(D.minimax(2, epsilon=1), 2000),
    "plan for 1000": lambda: plan_page(D.minimax(1000, epsilon=1), 2000),
    "comparison": five_designs,
    "estimate of 9": lambda: rendered(chart(drawn(D.gamma_diagonal(STATUSES, epsilon=2))), ".html").decode(),
    "estimate of 300": lambda: rendered(chart(drawn(D.minimax(300, epsilon=2))), ".html").decode(),
    "joint": near_empty_group,
    "risk": lambda: risk_page(mw.risk.assess(persons(), keys=["sex", "age", "region"], population_size=50_000)),
    "internal report": lambda: internal_page(released(), of=["sex"]),
    "external report": lambda: external_page(released(), of=[["sex", "region"]]),
}
# All pages are made of the same parts: a lone chart, and one with every part.
READ_ALOUD = ("joint", "risk")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as program:
        yield program


@pytest.mark.parametrize("name", list(PAGES))
def test_a_page_fits_its_screen(name: str, chromium: Any, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)
        (tmp_path / "page.html").write_text(PAGES[name](), encoding="utf-8")
    for size in (PHONE, DESKTOP):
        page = chromium.new_page(viewport=size)
        page.goto(f"file://{tmp_path / 'page.html'}")
        page.wait_for_function(DRAWN, timeout=60_000)
        assert page.evaluate("() => document.documentElement.scrollWidth") == size["width"], size
        assert page.evaluate(LOOK) == [], size
        if size == PHONE and name in READ_ALOUD:
            page.add_script_tag(path=str(npm_part("axe-core/axe.min.js")))
            found = page.evaluate("() => axe.run()")["violations"]
            assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []
        page.close()
