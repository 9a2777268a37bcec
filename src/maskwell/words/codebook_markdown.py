"""A codebook as Markdown: the same content as its JSON, cut short where a table would be too long to read."""

from typing import Any

from maskwell.plain_text import markdown_code, visible_markdown

_ROWS = 40
_COLUMNS = 12


def to_markdown(content: dict[str, Any], level: int = 1) -> str:
    """Sections on what the column is, who is protected how, how to read it and how to estimate from it."""
    mark = "#" * level
    design, privacy = content["design"], content["privacy"]
    lines = [
        f"{mark} {visible_markdown(content['variable'])}: a randomised variable",
        "",
        f"**{content['notice']}**",
        "",
        f"{mark}# Design",
        "",
        *(f"- {visible_markdown(sentence)}" for sentence in design["explanation"]),
        f"- Parameters: {_parameters(design['parameters'])}.",
        f"- Parity {_number(privacy['parity'])}, ε {_number(privacy['epsilon'])}: {privacy['meaning']}.",
        f"- Fingerprint of labels and probabilities: `{design['fingerprint']}`.",
        *(f"- {visible_markdown(reference)}" for reference in design["citation"]),
        "",
    ]
    if "variables" in content:
        lines += [f"{mark}# How to estimate", "", content["estimator"]["formula"], ""]
        parts = [to_markdown(part, level + 1) for part in content["variables"]]
        return "\n".join(lines) + "\n" + "\n".join(parts)
    return "\n".join([*lines, *_reading(content, mark), *_estimating(content, mark)])


def _reading(content: dict[str, Any], mark: str) -> list[str]:
    categories, reports = content["categories"], content["reports"]
    named = ", ".join(markdown_code(c) for c in categories[:_ROWS])
    more = f", … ({len(categories)} in all; the JSON lists them)" if len(categories) > _ROWS else ""
    lines = [f"{mark}# How to read it", "", f"Categories, in order: {named}{more}.", ""]
    lines += [f"Here {reports['how_to_read']}.", ""]
    probabilities = content["probabilities"]
    lines += [f"{mark}# Probabilities", "", _sentence(probabilities["meaning"]), ""]
    if "rows" in probabilities:
        return [*lines, *_matrix(probabilities["rows"], reports["labels"], categories), ""]
    chances = f"A = {probabilities['A']!r} and B = {probabilities['B']!r}: {probabilities['A_and_B']}."
    if "holding" in probabilities:
        exact = f"Holding it: `{probabilities['holding']}`. Not holding it: `{probabilities['other']}`."
        return [*lines, exact, "", chances, ""]
    columns = zip(probabilities["sizes"], probabilities["inside"], probabilities["outside"], strict=True)
    return [
        *lines,
        f"out_of = {probabilities['out_of']}. {chances}",
        "",
        *_table(["size", "inside", "outside"], columns),
        "",
    ]


def _estimating(content: dict[str, Any], mark: str) -> list[str]:
    estimator = content["estimator"]
    lines = [f"{mark}# How to estimate", ""]
    if estimator["formula"] is None:
        return [*lines, f"The proportions cannot all be estimated. {visible_markdown(estimator['why_not'])}", ""]
    lines += [f"`{estimator['formula']}`", ""]
    if "scores" in estimator:
        lines += [*_matrix(estimator["scores"], content["reports"]["labels"], content["categories"]), ""]
    elif "sizes" in estimator:
        columns = zip(estimator["sizes"], estimator["member"], estimator["other"], strict=True)
        lines += [*_table(["size", "member", "other"], columns), ""]
    variance = content["variance"]
    constants = ", ".join(f"{name} = {variance[name]!r}" for name in ("d0", "d1", "e0", "e1") if name in variance)
    lines += [f"`{variance['formula']}`", "", *([f"Here {constants}.", ""] if constants else [])]
    return [*lines, f"Masking adds {variance['added_variance']!r} to n times the total variance, at most.", ""]


def _matrix(rows: list[list[Any]], labels: list[Any], categories: list[Any]) -> list[str]:
    if len(rows) > _ROWS or len(categories) > _COLUMNS:
        return [f"The table has {len(rows)} rows and {len(categories)} columns; the JSON lists it."]
    names = [", ".join(map(str, label)) if isinstance(label, list) else str(label) for label in labels]
    return _table(["report", *map(str, categories)], ([name, *row] for name, row in zip(names, rows, strict=True)))


def _table(heads: list[str], rows: Any) -> list[str]:
    listed = [[visible_markdown(cell) for cell in row] for row in rows]
    shown = listed[:_ROWS]
    table = ["| " + " | ".join(row) + " |" for row in (map(visible_markdown, heads), ["---"] * len(heads), *shown)]
    return table if len(listed) <= _ROWS else [*table, "", f"… and {len(listed) - _ROWS} more; the JSON lists them."]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _number(value: Any) -> str:
    return "none" if value is None else str(value)


def _parameters(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {visible_markdown(value)}" for name, value in parameters.items()) or "none"
