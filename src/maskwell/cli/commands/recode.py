"""``maskwell recode``: make keys coarser, see what that does, and find the mildest way to reach a target."""

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
    ladders_from,
    recipe_from,
    share_from,
)
from maskwell.cli.shared.common_options import KEYS_OPTION, PopulationOption
from maskwell.cli.shared.design_options import number
from maskwell.cli.shared.file_options import FILE_HELP, DelimiterOption, EncodingOption, NaOption, names_from, spec_from
from maskwell.cli.shared.output import CommandError, JsonOption, check_output, emit_json, progress, say_written


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
            help="Search: the levels of a key from mild to coarse, age=width:2,5,10|any or area=file:areas.csv. "
            "Repeatable.",
        ),
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="Search for so many records of every combination.")] = None,
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
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The recoded file; its suffix decides the format.")
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="Write what was done (JSON), for maskwell release --recipe.")
    ] = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    json: JsonOption = False,
) -> None:
    """Make the keys of a file coarser, and say what each step does to risk and to information.

    With --recode, --top, --bottom and --suppress-below it does what they say. With --ladder it finds the mildest
    recoding that reaches a target: --k, --xi, --uniques, --matches, --tau1, --tau2, or several of them; for --k and
    --xi it sets keys of at most --suppress-most of the records missing as its last step. A recoded file is not a
    release: maskwell release takes the same options, recodes, and then moves what is still rare.

    \b
    Examples:
      maskwell recode persons.csv --keys sex,age,area --recode age=width:5 --top age=90 --suppress-below 3
      maskwell recode persons.csv --keys sex,age,area --recode area=file:areas.csv:2 -o coarser.csv
      maskwell recode persons.csv --keys sex,age,area --ladder 'age=width:2,5,10|any' --ladder area=file:areas.csv \\
        --xi 0.1 --suppress-most 0.01 --recipe recipe.json
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
        file = read(data, delimiter=delimiter, encoding=encoding, na=na or [])
        file.require(names, "keys")
        show(1)
        if ladder:
            if recode or top or bottom or suppress_below:
                raise CommandError("--ladder searches; leave out --recode, --top, --bottom and --suppress-below.")
            if not asked:
                raise CommandError("--ladder needs a target: --k, --xi, --uniques, --matches, --tau1 or --tau2.")
            figures: dict[str, Any] = {
                name: number(value, f"--{name}") if isinstance(value, str) else value for name, value in asked.items()
            }
            found: Any = search_recoding(
                file,
                names,
                ladders_from(ladder),
                suppress=share_from(suppress_most, 0.0),
                within=spec_from(within, encoded(file), "--within"),
                population_size=population,
                show=lambda share: show(1 + share),
                **figures,
            )
            made = found.recoded
        else:
            if asked and set(asked) != {"k"}:
                raise CommandError("a target needs --ladder, the levels of the keys that may be recoded.")
            asked_for = recipe_from(recode, top, bottom, names, suppress_below, suppress_most)
            file.require(list(asked_for.columns), "recode")
            found = made = recode_table(file, names, asked_for, k=k, population_size=population)
        show(2)
        _write(made, output, recipe)
    written = [str(path) for path in (recipe, output) if path is not None]
    if json:
        emit_json(found.to_dict() | {"output": written})
        return
    typer.echo(found.summary())
    say_written(written)


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
