"""The three ways to a release: a limit on identification, post-randomization, and a stored plan carried out again."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maskwell.cli.shared.output import CommandError
from maskwell.errors import MaskwellError
from maskwell.input_files import read_whole
from maskwell.release import BlockComparison, PramRelease, Release, ReleasePlan
from maskwell.release.drawing import Chance
from maskwell.tables.encoded import EncodedTable


@dataclass(frozen=True)
class Limit:
    """``limit_identification`` and its parameters."""

    keys: list[str]
    xi: Any
    within: Any
    exempt: Any
    merge: bool
    together: str | None
    blocks: str | None = None
    block_size: int | None = None
    along: tuple[str, ...] = ()
    recoding: Any = None
    compare: bool = False
    """Whether to compare all ways of forming blocks."""


@dataclass(frozen=True)
class Steps:
    """``pram`` and its parameters."""

    columns: list[str]
    diagonal: Any
    least_diagonal: Any
    strata: list[str]
    exempt: list[Any]


@dataclass(frozen=True)
class Outcome:
    """What came of it. A dry run draws as well, to see what would happen, and throws the draws away."""

    plan: ReleasePlan
    release: Release | PramRelease
    rehearsed: bool = False
    """Whether the draws are thrown away."""
    redrawn: bool = False
    """Whether a stored plan was carried out with draws other than those of old."""
    compared: BlockComparison | None = None
    """Ways of forming blocks side by side, if that was asked for."""

    @property
    def recoded_file(self) -> Any:
        """The file with its columns recoded, if records move in such a one."""
        return self.release.setup.given if isinstance(self.release, Release) else None

    @property
    def seed(self) -> int | None:
        """The seed of the draws, or of the first step's, if there is one."""
        drawn = self.plan.draws()
        seed: int | None = (drawn[0] if isinstance(drawn, list) else drawn)["seed"]
        return seed

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that may change."""
        return self.release.moving


def limit(data: EncodedTable, asked: Limit, chance: Chance, dry_run: bool, show: Callable[[float], None]) -> Outcome:
    """Limit identification, or plan to; ``show`` is told the share of the blocks that have been formed."""
    from maskwell.release import compare_blocks
    from maskwell.release.identification.blocks.forming import DEFAULT_WAY
    from maskwell.release.identification.moves import carry_out
    from maskwell.release.identification.plan import plan_of
    from maskwell.release.identification.request import Options, read_request
    from maskwell.release.identification.setup import forming, prepare
    from maskwell.sampling.entropy import Source

    Source(*chance).check()
    same: Options = {
        "exempt": asked.exempt,
        "merge": "merge" if asked.merge else "suggest",
        "together": asked.together,
        "along": asked.along,
        "recoding": asked.recoding,
    }
    way = asked.blocks or DEFAULT_WAY
    request = read_request(asked.keys, asked.xi, asked.within, blocks=way, block_size=asked.block_size, **same)
    setup = prepare(data, request, forming(request, chance, show))
    compared = None
    if asked.compare:
        compared = compare_blocks(data, asked.keys, asked.xi, asked.within, **same, seed=chance.seed, show=show)
    plan = plan_of(setup)
    done = carry_out(setup, plan, chance)
    if dry_run:
        return Outcome(plan, done, rehearsed=True, compared=compared)
    _refuse_above_limit(done)
    return Outcome(done.plan, done, compared=compared)


def _refuse_above_limit(done: Release) -> None:
    if not done.audit.holds:
        raise CommandError("the exact audit of the release finds a risk above the limit, so nothing was written.")


def randomize(data: EncodedTable, asked: Steps, chance: Chance, dry_run: bool) -> Outcome:
    """Post-randomize."""
    from maskwell.release import pram

    done = pram(
        data,
        asked.columns if len(asked.columns) > 1 else asked.columns[0],
        diagonal=asked.diagonal,
        least_diagonal=asked.least_diagonal,
        strata=asked.strata or None,
        exempt=asked.exempt,
        key=chance.key,
        ids=chance.ids,
        seed=chance.seed,
    )
    return Outcome(done.plan, done, dry_run)


def plan_text(plan: ReleasePlan, dropped: Sequence[str]) -> str:
    """A plan as it is stored, with the columns that were left out of the file beside it."""
    text = plan.to_json()
    if not dropped:
        return text
    return json.dumps({**json.loads(text), _DROPPED: list(dropped)}, ensure_ascii=False)


def dropped_before(path: Path | None, there: Sequence[str]) -> list[str]:
    """Of the columns that are there, those that the release of a stored plan left out; its faults are told later."""
    try:
        stored = json.loads(read_whole(path, CommandError)).get(_DROPPED, []) if path is not None else []
    except (ValueError, AttributeError, RecursionError):
        return []
    if not isinstance(stored, list) or not all(isinstance(name, str) for name in stored):
        raise CommandError(f"{_DROPPED!r} in the plan must list the columns that were left out.")
    return [name for name in stored if name in there]


_DROPPED = "dropped"


def repeat(data: EncodedTable, path: Path, chance: Chance, dry_run: bool) -> Outcome:
    """Carry out a stored plan on the file that it was made for."""
    from maskwell.release.identification.plan import IdentificationPlan
    from maskwell.release.pram.plan import PramPlan

    try:
        plan = ReleasePlan.from_json(read_whole(path, CommandError))
    except MaskwellError as error:
        raise CommandError(f"{path.name!r}: {error}") from None
    drawn = plan.draws()
    kinds = {each["randomness"] for each in (drawn if isinstance(drawn, list) else [drawn])}
    if "keyed" in kinds and chance.key is None:
        raise CommandError("the plan was drawn with a key: give the same --key-file and --ids to repeat it.")
    if isinstance(plan, IdentificationPlan):
        needed = [*plan.request.moving, *plan.request.within, *plan.request.recoding.changing]
        data.native.require(needed, f"the plan {path.name!r}")
        done = plan.apply(data, key=chance.key, ids=chance.ids, seed=chance.seed)
        _refuse_above_limit(done)
        same = done.plan.randomness != "secure" and done.plan.draws() == drawn
        redrawn = not same and plan.randomness != "none"
        return Outcome(done.plan, done, dry_run, redrawn)
    if chance.seed is not None:
        raise CommandError("a plan of post-randomization repeats its own seeds; leave out --seed.")
    assert isinstance(plan, PramPlan)
    return Outcome(plan, plan.replay(data, key=chance.key, ids=chance.ids), dry_run)
