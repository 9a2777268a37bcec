"""Repeated collection: the same question in many rounds, without telling more in the thousandth than was promised.

A *permanent* report is drawn once for each answer and kept; in each round an *instantaneous* report of it is sent.
"""

from maskwell.rounds.changes import Change, change
from maskwell.rounds.device import Device, report
from maskwell.rounds.ledger import Ledger
from maskwell.rounds.means import Mean, mean
from maskwell.rounds.pairs import kary, layers, rappor, unary
from maskwell.rounds.privacy import RoundsPrivacy, privacy
from maskwell.rounds.sharing import long_run_variance, plan
from maskwell.rounds.words import explain

__all__ = [
    "Change",
    "Device",
    "Ledger",
    "Mean",
    "RoundsPrivacy",
    "change",
    "explain",
    "kary",
    "layers",
    "long_run_variance",
    "mean",
    "plan",
    "privacy",
    "rappor",
    "report",
    "unary",
]
