"""A release applies channels: stages of post-randomization and exchanges within blocks, by the samplers of designs."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from maskwell.designs.channels.base import Channel
from maskwell.designs.channels.exchange import ExchangeChannel
from maskwell.designs.channels.stages import StageChannel
from maskwell.sampling.entropy import Stream
from maskwell.sampling.samplers import RowSampler, Sampler, WithinSampler, draw
from maskwell.tables.codes import Ints

_WORDS = 4  # of a stage's slot: two numbers, whatever the totals are (docs/release_format.md)


class Chance(NamedTuple):
    """Where the draws come from: fresh unless there is a key with ids, or a seed."""

    key: bytes | None = None
    ids: Any = None
    seed: int | None = None


@singledispatch
def sampler(channel: Channel) -> Sampler:
    """What draws the reports of a channel, from the integers that its audit reads."""
    raise TypeError(f"no file is released by a {type(channel).__name__}")


@sampler.register
def _(channel: StageChannel) -> Sampler:
    return RowSampler(channel.weights, channel.totals, _WORDS)


@sampler.register
def _(channel: ExchangeChannel) -> Sampler:
    return WithinSampler(channel.first, channel.others, channel.stay)


def applied(channel: Channel, truth: Ints, stream: Stream) -> Ints:
    """The reports of these truths."""
    codes = truth.astype(np.uint32)
    reports: Ints = draw(sampler(channel), len(codes), lambda start, stop: codes[start:stop], stream).astype(np.int64)
    return reports
