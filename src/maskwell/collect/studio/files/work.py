"""What is done with a file: its columns, its risk, and a release with everything that belongs to it."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from maskwell.collect.studio.files.upload import Upload, as_bytes
from maskwell.errors import DataError

_MOST_PEOPLE = 10**11


def columns(upload: Upload) -> dict[str, Any]:
    """The columns of a file, each with how many values it has."""
    file = upload.opened()
    counts = [len(file.values(name).unique()) for name in file.names]
    return {"records": len(file.table), "columns": list(map(list, zip(file.names, counts, strict=True)))}


def risk(upload: Upload) -> dict[str, Any]:
    """How easily people in the file are picked out, with a report to keep."""
    from maskwell.risk import assess
    from maskwell.views.pages.risk import risk_page

    file, keys = upload.opened(), _names(upload, "keys")
    _refuse_none(keys)
    file.require(keys, "keys")
    people = upload.options.get("population")
    if people is not None and not (type(people) is int and len(file.table) <= people <= _MOST_PEOPLE):
        raise DataError("population must be a whole number, and no smaller than the number of records.")
    report = assess(file.table.select(keys), keys, population_size=people)
    figures: list[list[Any]] = [
        ["records alone with their keys", report.sample_uniques],
        ["records in the smallest group of the same keys", report.k],
        ["correct matches to expect if every record is matched", report.individual_matches],
    ]
    if report.tau1 is not None and report.tau2 is not None:
        figures += [["of those alone, alone in the population (tau1)", report.tau1]]
        figures += [["correct matches with those alone (tau2)", report.tau2]]
    return {"figures": figures, "files": {"risk.html": _encoded(risk_page(report).encode())}}


def release(upload: Upload) -> dict[str, Any]:
    """The released file, its plan and its two reports; or the columns because of which nothing is released."""
    from maskwell.microdata.labelled.code_gaps import gap_warnings
    from maskwell.release import limit_identification
    from maskwell.release.attack.disclosures import combinations_nobody_had, disclosures
    from maskwell.release.attack.intruders import limit_in_words
    from maskwell.release.rows import random_order
    from maskwell.tables.encoded import encoded
    from maskwell.views.pages.release import external_page, internal_page

    keys, along, accepted, dropped = (_names(upload, name) for name in ("keys", "along", "accept", "drop"))
    _refuse_none(keys)
    original = upload.opened()
    within = _within(upload.options.get("within", {}))
    for names, parameter in ((keys, "keys"), (list(within), "within"), (along, "along"), (accepted, "accept")):
        original.require(names, parameter)
    file = original.without(dropped)
    limit: Any = _xi(upload.options.get("xi"))
    seed = _seed(upload)
    done = limit_identification(encoded(file), keys=keys, xi=limit, within=within or None, along=along, seed=seed)
    if not done.audit.holds:
        raise DataError("the exact audit of the release finds a risk above the limit, so there is no released file.")
    found = disclosures(done, rows_in_order=False)
    figures = _figures(done)
    if stops := found.not_accepted(accepted):
        return {"stops": stops, "why": _why(found, accepted), "figures": figures, "files": {}}
    table = done.table.take(random_order(len(done.table), None, None, done.plan.seed))
    released = file.with_table(table)
    gaps = gap_warnings(file, released)
    internal = internal_page(done, rows_in_order=False, file_warnings=gaps)
    return {
        "stops": [],
        "verdict": limit_in_words(done),
        "warnings": [*found.warnings(), *combinations_nobody_had(done), *gaps],
        "figures": figures,
        "files": {
            f"released{upload.suffix}": _encoded(as_bytes(released, upload.suffix)),
            "external.html": _encoded(external_page(done).encode()),
            "internal.html": _encoded(internal.encode()),
            "plan.json": _encoded(done.plan.to_json().encode()),
        },
    }


def _figures(done: Any) -> list[list[Any]]:
    """The risk before and after, line by line."""
    matches, audit = done.comparison().matches, done.audit
    return [
        ["largest chance that a match by the keys is right", float(audit.before), audit.risk],
        ["correct matches to expect if every record is matched", matches.correct_before, matches.correct_after],
        ["records alone with their keys", matches.before.sample_uniques, matches.after.sample_uniques],
        ["records that changed", 0, done.changed_records],
    ]


def _why(found: Any, accepted: Sequence[str]) -> str:
    try:
        found.refuse(accepted)
    except DataError as error:
        return str(error)
    return ""


def _refuse_none(keys: Sequence[str]) -> None:
    if not keys:
        raise DataError("choose the columns that somebody may know of a person: the keys.")


def _names(upload: Upload, name: str) -> list[str]:
    names = upload.options.get(name, [])
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise DataError(f"{name} must be a list of columns.")
    return names


def _xi(given: Any) -> Fraction:
    try:
        return Fraction(given) if isinstance(given, str) and len(given) < 20 else Fraction("no")
    except (ValueError, ZeroDivisionError):
        raise DataError("the largest chance that a match may be right must be a number such as 0.5 or 1/2.") from None


def _within(given: Any) -> dict[str, list[float] | None]:
    """Columns that no record leaves, or groups between cut points of them."""
    if not isinstance(given, Mapping):
        raise DataError("within must name columns.")
    return {str(name): _cuts(str(name), cuts) if cuts else None for name, cuts in given.items()}


def _cuts(name: str, text: Any) -> list[float]:
    try:
        numbers = [float(part) for part in str(text).split(",")]
    except ValueError:
        raise DataError(f"the cut points of {name!r} must be numbers with commas between them: 18, 65.") from None
    return [int(number) if number == int(number) else number for number in numbers]


def _seed(upload: Upload) -> int | None:
    seed = upload.options.get("seed")
    if seed is not None and type(seed) is not int:
        raise DataError("seed must be a whole number; leave it out for a real release.")
    return seed


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()
