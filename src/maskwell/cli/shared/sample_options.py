"""The options of every command that takes a sample: how its people were drawn, from columns beside the reports."""

import functools
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskwell.cli.shared.file_options import names_from
from maskwell.cli.shared.output import CommandError
from maskwell.input_files import read_whole
from maskwell.plain_text import among

if TYPE_CHECKING:
    from maskwell.inference.sample.sample import Sample
    from maskwell.reports import Reports
    from maskwell.reports.kept_columns import KeptColumns

_MAGIC = "*?["


@dataclass(frozen=True)
class SampleOptions:
    """What was said about the sample; columns are those that ``maskwell mask --keep`` left beside the reports."""

    weights: Annotated[
        str | None, typer.Option("--weights", help="The column of sampling weights.", metavar="COLUMN")
    ] = None
    strata: Annotated[
        str | None,
        typer.Option("--strata", help="The column of strata; one per stage, separated by commas.", metavar="COLUMNS"),
    ] = None
    clusters: Annotated[
        str | None,
        typer.Option(
            "--clusters", help="The column of clusters; one per stage, separated by commas.", metavar="COLUMNS"
        ),
    ] = None
    fpc: Annotated[
        str | None,
        typer.Option(
            "--fpc",
            help="How many clusters (or people, if there are none) there are in the population of the stratum: a "
            "column, one per stage, or a number.",
            metavar="COLUMNS",
        ),
    ] = None
    replicate_weights: Annotated[
        str | None,
        typer.Option(
            "--replicate-weights",
            help="Columns of replicate weights, separated by commas or as a pattern: 'rw*'.",
            metavar="COLUMNS",
        ),
    ] = None
    replicate_method: Annotated[
        str | None,
        typer.Option(
            "--replicate-method",
            help="jk1, jkn, brr, fay or bootstrap: that of --replicate-weights; without them replicates are made from "
            "strata and clusters.",
            metavar="METHOD",
        ),
    ] = None
    replicate_scales: Annotated[
        str | None,
        typer.Option(
            "--replicate-scales",
            help="The factor of each replicate's squared difference, separated by commas; jkn needs them.",
            metavar="NUMBERS",
        ),
    ] = None
    fay: Annotated[float | None, typer.Option("--fay", help="Fay's factor, from 0 to below 1.")] = None
    replicates: Annotated[int, typer.Option("--replicates", help="How many replicates a bootstrap makes.", min=2)] = 500
    lonely: Annotated[
        str,
        typer.Option(
            "--lonely", help="Strata with a single cluster: refuse, adjust, average or certainty.", metavar="RULE"
        ),
    ] = "refuse"
    margins: Annotated[
        Path | None,
        typer.Option(
            "--margins",
            help='A JSON file of known totals to calibrate to: {"sex": {"f": 5200, "m": 4800}}; several margins rake.',
        ),
    ] = None

    @property
    def given(self) -> bool:
        """Whether anything was said."""
        return any(getattr(self, field.name) != field.default for field in fields(self))

    def columns(self, available: Sequence[str]) -> list[str]:
        """The columns that are needed, of those that there are."""
        named = [*names_from(self.weights), *names_from(self.strata), *names_from(self.clusters)]
        if self.fpc is not None and _number(self.fpc, available) is None:
            named += names_from(self.fpc)
        named += [*self._replicate_columns(available), *self._known_totals()]
        for name in named:
            if name not in available:
                has = among(name, available) if available else "no column was kept beside the reports"
                raise CommandError(f"there is no column {name!r} beside the reports: {has}.")
        return list(dict.fromkeys(named))

    def _replicate_columns(self, available: Sequence[str]) -> list[str]:
        found: list[str] = []
        for name in names_from(self.replicate_weights):
            if name in available or not any(sign in name for sign in _MAGIC):
                found.append(name)
                continue
            matching = [column for column in available if fnmatchcase(column, name)]
            if not matching:
                raise CommandError(f"--replicate-weights {name!r} matches no column beside the reports.")
            found += matching
        return found

    def _known_totals(self) -> dict[str, dict[str, float]]:
        if self.margins is None:
            return {}
        try:
            found = json.loads(read_whole(self.margins, CommandError))
        except (ValueError, RecursionError):
            raise CommandError(f"--margins {self.margins.name!r} is not JSON.") from None
        if not isinstance(found, dict) or not all(isinstance(totals, dict) for totals in found.values()):
            raise CommandError('--margins must hold totals by variable: {"sex": {"f": 5200, "m": 4800}}.')
        return found

    def sample(self, table: Any, seed: int | None = None) -> "Sample":
        """The sample that the columns of this table describe."""
        from maskwell.inference.sample.sample import Sample

        names = table.column_names
        listed = {name: names_from(getattr(self, name)) or None for name in ("strata", "clusters")}
        given = self._replicate_columns(names)
        fpc: Any = None
        if self.fpc is not None:
            size = _number(self.fpc, names)
            fpc = names_from(self.fpc) if size is None else [size] * len(table)
        method: Any = self.replicate_method
        if self.fay is not None and method != "fay":
            raise CommandError("--fay goes with --replicate-method fay.")
        alone = [1.0] * len(table) if not (self.weights or self.strata or self.clusters or self.fpc or given) else None
        lonely: Any = self.lonely
        made = Sample(
            table,
            weights=self.weights if alone is None else alone,
            fpc=fpc,
            replicate_weights=given or None,
            replicate_method=method if given else None,
            replicate_scales=_numbers(self.replicate_scales),
            fay=self.fay if given else None,
            lonely=lonely,
            **listed,
        )
        if self.margins is not None:
            made = made.calibrate(_by_label(self._known_totals(), table))
        if method is None or given:
            return made
        return made.with_replicates(method, fay=self.fay, replicates=self.replicates, seed=seed)


NO_SAMPLE = SampleOptions()


def read_sampled(
    names: Sequence[str], masked: str | None, options: SampleOptions, *further: str | None
) -> "KeptColumns":
    """Reports with the columns that the sample needs, and further ones."""
    from maskwell.engines import paths
    from maskwell.reports.kept_columns import read_kept_columns

    wanted = [name for name in further if name is not None]

    def kept(available: Sequence[str]) -> list[str]:
        for name in wanted:
            if name not in available:
                has = among(name, available) if available else "no column was kept beside the reports"
                raise CommandError(f"there is no column {name!r} beside the reports: {has}.")
        return list(dict.fromkeys([*options.columns(available), *wanted]))

    paths.refuse_unfinished(list(names))
    return read_kept_columns(paths.expand(list(names)), names_from(masked) or None, kept)


def sample_of_files(files: "Sequence[KeptColumns]", options: SampleOptions) -> "Sample":
    """The sample of the people of several files, one after the other."""
    from maskwell.reports.kept_columns import joined_batches

    return options.sample(joined_batches([batch for kept in files for batch in kept.batches]))


def together(kept: "KeptColumns", joint: bool) -> "Reports":
    """The reports of the one masked column, or the joint ones of several."""
    from maskwell.reports.joint import side_by_side

    if len(kept.reports) == 1 and joint:
        raise CommandError(
            "--joint takes two files of reports or more, one for each variable, or one with several masked columns."
        )
    if len(kept.reports) == 1:
        return next(iter(kept.reports.values()))
    if not joint:
        raise CommandError(f"there are several columns: {', '.join(kept.reports)}; name one with --column.")
    return side_by_side(kept.reports)


def taking_a_sample(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options of a sample in the place of its argument ``sample``."""
    options = inspect.signature(SampleOptions).parameters
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        parameters += options.values() if name == "sample" else [parameter]

    @functools.wraps(command)
    def taken(**given: Any) -> Any:
        chosen = {name: given.pop(name) for name in options}
        return command(**given, sample=SampleOptions(**chosen))

    taken.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    taken.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return taken


def _number(text: str, available: Sequence[str]) -> float | None:
    """A number, unless a column is called so."""
    if text in available:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise CommandError("--replicate-scales must be numbers separated by commas.") from None


def _by_label(totals: dict[str, dict[str, float]], table: Any) -> dict[str, dict[Any, float]]:
    """Totals by the labels of the columns, which JSON can only write as text."""
    found = {}
    for name, of in totals.items():
        labels = {str(label): label for label in table[name].unique().to_pylist()}
        found[name] = {labels.get(text, text): total for text, total in of.items()}
    return found
