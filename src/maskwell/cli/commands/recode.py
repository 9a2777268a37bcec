"""``maskwell recode``: make keys coarser, see what that does, and find the mildest way to reach a target."""

from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from maskwell.cli.releasing.recoding import (
    BottomOption,
    RecodeOption,
    SuppressBelowOption,
    SuppressMostOption,
    TopOption,
    columns_from,
    ladders_from,
    recipe_from,
    share_from,
)
from maskwell.cli.shared.common_options import KEYS_OPTION, PopulationOption, WeightsOption
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
from maskwell.cli.shared.output import CommandError, JsonOption, check_output, emit_json, progress, say_written
from maskwell.plain_text import visible_lines


def recode(
    data: Annotated[Path, typer.Argument(help=FILE_HELP)],
    keys: Annotated[str, KEYS_OPTION],
    recode: RecodeOption = None,
    top: TopOption = None,
    bottom: BottomOption = None,
    suppress_below: SuppressBelowOption = None,
    suppress_most: SuppressMostOption = None,
    ladder: Annotated[
        list[str] | None,
        typer.Option(
            "--ladder",
            help="Search: the levels of a key from mild to coarse, separated by |: 'age=width:5,10;top=85|any', "
            "'job=merge:office=1,2|field=3,4|any' or area=file:areas.csv. Repeatable.",
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "--k", help="With --ladder, search for so many records of every combination; without, what to count below."
        ),
    ] = None,
    xi: Annotated[
        str | None, typer.Option("--xi", help="Search for keys by which maskwell release can hold this limit.")
    ] = None,
    within: Annotated[
        list[str] | None, typer.Option("--within", help="With --xi: what no record may leave. Repeatable.")
    ] = None,
    uniques: Annotated[int | None, typer.Option("--uniques", help="Search for at most so many uniques.")] = None,
    matches: Annotated[
        int | None, typer.Option("--matches", help="Search for at most so many right matches to expect in the file.")
    ] = None,
    tau1: Annotated[str | None, typer.Option("--tau1", help="Search for a tau1 of at most this.")] = None,
    tau2: Annotated[str | None, typer.Option("--tau2", help="Search for a tau2 of at most this.")] = None,
    population: PopulationOption = None,
    weights: WeightsOption = None,
    importance: Annotated[
        list[str] | None,
        typer.Option("--importance", help="Search: how much a key counts, 1 unless said: age=3. Repeatable."),
    ] = None,
    spare: Annotated[
        str | None,
        typer.Option("--spare", help="Keys that lose values last when the last few are suppressed, by commas."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The recoded file; its suffix decides the format.")
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="Write what was done (JSON), for maskwell release --recipe.")
    ] = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    user_missing: UserMissingOption = False,
    json: JsonOption = False,
) -> None:
    """Make the keys of a file coarser, and say what each step does to risk and to information.

    With --recode, --top, --bottom and --suppress-below it does what they say. With --ladder it finds the mildest
    recoding that reaches a target: --k, --xi, --uniques, --matches, --tau1, --tau2 (with --population or --weights), or
    several of them, and lists the next best; for --k and --xi it sets keys of at most --suppress-most of the records
    missing as its last step. What --recode, --top and --bottom say is then done first. The mildest loses least of the
    keys' entropy, so that a key of many values goes first: --importance age=3 spares one. Missing values stay missing,
    unless a level takes them in (any:missing, or merge:unknown=(missing),9). A recoded file is not a release: maskwell
    release takes the same options, recodes, and then moves what is still rare.

    \b
    Examples:
      maskwell recode persons.csv --keys sex,age,area --recode age=width:5 --top age=90 --suppress-below 3
      maskwell recode persons.csv --keys sex,age,area --recode area=file:areas.csv:2 -o coarser.csv
      maskwell recode persons.csv --keys sex,age,area --ladder 'age=width:5,10,20|any' --ladder area=file:areas.csv \\
        --xi 0.1 --suppress-most 0.01 --recipe recipe.json
      maskwell recode persons.csv --keys sex,age,job --top age=85 --ladder 'age=width:5,10|any' \\
        --ladder 'job=merge:office=clerk,nurse|field=cook,farmer|any' --tau2 5 --weights weight --importance age=3
      maskwell release persons.csv --keys sex,age,area --xi 0.1 --recipe recipe.json --dry-run
    """
    from maskwell.microdata import read
    from maskwell.release import recode as recode_table
    from maskwell.release import search_recoding
    from maskwell.tables.encoded import encoded

    for path in (output, recipe):
        if path is not None:
            check_output(path, [str(data)])
    names = names_from(keys)
    targets = {"k": k, "xi": xi, "uniques": uniques, "matches": matches, "tau1": tau1, "tau2": tau2}
    asked = {name: value for name, value in targets.items() if value is not None}
    with progress(f"recoding {data.name}", 2) as show:
        file = read(data, delimiter=delimiter, encoding=encoding, na=na or [], user_missing=user_missing)
        file.require(names, "keys")
        show(1)
        if ladder:
            if suppress_below:
                raise CommandError("--ladder finds below how many to suppress; leave out --suppress-below.")
            if not asked:
                raise CommandError("--ladder needs a target: --k, --xi, --uniques, --matches, --tau1 or --tau2.")
            figures: dict[str, Any] = {
                name: number(value, f"--{name}") if isinstance(value, str) else value for name, value in asked.items()
            }
            first = columns_from(recode, top, bottom)
            file.require(list(first), "recode")
            found: Any = search_recoding(
                file,
                names,
                ladders_from(ladder, first),
                suppress=share_from(suppress_most, 0.0),
                keep=names_from(spare),
                recoding=first,
                importance=_importance(importance),
                within=spec_from(within, encoded(file), "--within"),
                population_size=population,
                weights=weights,
                show=lambda share: show(1 + share),
                **figures,
            )
            made = found.recoded
        else:
            if asked and set(asked) != {"k"}:
                raise CommandError("a target needs --ladder, the levels of the keys that may be recoded.")
            if importance:
                raise CommandError("--importance is about a search; give --ladder.")
            asked_for = recipe_from(recode, top, bottom, names, suppress_below, suppress_most)
            asked_for = _keeping(asked_for, names_from(spare), names)
            file.require(list(asked_for.columns), "recode")
            found = made = recode_table(file, names, asked_for, k=k, population_size=population, weights=weights)
        show(2)
        _write(made, output, recipe)
    written = [str(path) for path in (recipe, output) if path is not None]
    if json:
        emit_json(found.to_dict() | {"output": written})
        return
    typer.echo(visible_lines([*declared_missing(file, names), *found.summary().splitlines()]))
    say_written(written)


def _importance(texts: list[str] | None) -> dict[str, float]:
    found = {}
    for text in texts or ():
        name, equals, value = text.rpartition("=")
        if not equals:
            raise CommandError(f"--importance {text!r}: write for example age=3.")
        found[name.strip()] = float(number(value, "--importance"))
    return found


def _keeping(recipe: Any, keep: list[str], keys: list[str]) -> Any:
    """The recipe, whose last step spares these keys."""
    if not keep:
        return recipe
    if recipe.suppression is None:
        raise CommandError("--spare goes with --suppress-below, or with --ladder and --suppress-most.")
    unknown = [name for name in keep if name not in keys]
    if unknown:
        raise CommandError(f"--spare names {unknown[0]!r}, which is no key.")
    return replace(recipe, suppression=replace(recipe.suppression, keep=tuple(keep)))


def _write(made: Any, output: Path | None, recipe: Path | None) -> None:
    from maskwell.microdata import write_to
    from maskwell.whole_files import complete_files

    def text(file: BinaryIO) -> None:
        file.write((dumps(made.recipe.to_dict(), ensure_ascii=False, indent=1) + "\n").encode())

    wanted = [path for path in (recipe, output) if path is not None]
    with complete_files(wanted, []) as files:
        for path, file in zip(wanted, files, strict=True):
            if path == output:
                write_to(made.table, file, str(path))
            else:
                text(file)
