"""Several columns of many files into a folder of reports."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from maskwell.cli.shared.design_options import load_design
from maskwell.cli.shared.output import STANDARD, CommandError, check_output, emit_json, progress, say_written
from maskwell.designs import Design
from maskwell.designs.storage import about
from maskwell.input_files import read_whole
from maskwell.plain_text import visible
from maskwell.results.numbers import limit
from maskwell.sampling.entropy import MIN_KEY_BYTES
from maskwell.tables.labels import Label

_ENOUGH_ROWS = 10_000  # fewer tell how long starting takes


def named_designs(options: Sequence[str]) -> dict[str, Design]:
    """The designs of ``--design COLUMN=FILE``."""
    pairs = [option.partition("=") for option in options]
    for name, equals, file in pairs:
        if not (name and equals and file):
            raise CommandError(
                f"--design {name!r} names no column; write --design COLUMN=FILE for each column, or --column with one "
                "--design."
            )
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise CommandError("--design names a column twice; write it once.")
    return {name: load_design(file) for name, _, file in pairs}


def read_key(path: Path) -> bytes:
    """The key in a file."""
    key = read_whole(path, CommandError)
    if len(key) < MIN_KEY_BYTES:
        raise CommandError(
            f"--key-file {path.name!r} holds {len(key)} bytes, and a key has at least {MIN_KEY_BYTES}; make one with "
            "(umask 077; head -c 32 /dev/urandom > FILE), and keep it secret: whoever holds it can recover the true "
            "values."
        )
    return key


def _others(options: Sequence[str], designs: dict[str, Design]) -> dict[str, Label]:
    """The categories of ``--other COLUMN=LABEL``, as the designs have them."""
    others: dict[str, Label] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or name not in designs:
            raise CommandError(f"--other {option!r} names no masked column; write --other COLUMN=LABEL.")
        spelled = [label for label in designs[name].categories if str(label) == text]
        if not spelled:
            raise CommandError(
                f"--other {option!r} is no category of the design of {name!r}; add it to the list, and plan again."
            )
        others[name] = spelled[0]
    return others


def say_taken_for_true(columns: Sequence[str]) -> None:
    """Say what masking took its columns for, since answers that were masked already would be masked twice."""
    named = ", ".join(map(visible, columns))
    verb = "was" if len(columns) == 1 else "were"
    typer.echo(
        f"{named} {verb} taken for true answers; answers that people masked by hand are read with maskwell reports",
        err=True,
    )


def speed_of(rows: int, seconds: float) -> str:
    """How fast it went, where enough was masked to tell."""
    if rows < _ENOUGH_ROWS or seconds <= 0:
        return ""
    return f": {seconds:.1f} s, {rows / seconds / 1e6:.2f} million rows a second"


def warn_of_layers(designs: Iterable[Design]) -> None:
    """Say that a design of two layers is drawn here as one round."""
    if any(design.has_permanent_layer for design in designs):
        typer.echo(
            "maskwell: warning: a design of two layers is masked here as one round. Again without a key both layers "
            "are drawn afresh, which tells more every time; with one the same report comes again, and the second layer "
            "does nothing. For many rounds mask with mw.rounds.report or mw.rounds.Device.",
            err=True,
        )


def mask_tables(
    data: str,
    named: dict[str, Design],
    output: str,
    *,
    engine: str,
    key_file: Path | None,
    text: dict[str, str | None],
    json: bool,
    other: Sequence[str],
    **options: Any,
) -> None:
    """Mask files into parts of a folder, or one file into another, and say how fast."""
    from maskwell.engines import Masking, mask_file, mask_files
    from maskwell.planning.composition import compose
    from maskwell.reports.table_files import TABLE_SUFFIXES

    if STANDARD in (output, data):
        raise CommandError("several columns are masked from files into files; - takes one, with --column.")
    single = Path(output).suffix.lower() in TABLE_SUFFIXES
    if single:
        check_output(Path(output), [data])
    elif not Path(output).resolve().parent.is_dir():
        raise CommandError(f"there is no folder to make {output!r} in; create it first.")
    key = None if key_file is None else read_key(key_file)
    masking = Masking(named, key=key, other=_others(other, named), **options)
    warn_of_layers(named.values())
    with progress(f"masking {data}", 1) as show:
        outcome = (mask_file if single else mask_files)(data, output, masking, engine=engine, show=show, text=text)
    speed = outcome.rows / outcome.seconds if outcome.seconds else 0.0
    together = compose(named.values(), list(named))
    if json:
        emit_json(
            {
                "output": [output],
                **outcome.to_dict(),
                "rows_per_second": speed,
                "engine": engine,
                "randomness": "keyed" if masking.keyed else "secure",
                "epsilon": together.epsilon,
                "columns": {name: {"design": about(design)} for name, design in masking.designs.items()},
            }
        )
        return
    before = f", {outcome.skipped:,} were there already" if outcome.skipped else ""
    parts = "" if single else f" into {outcome.written:,} part{'s' * (outcome.written != 1)}"
    typer.echo(
        f"masked {outcome.rows:,} rows of {', '.join(map(visible, masking.designs))}{parts}{before}"
        f"{speed_of(outcome.rows, outcome.seconds)}"
    )
    if len(named) > 1:
        typer.echo(f"what the {len(named)} columns tell of one record together: epsilon {limit(together.epsilon)}")
    say_written([output])
    say_taken_for_true(list(masking.designs))
