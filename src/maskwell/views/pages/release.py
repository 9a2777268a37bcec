"""A release as two web pages: one for its custodian, with everything, and one for the users of the released file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maskwell.errors import DataError
from maskwell.release import BlockComparison, PramRelease, Release
from maskwell.release.evaluation.public_view import public_view
from maskwell.views.pages.release_by_identification import identification_page
from maskwell.views.pages.release_by_pram import pram_page
from maskwell.views.pages.release_for_users import external_sections


def internal_page(
    release: Release | PramRelease,
    *,
    of: Sequence[Any] = (),
    rows_in_order: bool = True,
    file_warnings: Sequence[str] = (),
    compared: BlockComparison | None = None,
) -> str:
    """Everything about a release, for the custodian alone: proof, sensitive cells, before and after, how to repeat it.

    ``of`` lists tables whose added variance is shown, each written as ``added_variance`` takes it. ``rows_in_order``
    says whether the file is given away in the order of its rows, which the page then looks at too. ``file_warnings``
    are shown beside the others: what the written file tells besides its values. ``compared`` is what ``compare_blocks``
    found for the same table.
    """
    _check(release)
    if isinstance(release, Release):
        return identification_page(release, of, rows_in_order, file_warnings, compared)
    return pram_page(release, of, rows_in_order, file_warnings)


def external_page(release: Release | PramRelease, *, publish_limit: bool = False, of: Sequence[Any] = ()) -> str:
    """What the users of a released file need, and nothing that would help to undo the release.

    ``of`` lists tables for which an upper bound of the added standard error is published. ``publish_limit`` also
    publishes the limit ξ or, for post-randomized columns whose expected frequencies are not kept, the matrices.
    """
    _check(release)
    return external_sections(public_view(release, publish_limit, of))


def _check(release: Any) -> None:
    if not isinstance(release, (Release, PramRelease)):
        raise DataError(
            f"a page needs the result of limit_identification or pram; got {type(release).__name__}, which may be the "
            "released table alone."
        )
