"""The tests of ``maskwell test``: the files that a question is about, and the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maskwell.cli.shared.file_options import names_from
from maskwell.cli.shared.joint_files import hold_several_columns, joint_reports
from maskwell.cli.shared.output import CommandError
from maskwell.cli.shared.sample_options import SampleOptions, read_sampled, together
from maskwell.plain_text import among
from maskwell.tables.labels import text_of

if TYPE_CHECKING:
    from maskwell.inference import HypothesisTest
    from maskwell.inference.contrasts import Contrast
    from maskwell.inference.sample.sample import Sample
    from maskwell.reports import Reports


@dataclass(frozen=True)
class Asked:
    """What is asked beside the question."""

    method: str | None
    permutations: int | None
    by: str | None
    between: list[str] | None
    category: str | None
    value: float | None
    alternative: str
    missing: str
    seed: int | None


@dataclass(frozen=True)
class Tested:
    """The result, the difference that it is about, how the reports were drawn, and the sample if there is one."""

    result: "HypothesisTest"
    randomness: set[str]
    difference: "Contrast | None" = None
    sample: "Sample | None" = None


def run_test(question: str, paths: Sequence[Path], column: str | None, asked: Asked, options: SampleOptions) -> Tested:
    """The test of what was asked."""
    from maskwell.reports import Reports

    chosen = column is not None or (question == "independence" and hold_several_columns(paths[0]))
    if not (options.given or asked.by is not None or (chosen and len(paths) == 1)):
        files = [Reports.read(path, column) for path in paths]
        return Tested(_alone(question, files, paths, asked), {file.randomness for file in files})
    kept = read_sampled([str(path) for path in paths], column, options, asked.by)
    sample = options.sample(kept.table, asked.seed) if options.given else None
    reports = together(kept, joint=question == "independence" and len(kept.reports) > 1)
    groups = None if asked.by is None else kept.table[asked.by]
    drawn = {reports.randomness}
    if question == "groups" and asked.category is not None:
        difference = _difference(reports, groups, sample, asked)
        alternative: Any = asked.alternative
        return Tested(difference.test(alternative=alternative), drawn, difference, sample)
    return Tested(_in_sample(question, reports, groups, sample, asked), drawn, None, sample)


def _alone(question: str, files: "list[Reports]", paths: Sequence[Path], asked: Asked) -> "HypothesisTest":
    from maskwell.inference import goodness_of_fit, homogeneity_test, independence_test

    if question == "fit":
        return goodness_of_fit(files[0])
    if question == "groups":
        return homogeneity_test(files, seed=asked.seed)
    if question == "proportion":
        return _proportion(files[0], None, asked)
    joint = files[0] if len(files) == 1 else joint_reports(files, paths)
    return independence_test(joint, asked.method, asked.permutations, asked.seed)


def _in_sample(question: str, reports: "Reports", groups: Any, sample: Any, asked: Asked) -> "HypothesisTest":
    from maskwell.inference import goodness_of_fit, homogeneity_test, independence_test

    if question == "fit":
        return goodness_of_fit(reports, sample=sample)
    if question == "proportion":
        return _proportion(reports, sample, asked)
    if question == "independence":
        return independence_test(reports, asked.method, asked.permutations, asked.seed, sample=sample)
    between = None if asked.between is None else _groups(groups, asked.between)
    missing: Any = asked.missing
    return homogeneity_test(
        reports,
        groups,
        seed=asked.seed,
        sample=sample,
        method=asked.method or "rao-scott",
        between=between,
        missing=missing,
    )


def _difference(reports: "Reports", groups: Any, sample: "Sample | None", asked: Asked) -> "Contrast":
    """The difference of two groups in the share of one category, or of several together."""
    from maskwell.inference.sample.quotients import compare_groups

    assert asked.category is not None
    share = dict.fromkeys(_labels(reports, asked.category), 1.0)
    pair = None if asked.between is None else _groups(groups, asked.between)
    missing: Any = asked.missing
    return compare_groups(reports, groups, share, between=pair, sample=sample, missing=missing)


def _proportion(reports: "Reports", sample: Any, asked: Asked) -> "HypothesisTest":
    from maskwell.inference import estimate

    assert asked.category is not None
    assert asked.value is not None
    method: Any = asked.method
    alternative: Any = asked.alternative
    found = estimate(reports, sample=sample)
    labels = _labels(reports, asked.category)
    if len(labels) == 1:
        return found.test(labels[0], asked.value, alternative, method)
    if method not in (None, "wald"):
        raise CommandError("the share of several categories together is tested with --method wald.")
    named = " or ".join(map(text_of, labels))
    together = replace(found.contrast(dict.fromkeys(labels, 1.0)), what=f"share of {named}")
    return together.test(asked.value, alternative)


def _labels(reports: "Reports", text: str) -> list[Any]:
    """The categories that are written so: one, or several separated by commas."""
    labels = {str(label): label for label in reports.design.categories}
    found = [text] if text in labels else names_from(text)
    for name in found or [text]:
        if name not in labels:
            raise CommandError(f"--category {name!r} is not a category of the design; {among(name, list(labels), 20)}.")
    return [labels[name] for name in found]


def _groups(column: Any, texts: list[str]) -> list[Any]:
    """The groups that are written so."""
    labels = {str(label): label for label in column.unique().to_pylist() if label is not None}
    for text in texts:
        if text not in labels:
            raise CommandError(f"--between {text!r} is not a group; {among(text, list(labels), quoted=True)}.")
    return [labels[text] for text in texts]
