"""Tables, errors and the channels of releases with a planted fault, each caught by a named test or check."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.cli.commands.risk import risk
from maskwell.cli.shared import option_names
from maskwell.designs.channels import symmetric
from maskwell.designs.channels.exchange import ExchangeChannel
from maskwell.designs.channels.hyperplanes import HyperplaneChannel
from maskwell.designs.channels.rows import Shift, odds_factor
from maskwell.designs.channels.stages import StageChannel, stage
from maskwell.errors import MaskwellError
from maskwell.release.identification.theta import exchange
from maskwell.tables import encoded
from maskwell.tables.codes import Coded
from maskwell.tables.encoded import EncodedTable
from maskwell.tables.matching import Matcher
from tests import test_channels, test_encoded
from tests.cli import test_options
from tests.test_channel_mutants import Mutant


def _among_all_members(k: int, size: int, member: int, other: int, holds: bool) -> Shift:
    """The truth itself counts among those that it is compared with."""
    total = size * member + (k - size) * other
    return Shift(size, holds, odds_factor(member if holds else other, total, k))


def _transposed(channel: StageChannel) -> Any:
    rows = zip(channel.weights.T, channel.totals, strict=True)
    return np.array([[Fraction(int(weight), total) for weight in row] for row, total in rows])


def _with_old_labels(column: Coded, rows: Any) -> Coded:
    """Labels that no row holds any more stay."""
    return Coded(column.name, column.codes[rows], column.labels, column.missing)


def _anew(table: EncodedTable, name: str) -> Coded:
    return encoded.encode(table.array(name), name)


def _whatever_its_case(matcher: Matcher, text: Any) -> Any:
    import pyarrow.compute as pc

    return pc.utf8_lower(HONEST_SPELLING(matcher, text))


def _without_parameter(error: MaskwellError, message: str = "", parameter: str | None = None) -> None:
    HONEST_ERROR(error, message)


HONEST_SPELLING, HONEST_ERROR = Matcher._spelled, MaskwellError.__init__


def _drawn_afresh(title: str, make: Callable[[], StageChannel | ExchangeChannel]) -> tuple[str]:
    """A channel that has kept no figure from before the fault."""
    test_channels.DRAWN[title] = make()
    return (title,)


def _block() -> ExchangeChannel:
    return exchange(np.array([0, 4]), np.array([1, 2, 2, 1]), Fraction(1, 2))


def _check_columns_are_kept() -> None:
    table = EncodedTable({"a": ["x", "y", "x"]})
    assert table.coded("a") is table.coded("a")


def _check_labels_are_told_by_case() -> None:
    design, refused = mw.designs.gamma_diagonal(["a", "b"], epsilon=1), False
    try:
        design.mask(["A", "b"])
    except mw.DataError:
        refused = True
    assert refused


def _check_options_under_another_name() -> None:
    error = mw.DataError("that is fewer people than records.", parameter="population_size")
    shown = option_names.in_options(error, option_names.options_of(risk))
    assert shown == "--population: that is fewer people than records."


MUTANTS = {
    "a truth among those that it is compared with": Mutant(
        symmetric,
        "set_shift",
        _among_all_members,
        test_channels.test_what_reports_do_to_the_odds_of_a_truth,
        lambda: (mw.designs.rappor(4, epsilon=1).channel,),
    ),
    "classes of hyperplanes taken for rows": Mutant(
        HyperplaneChannel,
        "classes_are_sizes",
        False,
        test_channels.test_classes_of_rows_are_called_by_size_or_by_label,
        tuple,
    ),
    "a record that leaves may come back to its cell": Mutant(
        ExchangeChannel,
        "others",
        property(lambda self: np.repeat(np.diff(self.starts), np.diff(self.starts)).astype(np.uint64)),
        test_channels.test_a_release_draws_the_chances_of_its_channel,
        lambda: _drawn_afresh("one block", _block),
    ),
    "weights of a stage by report and truth exchanged": Mutant(
        StageChannel,
        "exact",
        _transposed,
        test_channels.test_figures_in_floats,
        lambda: (stage([[3, 1, 0], [1, 5, 2], [1, 0, 7]]),),
    ),
    "a release that changes nothing": Mutant(
        test_channels,
        "applied",
        lambda channel, truth, stream: truth,
        test_channels.test_a_release_draws_the_chances_of_its_channel,
        lambda: _drawn_afresh("one block", _block),
    ),
    "labels that no row holds any more": Mutant(
        encoded, "_taken", _with_old_labels, test_encoded.test_moved_columns_are_those_that_were_moved, tuple
    ),
    "a column encoded each time": Mutant(EncodedTable, "coded", _anew, _check_columns_are_kept, tuple),
    "labels matched whatever their case": Mutant(
        Matcher, "_spelled", _whatever_its_case, _check_labels_are_told_by_case, tuple
    ),
    "an error without its parameter": Mutant(
        MaskwellError,
        "__init__",
        _without_parameter,
        test_options.test_an_error_carries_its_parameter,
        lambda: ("seed", None),
    ),
    "options under another name forgotten": Mutant(
        option_names, "_ALIASES", {}, _check_options_under_another_name, tuple
    ),
}


@pytest.mark.parametrize("title", MUTANTS)
def test_the_fault_is_caught(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[title]
    monkeypatch.setattr(test_channels, "DRAWN", dict(test_channels.DRAWN))
    mutant.caught_by(*mutant.given())
    monkeypatch.setattr(mutant.owner, mutant.name, mutant.fault)
    with pytest.raises((AssertionError, ValueError, IndexError)):
        mutant.caught_by(*mutant.given())
