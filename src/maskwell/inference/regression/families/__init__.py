"""Families of outcomes by name; a new one is a file here and a line in the table."""

from __future__ import annotations

from collections.abc import Callable

from maskwell.inference.regression.families.binary import Binary, LinearProbability
from maskwell.inference.regression.families.cumulative import Cumulative
from maskwell.inference.regression.families.family import Family
from maskwell.inference.regression.families.links import cloglog, identity, logit, probit
from maskwell.inference.regression.families.multinomial import Multinomial
from maskwell.inference.regression.families.normal import Normal

FAMILIES: dict[str, Callable[[int], Family]] = {
    "logit": lambda k: Binary(2, logit(), "logit"),
    "probit": lambda k: Binary(2, probit(), "probit"),
    "cloglog": lambda k: Binary(2, cloglog(), "cloglog"),
    "identity": lambda k: LinearProbability(2, identity(), "identity"),
    "multinomial": Multinomial,
    "cumulative": Cumulative,
    "normal": lambda k: Normal(1),
}
"""How each is made for an outcome of k categories."""
