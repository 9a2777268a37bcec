"""What a design of two layers can do beside every other design.

The permanent layer ``P1`` masks an answer once; its report is kept, or drawn again from a key, and never sent. The
instantaneous layer ``P2`` masks that report afresh in every round. One round is the channel ``P2 P1``; T rounds about
the same answer show the permanent report T times through ``P2``, and tell no more than that report itself would.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np

from maskwell.designs.base import Design, Matrix
from maskwell.errors import DesignError
from maskwell.sampling.entropy import Stream
from maskwell.sampling.samplers import Packed

MOST_ROUNDS = 4096
"""Rounds whose parity is computed exactly; with numbers of 64 bits its fraction then has half a million digits."""


class RoundsParity(NamedTuple):
    """The parity of several rounds about one answer: exact, or else the least bound that is known."""

    value: Fraction
    exact: bool


@dataclass(frozen=True, eq=False, repr=False)
class LayeredDesign(Design):
    """A permanent and an instantaneous layer; as a design it is one round, both layers drawn afresh."""

    has_permanent_layer: ClassVar[bool] = True

    @property
    @abstractmethod
    def permanent(self) -> Design:
        """The first layer as a design of its own; its reports are what the second layer masks."""

    @abstractmethod
    def again(self, permanent: Packed, stream: Stream) -> Packed:
        """An instantaneous report of each packed permanent one."""

    @abstractmethod
    def _parity_of(self, rounds: int) -> RoundsParity:
        """The parity of up to ``MOST_ROUNDS`` rounds."""

    @abstractmethod
    def _parity_above(self, rounds: int) -> Fraction | float:
        """A bound of the parity of any number of rounds, from powers that are rounded up."""

    @abstractmethod
    def _kept_moments(self, shares: Matrix) -> Matrix:
        """The sum over truths x of ``shares[x]`` times E[m m'], m the mean score of a permanent report of x."""

    def longitudinal_parity(self) -> Fraction:
        """The parity of the permanent layer: what no number of rounds about one answer exceeds."""
        parity = self.permanent.exact_parity()
        assert isinstance(parity, Fraction)
        return parity

    def parity_of_rounds(self, rounds: int) -> RoundsParity:
        """The largest ratio of the chances of all reports of ``rounds`` rounds, over any two unchanging answers.

        Beyond 4,096 rounds the powers in it are rounded up in their twentieth digit: towards less privacy than there
        is.
        """
        if rounds <= MOST_ROUNDS:
            return self._parity_of(rounds)
        limit, bound = self.longitudinal_parity(), self._parity_above(rounds)
        return RoundsParity(min(limit, bound) if isinstance(bound, Fraction) else limit, False)

    def shared_moment(self, joint: Matrix) -> Matrix:
        """E[L1 L2'] of one person's scores in two rounds; ``joint[x, y]`` is the share with the answers x and then y.

        Who answers the same has one permanent report in both rounds, and its noise is in both scores. Who changes has
        another one, and the scores share nothing but the answers.
        """
        moved = joint - np.diag(np.diagonal(joint))
        result: Matrix = self._kept_moments(np.diagonal(joint)) + moved
        return result


def require_layers(design: object) -> LayeredDesign:
    """The design, if it has two layers."""
    if not isinstance(design, LayeredDesign):
        raise DesignError(
            f"a design of two layers is needed, from mw.rounds; got {type(design).__name__}. A report that is kept and "
            "sent again as it is needs no second layer: mask it with a key."
        )
    return design
