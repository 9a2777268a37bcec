"""``maskwell release``: from a microdata file and a limit to a file that may be given away."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from maskwell.cli.exit_codes import WOULD_STOP
from maskwell.cli.releasing.recoding import (
    BottomOption,
    RecodeOption,
    SuppressBelowOption,
    SuppressMostOption,
    TopOption,
    recipe_from,
)
from maskwell.cli.shared.common_options import KEYS_OPTION, IdsOption, KeyFileOption
from maskwell.cli.shared.design_options import number
from maskwell.cli.shared.file_options import (
    FILE_HELP,
    DelimiterOption,
    EncodingOption,
    NaOption,
    UserMissingOption,
    declared_missing,
    names_from,
    spec_from,
)
from maskwell.cli.shared.output import CommandError, JsonOption, check_output, emit_json, progress
from maskwell.input_files import read_whole
from maskwell.plain_text import visible
from maskwell.tables.encoded import EncodedTable, encoded


def release(
    data: Annotated[Path, typer.Argument(help=FILE_HELP)],
    keys: Annotated[str | None, KEYS_OPTION] = None,
    xi: Annotated[
        str | None, typer.Option("--xi", help="The largest chance that a match by the keys may be right.")
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            "--within",
            help="What no record may leave: sex, age=18,65 (where intervals start), or race=white|black,asian "
            "(groups). Numbers are cut as they are before --recode. Repeatable.",
        ),
    ] = None,
    exempt: Annotated[
        list[str] | None,
        typer.Option("--exempt", help="A key that must not change, or some of its categories: race=white|black."),
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Join sets that are too small to protect their records with the nearest.")
    ] = False,
    together: Annotated[
        str | None, typer.Option("--together", help="The column of households or groups that move as one.")
    ] = None,
    blocks: Annotated[
        str | None,
        typer.Option(
            "--blocks",
            help="Which rare combinations exchange their records; the limit holds for each. whole: all of a set. "
            "random: a few at random, against those who use the counts of all cells. staying: a few whose records are "
            "alike, against those who know a column beside the keys. profile: a few whose keys go with the same values "
            "of other columns, against those who look for records that do not go with their keys. mixed: alike in "
            "both and in the keys.",
        ),
    ] = None,
    block_size: Annotated[
        int | None,
        typer.Option(
            "--block-size", help="About how many combinations a small block has: 3, or more if --xi needs it."
        ),
    ] = None,
    compare_blocks: Annotated[
        bool,
        typer.Option(
            "--compare-blocks",
            help="Try every way of forming blocks on this file, attack each trial, and show how they compare, on the "
            "internal report too. With --dry-run, before you choose.",
        ),
    ] = False,
    pram: Annotated[
        str | None, typer.Option("--pram", help="Instead of --keys: post-randomize these columns, as one.")
    ] = None,
    diagonal: Annotated[str | None, typer.Option("--diagonal", help="With --pram, the chance of staying.")] = None,
    least_diagonal: Annotated[
        str | None, typer.Option("--least-diagonal", help="With --pram, the least chance of staying.")
    ] = None,
    strata: Annotated[
        str | None, typer.Option("--strata", help="With --pram, columns within which frequencies are kept.")
    ] = None,
    recode: RecodeOption = None,
    top: TopOption = None,
    bottom: BottomOption = None,
    suppress_below: SuppressBelowOption = None,
    suppress_most: SuppressMostOption = None,
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="Recode as a file of maskwell recode --recipe says.")
    ] = None,
    drop: Annotated[str | None, typer.Option("--drop", help="Columns to leave out of the released file.")] = None,
    along: Annotated[
        str | None, typer.Option("--along", help="Columns that are not keys and move with them, by commas.")
    ] = None,
    accept: Annotated[
        str | None,
        typer.Option("--accept", help="Columns to leave in although they show who moved, which stops a release."),
    ] = None,
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Leave the rows in their order, which may tell who was moved.")
    ] = False,
    replay: Annotated[
        Path | None, typer.Option("--replay", help="Instead of either: carry out this plan again on its file.")
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="The released file; its suffix decides the format. Repeatable: one draw, many formats.",
        ),
    ] = None,
    plan: Annotated[Path | None, typer.Option("--plan", help="Write the plan (JSON). Keep it secret.")] = None,
    internal: Annotated[Path | None, typer.Option("--internal", help="Write a report (HTML) for yourself.")] = None,
    external: Annotated[
        Path | None, typer.Option("--external", help="Write a report (HTML) for users of the released file.")
    ] = None,
    publish_limit: Annotated[
        bool, typer.Option("--publish-limit", help="State the limit in the report for users.")
    ] = False,
    variance: Annotated[
        list[str] | None,
        typer.Option("--variance", help="Columns of a table whose added variance is reported: sex,age. Repeatable."),
    ] = None,
    key_file: KeyFileOption = None,
    ids: IdsOption = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="For simulations only: whoever knows the seed can undo the release.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; write nothing but the plan, if asked for.")
    ] = False,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    user_missing: UserMissingOption = False,
    json: JsonOption = False,
) -> None:
    """Release a microdata file in which a match by the keys is right with no more than a given chance.

    Records with a rare combination of keys are moved among each other, within what --within names; everything else
    stays as it was: columns, labels, codes, formats. The limit is about those who know the keys. What somebody with the
    released file alone finds out by comparing keys with the other columns is tried and stated beside it, and a column
    that decides a key stops the release unless you drop it, move it along or accept it. The rows are put in random
    order, as a record out of its place would tell that it was moved. The plan and the internal report are for the
    custodian alone. With --recode, --top, --bottom, --suppress-below or a --recipe, keys are made coarser first, and
    everything else is about the recoded file; maskwell recode tries and finds recodings. A --dry-run of a release that
    would stop has the exit code 3 (and "would_stop" in --json).

    \b
    Examples:
      maskwell risk persons.dta --keys sex,age,area
      maskwell release persons.dta --keys sex,age,area --xi 0.5 --within sex --within age=18,65 --dry-run
      maskwell release persons.dta --keys sex,age,area --xi 0.5 --within sex --within age=18,65 \\
        -o released.dta --plan plan.json --internal internal.html --external external.html
      maskwell release persons.dta --keys sex,age,area --xi 0.5 --within sex --dry-run --compare-blocks
      maskwell release persons.dta --keys sex,age,area --xi 0.1 --recode age=width:5 --top age=90 --dry-run
      maskwell release persons.sav --keys sex,age,area --xi 0.5 --within sex -o released.sav -o released.dta
      maskwell release persons.csv --pram area --diagonal 0.9 --strata sex -o released.csv
      maskwell release persons.dta --replay plan.json --key-file secret.key --ids person -o again.dta
    """
    from maskwell.cli.releasing.methods import dropped_before, limit, randomize, repeat
    from maskwell.cli.releasing.output import as_json, as_text
    from maskwell.cli.releasing.stops import look
    from maskwell.microdata import read
    from maskwell.microdata.labelled.code_gaps import gap_warnings
    from maskwell.release.recoding.recipe import apply

    outputs, targets = output or [], {"--plan": plan, "--internal": internal, "--external": external}
    inputs = [str(path) for path in (data, replay, key_file, recipe) if path is not None]
    _check_files(outputs, targets, inputs, dry_run, publish_limit)
    method = _method(
        {"--keys": keys, "--xi": xi, "--within": within, "--merge": merge or None, "--together": together}
        | {
            "--blocks": blocks,
            "--block-size": block_size,
            "--compare-blocks": compare_blocks or None,
            "--along": along,
            "--recode": recode,
            "--top": top,
            "--bottom": bottom,
            "--suppress-below": suppress_below,
            "--suppress-most": suppress_most,
            "--recipe": recipe,
        },
        {"--pram": pram, "--diagonal": diagonal, "--least-diagonal": least_diagonal, "--strata": strata},
        {"--replay": replay},
    )
    with progress(f"releasing {data.name}", _STAGES) as show:
        file = read(data, delimiter=delimiter, encoding=encoding, na=na or [], user_missing=user_missing)
        show(1)
        chance = _chance(file, key_file, ids, seed)
        left_out = list(dict.fromkeys([*names_from(drop), *dropped_before(replay, file.names)]))
        file.require(left_out, "drop")
        used = [name for names in (keys, pram, strata, along) for name in names_from(names)]
        _refuse_needed(left_out, [*used, together])
        file = file.without(left_out)
        columns = encoded(file)
        recoding = recipe_from(recode, top, bottom, names_from(keys), suppress_below, suppress_most, recipe)
        file.require(list(recoding.changing), "recode")
        coarser = apply(recoding, columns).after
        file.require(names_from(accept), "accept")
        tables = [spec_from([text], coarser, "--variance") for text in variance or ()]
        if method == "--keys":
            asked = _limit((columns, coarser), keys, xi, (within, exempt), merge, together)
            file.require(names_from(along), "along")
            formed = {"blocks": blocks, "block_size": block_size, "compare": compare_blocks}
            asked = replace(asked, **formed, along=tuple(names_from(along)), recoding=recoding)
            done = limit(columns, asked, chance, dry_run, lambda share: show(1 + share))
        elif method == "--pram":
            done = randomize(
                columns, _steps(columns, pram, (diagonal, least_diagonal), strata, exempt), chance, dry_run
            )
        else:
            done = repeat(columns, _only_replay(replay, exempt), chance, dry_run)
        show(2)
        said = declared_missing(file, used)
        file = done.recoded_file or file
        # Before anything is written: what cannot be computed, or gives people away, must not leave a file.
        found = look(done, names_from(accept), keep_order)
        if found.stops and not dry_run:
            raise CommandError(f"{found.how_to_go_on()} Nothing was written.")
        written = [str(path) for path in (*outputs, *targets.values()) if path is not None]
        figures = as_json(file, done, tables, written, found) if json else {}
        text = "" if json else as_text(file, done, tables, written, found)
        again = [name for name in left_out if name not in names_from(drop)]
        text = "\n".join([*map(visible, said), text])
        text += f"\nleft out, as the plan says: {', '.join(again)}" if again and not json else ""
        show(3)
        released = None if dry_run else _reordered(file, done, chance, keep_order)
        gaps = [] if released is None else gap_warnings(file, released)
        _write(released, done, left_out, outputs, targets, tables, publish_limit, keep_order, gaps)
    if json:
        emit_json(figures)
    else:
        typer.echo(text)
    if found.stops and dry_run:
        raise typer.Exit(WOULD_STOP)


def _check_files(
    outputs: Sequence[Path], targets: dict[str, Path | None], inputs: list[str], dry_run: bool, publish_limit: bool
) -> None:
    """Before any work: what is to be written where."""
    from maskwell.microdata.files import suffix_of

    if dry_run and (outputs or any(path for option, path in targets.items() if option != "--plan")):
        raise CommandError("--dry-run writes nothing but --plan; leave out -o, --internal and --external.")
    if not dry_run and not outputs:
        raise CommandError("-o must name the released file; --dry-run says what would be done.")
    if publish_limit and targets["--external"] is None:
        raise CommandError("--publish-limit is about the report for users; give --external FILE with it.")
    for output in outputs:
        suffix_of(output)
    paths = [path for path in (*outputs, *targets.values()) if path is not None]
    for path in paths:
        check_output(path, inputs)
    if len({path.resolve() for path in paths}) < len(paths):
        raise CommandError("two outputs have one name; give each its own.")


def _refuse_needed(dropped: Sequence[str], used: Sequence[str | None]) -> None:
    needed = [name for name in dropped if name in used]
    if needed:
        raise CommandError(f"--drop leaves out {needed[0]!r}, which another option names; leave it in.")


def _method(*options: dict[str, Any]) -> str:
    """The first option of the one family that was used, which all need."""
    used = [family for family in options if any(value is not None and value != [] for value in family.values())]
    if len(used) != 1 or used[0][next(iter(used[0]))] is None:
        raise CommandError(
            "say how to release: --keys with --xi to limit identification, --pram with --diagonal to post-randomize, "
            "or --replay with a plan; one of them."
        )
    first = next(iter(used[0]))
    if first == "--keys" and used[0]["--xi"] is None:
        raise CommandError("--keys needs --xi, the largest chance that a match may be right, such as --xi 0.5.")
    if first == "--pram" and used[0]["--diagonal"] is None and used[0]["--least-diagonal"] is None:
        raise CommandError("--pram needs --diagonal or --least-diagonal, the chance of staying, such as 0.9.")
    return first


def _chance(file: Any, key_file: Path | None, ids: str | None, seed: int | None) -> Any:
    from maskwell.release.drawing import Chance

    if (key_file is None) != (ids is None):
        raise CommandError("--key-file and --ids go together: give both, or neither.")
    if key_file is None or ids is None:
        return Chance(seed=seed)
    file.require([ids], "ids")
    return Chance(read_whole(key_file, CommandError), file.values(ids), seed)


def _limit(
    tables: tuple[EncodedTable, EncodedTable],
    keys: str | None,
    xi: str | None,
    cuts: tuple[Any, Any],
    merge: bool,
    together: str | None,
) -> Any:
    """What is asked of a table, before and after it was recoded."""
    from maskwell.cli.releasing.methods import Limit

    columns, (within, exempt), (before, table) = names_from(keys), cuts, tables
    table.native.require(columns, "keys")
    table.native.require([together] if together else [], "together")
    spared = spec_from(exempt, table, "--exempt", grouped=False)
    kept = spec_from(within, table, "--within", before=before)
    return Limit(columns, number(xi or "", "--xi"), kept, spared, merge, together)


def _steps(
    table: EncodedTable, pram: str | None, staying: Sequence[str | None], strata: str | None, exempt: Any
) -> Any:
    from maskwell.cli.releasing.methods import Steps

    columns, by = names_from(pram), names_from(strata)
    table.native.require(columns, "pram")
    table.native.require(by, "strata")
    spared = spec_from(exempt, table, "--exempt", grouped=False) or {}
    if spared and (list(spared) != columns or spared[columns[0]] is None):
        raise CommandError("with --pram, --exempt lists categories of its one column: --exempt area=north|south.")
    diagonal, least = (None if text is None else number(text, "--diagonal") for text in staying)
    return Steps(columns, diagonal, least, by, [label for labels in spared.values() for label in labels])


def _only_replay(replay: Path | None, exempt: list[str] | None) -> Path:
    if exempt:
        raise CommandError("--replay repeats a plan as it is; leave out --exempt.")
    assert replay is not None
    return replay


def _reordered(file: Any, done: Any, chance: Any, keep_order: bool) -> Any:
    """The released file, its rows in random order unless they are to stay."""
    import pyarrow as pa

    from maskwell.release.rows import random_order

    table = done.release.table
    if not keep_order:
        table = table.take(pa.array(random_order(len(table), chance.key, chance.ids, done.seed)))
    return file.with_table(table)


def _write(
    released: Any,
    done: Any,
    left_out: Sequence[str],
    outputs: Sequence[Path],
    targets: dict[str, Path | None],
    tables: Sequence[Any],
    publish_limit: bool,
    keep_order: bool,
    file_warnings: Sequence[str],
) -> None:
    """All files or none: each is complete under another name before the first is moved into place."""
    from maskwell.cli.releasing.methods import plan_text
    from maskwell.microdata import write_to
    from maskwell.views.pages.release import external_page, internal_page
    from maskwell.whole_files import complete_files

    def text(content: Callable[[], str]) -> Callable[[BinaryIO], object]:
        return lambda file: file.write(content().encode())

    jobs: dict[str, Callable[[BinaryIO], object]] = {
        "--plan": text(lambda: plan_text(done.plan, left_out)),
        "--internal": text(
            lambda: internal_page(
                done.release,
                of=tables,
                rows_in_order=keep_order,
                file_warnings=file_warnings,
                compared=done.compared,
            )
        ),
        "--external": text(lambda: external_page(done.release, publish_limit=publish_limit, of=tables)),
    }
    wanted = [(path, job) for option, job in jobs.items() if (path := targets[option]) is not None]
    # Last, so that the released file is there only if everything else is.
    wanted += [(path, partial(write_to, released, name=str(path))) for path in outputs]
    private = [path for option in ("--plan", "--internal") if (path := targets[option]) is not None]
    try:
        with complete_files([path for path, _ in wanted], private) as files:
            for (_, job), file in zip(wanted, files, strict=True):
                job(file)
    except OSError as error:
        name = Path(error.filename).name if error.filename else "an output"
        raise CommandError(f"{name!r} could not be written: {error.strerror or error}; nothing was written.") from None


_STAGES = 4
