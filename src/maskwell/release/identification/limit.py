"""Limit identification: move records among sensitive cells until no match is right with more than a given chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from maskwell.release.drawing import Chance
from maskwell.release.identification.audit import IdentificationAudit
from maskwell.release.identification.blocks.forming import DEFAULT_WAY
from maskwell.release.identification.moves import carry_out
from maskwell.release.identification.plan import IdentificationPlan, plan_of
from maskwell.release.identification.release import Release
from maskwell.release.identification.request import Options, read_request
from maskwell.release.identification.setup import forming, prepare
from maskwell.release.recoding.recipe import Recipe
from maskwell.release.recoding.ways import Recode
from maskwell.sampling.entropy import Source


def limit_identification(
    table: Any,
    keys: Sequence[str] | str,
    xi: float,
    within: Any = None,
    *,
    exempt: Any = None,
    merge: Literal["suggest", "merge"] = "suggest",
    together: str | None = None,
    blocks: str = DEFAULT_WAY,
    block_size: int | None = None,
    along: Sequence[str] | str = (),
    recoding: Mapping[str, Recode] | Recipe | None = None,
    key: bytes | None = None,
    ids: Any = None,
    seed: int | None = None,
) -> Release:
    """Release a table such that a match by the ``keys`` is right with a chance of at most ``xi``.

    The limit is about an intruder who knows the keys and how many released records show them. ``release.attack()``
    tries what somebody with the released file alone finds out, ``release.intruders`` has both and others, and
    ``release.check()`` stops if a column decides a key.

    A combination of keys (a cell) is sensitive if it occurs fewer than 1/ξ times. Within each partition set the
    sensitive cells form blocks, and a record of a sensitive cell with frequency t moves with chance θ/t to another
    cell of its block (Nayak 2020, section 5; key ``nayak-2020``). At ξ of 1/3 and less blocks are of cells of one
    frequency, and each kind of block has the θ that the exact audit finds. The expected frequency of every cell is the
    true one. Nothing else of a record changes, and no combination appears that was not there before.

    ``blocks`` says which cells exchange their records: all of a partition set ("whole"), or about ``block_size`` cells
    at "random", or look-alike ones: "staying", "profile" or "mixed" (``forming.WAYS`` says what each is for). The
    limit is the same for all; ``compare_blocks`` shows how they differ on a table. ``release.audit.all_counts`` is the
    figure for an intruder who uses the released counts of a whole block.

    ``within`` says what no record may leave: columns ("sex"), intervals of a number by where they start
    ({"age": [18, 65]}), groups of categories ({"race": [["white"], ["black"]]}, the others forming one more group), or
    a column of your own. ``exempt`` names keys that must not change, or categories that are neither left nor entered
    ({"race": ["white"]}). A block that is too small to protect its records is refused; ``merge="merge"`` joins it with
    the nearest set instead, never across what is exempt. Missing values of a key are a category of their own.

    ``along`` names other columns that go with the keys so closely that they would show who moved: a record that
    is given another combination is given these columns with it, from one of the records that have that combination.

    ``recoding`` makes columns coarser first: what ``recode`` takes, or the ``recipe`` of ``recode`` and
    ``search_recoding``. Everything else is then about the recoded table, and the plan recodes when it is repeated.

    ``together`` names a column of households or other groups: all records of a group then move as one, the limit is
    on recognising a group, and the keys and ``within`` must be the same throughout a group.

    The draws are cryptographic and fresh; ``key`` with ``ids`` (a column, or its name) makes them repeatable for
    whoever holds the key, and ``seed`` is for simulation.

    >>> table = {"sex": ["f", "m"] * 20, "age": list(range(20, 60))}
    >>> release = limit_identification(table, keys=["sex", "age"], xi=0.5, within="sex", seed=1)
    >>> release.audit.holds, release.table["sex"] == table["sex"]
    (True, True)
    """
    chance = Chance(key, ids, seed)
    Source(*chance).check()  # before any work
    options: Options = {"exempt": exempt, "merge": merge, "together": together, "along": along}
    options["recoding"] = recoding
    request = read_request(keys, xi, within, blocks=blocks, block_size=block_size, **options)
    setup = prepare(table, request, forming(request, chance))
    return carry_out(setup, plan_of(setup), chance)


def plan_identification(
    table: Any,
    keys: Sequence[str] | str,
    xi: float,
    within: Any = None,
    *,
    blocks: str = DEFAULT_WAY,
    block_size: int | None = None,
    key: bytes | None = None,
    seed: int | None = None,
    **options: Unpack[Options],
) -> tuple[IdentificationPlan, IdentificationAudit]:
    """What ``limit_identification`` would do, without doing it: the plan, and the audit of its blocks.

    The other parameters are those of ``limit_identification``. ``key`` and ``seed`` matter for ``blocks="random"``
    alone, which are drawn anew without them.
    """
    request = read_request(keys, xi, within, blocks=blocks, block_size=block_size, **options)
    setup = prepare(table, request, forming(request, Chance(key, seed=seed)))
    return plan_of(setup), setup.audit()
