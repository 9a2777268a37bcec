"""The tests of ``maskwell test``: the files that a question is about, and the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maskwell.cli.shared.joint_files import hold_several_columns, joint_reports
from maskwell.cli.shared.output import CommandError
from maskwell.cli.shared.sample_options import SampleOptions, read_sampled, together
from maskwell.plain_text import among

if TYPE_CHECKING:
    from maskwell.inference import HypothesisTest
    from maskwell.reports import Reports


@dataclass(frozen=True)
class Asked:
    """What is asked beside the question."""

    method: str | None
    permutations: int | None
    by: str | None
    between: tuple[str, str] | None
    category: str | None
    value: float | None
    alternative: str
    seed: int | None


def run_test(
    question: str, paths: Sequence[Path], column: str | None, asked: Asked, options: SampleOptions
) -> "tuple[HypothesisTest, set[str]]":
    """The result, and how the reports were drawn."""
    from maskwell.reports import Reports

    chosen = column is not None or (question == "independence" and hold_several_columns(paths[0]))
    if not (options.given or asked.by is not None or (chosen and len(paths) == 1)):
        files = [Reports.read(path, column) for path in paths]
        return _alone(question, files, paths, asked), {file.randomness for file in files}
    kept = read_sampled([str(path) for path in paths], column, options, asked.by)
    sample = options.sample(kept.table, asked.seed) if options.given else None
    reports = together(kept, joint=question == "independence" and len(kept.reports) > 1)
    groups = None if asked.by is None else kept.table[asked.by]
    return _in_sample(question, reports, groups, sample, asked), {reports.randomness}


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
    from maskwell.inference.sample.quotients import compare_groups

    if question == "fit":
        return goodness_of_fit(reports, sample=sample)
    if question == "proportion":
        return _proportion(reports, sample, asked)
    if question == "independence":
        return independence_test(reports, asked.method, asked.permutations, asked.seed, sample=sample)
    if asked.category is not None:
        share = {_label(reports, asked.category): 1.0}
        pair = None if asked.between is None else _groups(groups, asked.between)
        found = compare_groups(reports, groups, share, between=pair, sample=sample)
        alternative: Any = asked.alternative
        return found.test(alternative=alternative)
    if sample is not None:
        return homogeneity_test(reports, groups, sample=sample, method=asked.method or "rao-scott")
    from maskwell.inference.sample.groups import grouped

    labels, codes = grouped(groups, len(reports), "refuse")
    return homogeneity_test([reports.part(codes == at) for at in range(len(labels))], seed=asked.seed)


def _proportion(reports: "Reports", sample: Any, asked: Asked) -> "HypothesisTest":
    from maskwell.inference import estimate

    assert asked.category is not None
    assert asked.value is not None
    method: Any = asked.method
    alternative: Any = asked.alternative
    found = estimate(reports, sample=sample)
    return found.test(_label(reports, asked.category), asked.value, alternative, method)


def _label(reports: "Reports", text: str) -> Any:
    """The category that is written so."""
    labels = {str(label): label for label in reports.design.categories}
    if text not in labels:
        few = ", ".join(list(labels)[:20])
        raise CommandError(f"--category {text!r} is not a category of the design: {few}.")
    return labels[text]


def _groups(column: Any, texts: tuple[str, str]) -> tuple[Any, Any]:
    """The two groups that are written so."""
    labels = {str(label): label for label in column.unique().to_pylist() if label is not None}
    for text in texts:
        if text not in labels:
            raise CommandError(f"--between {text!r} is not a group; {among(text, list(labels), quoted=True)}.")
    one, other = texts
    return labels[one], labels[other]
